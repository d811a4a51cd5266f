import { json } from '../../../db/connection.ts';
import type { Config } from '../../../lib/config/index.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import { authorizeAction } from '../../approvals/authorize.ts';
import { holdForApproval, withdrawApproval } from '../../approvals/hold.ts';
import { approvalOfSubject, approvalStatus, type ApprovalRow } from '../../approvals/view.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import type { ApprovalSubject, Tx } from '../../platform/kernel/tx.ts';
import { assertOwnWorkspaceStays } from '../../platform/workspace-deletion.ts';
import { assertRoom } from '../../mailboxes/allowance.ts';
import { assertMayConnect } from '../../mailboxes/connect.ts';
import { openPayment } from '../payments/open.ts';
import { orderContent } from './content.ts';
import { mailboxProvider } from './http-provider.ts';
import { lockOrder, recordChange } from './move.ts';
import type { OrderRow, QuoteRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** Result of an order request: an order that waits for its payment, or an approval for which the order waits. */
type Ordered = { order: OrderRow } | { approval: ApprovalRow };

/** Person, API key or application that places an order. */
type Orderer = Pick<Actor, 'kind' | 'userId' | 'apiKeyId' | 'oauthGrantId'>;

/**
/**
 * Creates an order from a quote; the order then waits for its payment (POST /mailboxes/provision). A signed-in person
 * may order, and so may a key or application within the spending limit of its policy. Otherwise a person must first
 * approve, and the order is created then. A later call with the same quote returns that order. A quote is valid for 15
 * minutes, or as long as its approval is pending.
 * @param returnUrl page after the checkout; omitted for the dashboard
 * @throws AppError mailbox_provisioning_unavailable, quote_not_found, quote_expired, quote_consumed,
 * mailbox_allowance_reached, forbidden, workspace_deletion_scheduled, redirect_not_allowed; conflict when another order
 * has taken an address of the quote
 */
export async function orderMailboxes(ctx: Ctx, quoteId: string, returnUrl?: string): Promise<Ordered> {
  mailboxProvider(ctx);
  const problems = returnUrlProblems(ctx.config, returnUrl);
  if (problems.length > 0)
    throw new AppError('redirect_not_allowed', message('order.redirect_not_allowed'), {
      problems,
      fix: message('order.redirect_not_allowed.fix'),
    });
  assertMayConnect(ctx, undefined);
  return transact(ctx, async (tx) => {
    const quote = isUuid(quoteId) ? await lockQuote(tx, { id: quoteId }) : undefined;
    if (!quote)
      throw new AppError('quote_not_found', message('quote.not_found'), { fix: message('quote.ask_again.fix') });
    const subject = { type: mailboxOrderApproval.type, id: quote.order_id };
    const approval = await approvalOfSubject(tx.org, subject.type, subject.id);
    if (approval?.status === 'executed' && isOf(approval, tx.actor))
      return { order: await lockOrder(tx, quote.order_id) };
    assertOpen(quote, approval, tx.now);
    await assertRoom(tx.org, quote.count);
    // The order of an approval is created later, from the quote.
    if (returnUrl) {
      quote.return_url = returnUrl;
      await tx.org.table('mailbox_quotes').where({ id: quote.id }).update({ return_url: returnUrl });
    }
    const authorization = await authorizeAction(tx, tx.actor, {
      capability: 'mailbox.provision',
      mailboxIds: [],
      recipients: 0,
      spendCents: quote.total_monthly_cents,
    });
    if (authorization.decision === 'awaiting_approval')
      return {
        approval: await holdForApproval(tx, ctx.config, {
          requester: tx.actor,
          capability: 'mailbox.provision',
          subject: mailboxOrderApproval,
          subjectId: quote.order_id,
          reasons: authorization.reasons,
          locked: quote,
        }),
      };
    await withdrawApproval(tx, subject, message('approval.mailboxes_ordered'));
    return { order: await createOrder(ctx.config, tx, quote, tx.actor) };
  });
}

/**
 * Returns a problem if the page after a checkout is neither of the dashboard nor of an origin from which browsers may
 * call the API.
 */
export function returnUrlProblems(config: Config, returnUrl: string | undefined): Problem[] {
  const own = [new URL(config.APP_URL).origin, ...config.CORS_ALLOW_ORIGINS];
  if (!returnUrl || own.includes(new URL(returnUrl).origin)) return [];
  return [{ path: 'body.return_url', message: message('field.own_origin', { origins: own.join(', ') }) }];
}

/** Approval of an order from a quote. The approval creates the order, which then waits for its payment. */
export const mailboxOrderApproval: ApprovalSubject<QuoteRow> = {
  type: 'mailbox_order',
  lock: (tx, approval) => lockQuote(tx, { order_id: approval.subject_id }),
  content: async (_tx, quote) => orderContent(quote),
  async execute(tx, quote, approval, config) {
    await assertRoom(tx.org, quote.count);
    await createOrder(config, tx, quote, requesterOf(approval, tx.actor));
  },
  // Leaves the quote unchanged after a refusal, so that the requester may order again while it is valid.
  refused: async () => {},
};

/** Locks the quote, so that the second of two requests with the same quote sees the result of the first. */
async function lockQuote(tx: Tx, by: { id: string } | { order_id: string }): Promise<QuoteRow | undefined> {
  return tx.org.table('mailbox_quotes').where(by).forUpdate().first();
}

/** Checks that a quote can still be ordered. @throws AppError quote_consumed, quote_expired */
function assertOpen(quote: QuoteRow, approval: ApprovalRow | undefined, now: Date): void {
  if (quote.consumed_at)
    throw new AppError('quote_consumed', message('quote.ordered'), {
      fix: message('quote.ordered.fix', { order: quote.order_id }),
    });
  if (quote.expires_at > now || heldUntil(approval, now) > now) return;
  throw new AppError('quote_expired', message('quote.expired'), { fix: message('quote.ask_again.fix') });
}

/** Returns the time until which a pending approval keeps a quote valid. */
function heldUntil(approval: ApprovalRow | undefined, now: Date): Date {
  if (!approval) return new Date(0);
  const status = approvalStatus(approval, now);
  return status === 'pending' ? approval.expires_at : new Date(0);
}

function isOf(approval: ApprovalRow, { apiKeyId, oauthGrantId }: Actor): boolean {
  return approval.api_key_id ? approval.api_key_id === apiKeyId : approval.oauth_grant_id === oauthGrantId;
}

/** Returns the API key or application that requested an order, with the id of the person who approved it. */
function requesterOf({ api_key_id: apiKeyId, oauth_grant_id: oauthGrantId }: ApprovalRow, { userId }: Actor): Orderer {
  return apiKeyId
    ? { kind: 'api_key', userId, apiKeyId }
    : { kind: 'oauth', userId, ...(oauthGrantId ? { oauthGrantId } : {}) };
}

/** @throws AppError workspace_deletion_scheduled */
async function createOrder(config: Config, tx: Tx, quote: QuoteRow, by: Orderer): Promise<OrderRow> {
  await assertOwnWorkspaceStays(tx);
  const { organizationId } = tx.org;
  await tx.org.table('mailbox_quotes').where({ id: quote.id }).update({ consumed_at: tx.now });
  const payment = await openPayment(tx, {
    organizationId,
    subject: 'order',
    subjectId: quote.order_id,
    amountCents: quote.total_due_today_cents,
    currency: quote.currency,
    lineItems: quote.line_items,
    returnUrl: quote.return_url,
  });
  const [order] = (await tx.org
    .insert('mailbox_orders', {
      id: quote.order_id,
      quote_id: quote.id,
      state: 'awaiting_payment',
      provider: quote.provider,
      count: quote.count,
      domains: json(quote.domains),
      warmup: quote.warmup,
      currency: quote.currency,
      total_monthly_cents: quote.total_monthly_cents,
      total_due_today_cents: quote.total_due_today_cents,
      line_items: json(quote.line_items),
      payment_id: payment.id,
      pay_by: new Date(tx.now.getTime() + config.PROVISIONING_PAYMENT_MS),
      actor_kind: by.kind as OrderRow['actor_kind'],
      user_id: by.userId,
      api_key_id: by.apiKeyId ?? null,
      oauth_grant_id: by.oauthGrantId ?? null,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .returning('*')) as OrderRow[];
  await tx.org.insert(
    'order_mailboxes',
    quote.mailboxes.map((mailbox, position) => ({ order_id: quote.order_id, position, ...mailbox })),
  );
  recordChange(tx, order!, null);
  tx.intend(start(mailboxOrderWorkflow, { organizationId, orderId: quote.order_id }));
  return order!;
}
