import { json } from '../../../db/connection.ts';
import { AppError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import { authorizeAction } from '../../approvals/authorize.ts';
import { executeApproval } from '../../approvals/decide.ts';
import { withdrawApproval } from '../../approvals/expire.ts';
import { holdForApproval } from '../../approvals/hold.ts';
import { approvalOfSubject, approvalStatus, type ApprovalRow } from '../../approvals/view.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertRoom } from '../../mailboxes/allowance.ts';
import { assertMayConnect } from '../../mailboxes/connect.ts';
import { openPayment } from '../payments/open.ts';
import { orderContent } from './content.ts';
import { mailboxProvider } from './http-provider.ts';
import { recordChange } from './move.ts';
import { QUOTE_MS } from './quote.ts';
import type { OrderRow, QuoteRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** What became of a request to order: an order that waits for its payment, or an approval that it waits for. */
type Ordered = { order: OrderRow } | { approval: ApprovalRow };

/**
 * Turns a quote into an order that waits for its payment (POST /mailboxes/provision). A signed-in person may spend; a key or
 * application within its policy; otherwise it waits for a person, and the same quote passes once they have approved. A quote is
 * good for 15 minutes: while a person decides, until their time is over, and again 15 minutes from their approval.
 * @throws AppError mailbox_provisioning_unavailable, quote_not_found, quote_expired, quote_consumed, mailbox_allowance_reached, forbidden;
 *   conflict when an address of the quote was taken by another order
 */
export async function orderMailboxes(ctx: Ctx, quoteId: string): Promise<Ordered> {
  mailboxProvider(ctx);
  assertMayConnect(ctx, undefined);
  return transact(ctx, async (tx) => {
    const quote = await lockQuote(tx, quoteId);
    const subject = { type: 'mailbox_order', id: quote.order_id } as const;
    const approval = await approvalOfSubject(tx.org, subject.type, subject.id);
    assertOpen(quote, approval, tx.now);
    await assertRoom(ctx, tx.org, quote.count);
    const isApproved = approval?.status === 'approved' && isOf(approval, tx.actor);
    if (isApproved) {
      const outcome = await executeApproval(tx, approval.id, orderContent(quote));
      if (outcome !== 'executed') throw new AppError('conflict', message('order.other_approved'));
      return { order: await createOrder(ctx, tx, quote) };
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
          subject,
          reasons: authorization.reasons,
          content: orderContent(quote),
        }),
      };
    await withdrawApproval(tx, subject, 'The mailboxes were ordered meanwhile');
    return { order: await createOrder(ctx, tx, quote) };
  });
}

/** Two requests with one quote: the second sees what the first has done. */
async function lockQuote(tx: Tx, id: string): Promise<QuoteRow> {
  const [quote] = isUuid(id)
    ? await tx.org.sql<QuoteRow>('select * from mailbox_quotes where organization_id = :org and id = :id for update', {
        id,
      })
    : [];
  if (!quote) throw new AppError('quote_not_found', message('quote.not_found'), { fix: message('quote.ask_again.fix') });
  return quote;
}

/** @throws AppError quote_consumed, quote_expired */
function assertOpen(quote: QuoteRow, approval: ApprovalRow | undefined, now: Date): void {
  if (quote.consumed_at)
    throw new AppError('quote_consumed', message('quote.ordered'), {
      fix: message('quote.ordered.fix', { order: quote.order_id }),
    });
  if (quote.expires_at > now || heldUntil(approval, now) > now) return;
  throw new AppError('quote_expired', message('quote.expired'), { fix: message('quote.ask_again.fix') });
}

/** Until when a quote holds because of its approval. */
function heldUntil(approval: ApprovalRow | undefined, now: Date): Date {
  if (!approval) return new Date(0);
  const status = approvalStatus(approval, now);
  if (status === 'pending') return approval.expires_at;
  return status === 'approved' ? new Date(approval.decided_at!.getTime() + QUOTE_MS) : new Date(0);
}

function isOf(approval: ApprovalRow, { apiKeyId, oauthGrantId }: Actor): boolean {
  return approval.api_key_id ? approval.api_key_id === apiKeyId : approval.oauth_grant_id === oauthGrantId;
}

async function createOrder({ config }: Ctx, tx: Tx, quote: QuoteRow): Promise<OrderRow> {
  const { organizationId } = tx.org;
  await tx.org.table('mailbox_quotes').where({ id: quote.id }).update({ consumed_at: tx.now });
  const payment = await openPayment(tx, {
    organizationId,
    subject: 'order',
    subjectId: quote.order_id,
    amountCents: quote.total_due_today_cents,
    currency: quote.currency,
    lineItems: quote.line_items,
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
      actor_kind: tx.actor.kind as OrderRow['actor_kind'],
      user_id: tx.actor.userId,
      api_key_id: tx.actor.apiKeyId ?? null,
      oauth_grant_id: tx.actor.oauthGrantId ?? null,
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
