import type { z } from 'zod';
import type { ApprovalRow } from '../../../domain/approvals/view.ts';
import { approvalUrl } from '../../../domain/approvals/link.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import type { Offer } from '../../../domain/billing/mailbox-orders/ports.ts';
import type { OrderView } from '../../../domain/billing/mailbox-orders/read.ts';
import type { QuoteRow } from '../../../domain/billing/mailbox-orders/states.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';
import type { Language } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';
import { presentBlocked, presentIssue } from '../../http/stored-message.ts';

/** Returns the provider's offers, with prices in cents per month. */
export function presentOffers(offers: readonly Offer[]): z.input<typeof schemas.providers> {
  return {
    data: offers.map((offer) => ({
      provider: offer.provider,
      name: offer.name,
      currency: offer.currency,
      mailbox_monthly_cents: offer.mailboxMonthlyCents,
      warmup_monthly_cents: offer.warmupMonthlyCents,
      max_mailboxes: offer.maxMailboxes,
    })),
  };
}

/** Returns a priced selection that can be ordered until `expires_at`. Amounts are in cents. */
export function presentQuote(row: QuoteRow, { language }: Pick<Ctx, 'language'>): z.input<typeof schemas.quote> {
  return {
    quote_id: row.id,
    count: row.count,
    provider: row.provider,
    ...presentDomains(row.domains),
    warmup: row.warmup,
    names: row.names,
    mailboxes: row.mailboxes.map(({ email }) => ({ email })),
    currency: row.currency,
    mailbox_monthly_cents: row.mailbox_monthly_cents,
    warmup_monthly_cents: row.warmup_monthly_cents,
    domain_cents: row.domain_cents,
    total_monthly_cents: row.total_monthly_cents,
    total_due_today_cents: row.total_due_today_cents,
    line_items: presentLines(row.line_items, language),
    expires_at: iso(row.expires_at),
  };
}

/**
 * Returns an order, from payment to ready mailboxes. `checkout_url` is present while the order waits for payment. Times
 * and errors are absent until they exist.
 */
export function presentOrder(
  { order, payment, steps, mailboxes, refundNeedsPerson }: OrderView,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof schemas.order> {
  const waits = order.state === 'awaiting_payment';
  return {
    provisioning_id: order.id,
    organization_id: order.organization_id,
    quote_id: order.quote_id,
    status: order.state,
    provider: order.provider,
    mailboxes_requested: order.count,
    ...presentDomains(order.domains),
    warmup: order.warmup,
    currency: order.currency,
    total_monthly_cents: order.total_monthly_cents,
    total_due_today_cents: order.total_due_today_cents,
    line_items: presentLines(order.line_items, language),
    ...(waits && payment?.checkoutUrl ? { checkout_url: payment.checkoutUrl } : {}),
    ...(waits ? { pay_by: iso(order.pay_by) } : {}),
    ...(payment?.subscriptionId ? { stripe_subscription_id: payment.subscriptionId } : {}),
    ...(payment ? { payment_status: payment.state } : {}),
    steps: steps.map((step) => ({
      key: step.step,
      done: step.state === 'done',
      status: step.state,
      ...(step.detail ? { detail: step.detail } : {}),
      ...moment('completed_at', step.completed_at),
    })),
    mailboxes: mailboxes.map((mailbox) => ({
      email: mailbox.email,
      ...(mailbox.mailbox_id ? { email_account_id: mailbox.mailbox_id } : {}),
      ...(mailbox.external_status ? { external_status: mailbox.external_status } : {}),
      ...(mailbox.warmup_external_status ? { warmup_external_status: mailbox.warmup_external_status } : {}),
    })),
    needs_person: refundNeedsPerson || steps.some(({ state }) => state === 'needs_person'),
    ...(order.error ? { error: presentIssue(order.error, language) } : {}),
    created_at: iso(order.created_at),
    updated_at: iso(order.updated_at),
    ...moment('paid_at', order.paid_at),
    ...moment('ready_at', order.ready_at),
    ...moment('failed_at', order.failed_at),
    ...moment('cancelled_at', order.cancelled_at),
    ...presentBlocked(order, language),
    ...runUrl(config, mailboxOrderWorkflow, { orderId: order.id }),
  };
}

/** Returns the 202 body for an order that needs a person's approval, with the page and the deadline of the decision. */
export function presentApproval(
  row: ApprovalRow,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof schemas.approval> {
  return {
    result: 'awaiting_approval',
    reasons: row.reasons.map(({ message }) => render(message, language)),
    approval_id: row.id,
    approval_url: approvalUrl(config, row.id),
    expires_at: iso(row.expires_at),
  };
}

function presentLines(lines: QuoteRow['line_items'], language: Language | undefined) {
  return lines.map((line) => ({ ...line, label: render(line.label, language) }));
}

function presentDomains(domains: QuoteRow['domains']) {
  return {
    domain: domains[0]!.domain,
    domains: domains.map(({ registration, ...rest }) => ({ ...rest, domain_registration: registration })),
    domain_registration: domains.some(({ registration }) => registration),
  };
}

function moment<Name extends string>(name: Name, at: Date | null): { [Key in Name]?: string } {
  return (at ? { [name]: iso(at) } : {}) as { [Key in Name]?: string };
}
