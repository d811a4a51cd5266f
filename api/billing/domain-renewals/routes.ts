import { z } from 'zod';
import { listRenewals, type RenewalView } from '../../../domain/billing/domain-renewals/list.ts';
import { OPEN_RENEWAL, RENEW_AHEAD_MS } from '../../../domain/billing/domain-renewals/states.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { iso, paged, pageQuery, presentPage, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { issue, presentBlocked, presentIssue } from '../../http/stored-message.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';

const cents = z.int().nullable();

const renewal = resource('DomainRenewal', {
  domain_id: uuid,
  domain: z.string(),
  provisioning_id: uuid.meta({ description: 'Order that the domain belongs to' }),
  state: z.enum([...OPEN_RENEWAL, 'renewed', 'lapsed']).meta({
    description:
      '`scheduled`: waits until `renews_at`. `charging`, `renewing`: in progress. `requires_action`: a person must act, see `error`. `lapsed`: the registration ended without a renewal; its mailboxes are held, and for 30 days a payment still renews it',
  }),
  renews_at: timestamp.meta({
    description: 'Time of pricing, charge and renewal: about a month before the registration ends',
  }),
  expires_at: timestamp.meta({ description: 'End of the registration' }),
  cost_cents: cents.meta({ description: "Provider's price, requested at `renews_at`; null before" }),
  processing_cents: cents.meta({ description: 'Fee for processing the payment' }),
  amount_cents: cents.meta({ description: 'Charged amount: cost plus processing' }),
  currency: z.string().nullable(),
  charged_at: timestamp.nullable(),
  last_renewed_at: timestamp.nullable(),
  requires_action: z
    .boolean()
    .meta({ description: 'True if a person must act; otherwise the domain renews automatically' }),
  checkout_url: z.url().nullable().meta({ description: 'Page where a person pays, with `renewal_payment_required`' }),
  error: issue.nullable().meta({
    description:
      '`renewal_not_eligible`, `renewal_payment_required`, `renewal_request_failed`, `renewal_refused` or `renewal_failed`',
  }),
  blocked_reason: runFields.blocked_reason,
});

/** Routes of renewals of managed domains. */
export const domainRenewalRoutes: readonly AnyRoute[] = [
  route({
    operationId: 'domainRenewals.list',
    method: 'get',
    path: '/mailboxes/domains/renewals',
    area: 'domain-renewals',
    scope: ['READ_EMAILS'],
    permission: 'view_campaigns',
    summary: 'List the renewal cycles of managed domains',
    description:
      "A domain is renewed automatically about a month before its registration ends, at the provider's price at that time plus processing, charged to the payment method of its order. If that fails, `requires_action` is true and `error.fix` says what a person must do. Otherwise the domain lapses: its mailboxes are held and removed 30 days later.",
    query: z.object(pageQuery()),
    success: { status: 200, body: paged(renewal) },
    handler: async (ctx, { query }) => presentPage(await listRenewals(ctx, query), (row) => present(row, ctx)),
  }),
];

function present(row: RenewalView, { language }: Pick<Ctx, 'language'>): z.input<typeof renewal> {
  const lapsed = row.domain_state === 'lapsed';
  const state = lapsed || row.state === 'ended' ? 'lapsed' : ((row.state ?? 'scheduled') as 'scheduled');
  return {
    domain_id: row.id,
    domain: row.domain,
    provisioning_id: row.order_id,
    state,
    renews_at: iso(row.renew_at ?? new Date(row.expires_at.getTime() - RENEW_AHEAD_MS)),
    expires_at: iso(row.expires_at),
    cost_cents: row.cost_cents,
    processing_cents: row.processing_cents,
    amount_cents: row.amount_cents,
    currency: row.currency,
    charged_at: row.paid_at ? iso(row.paid_at) : null,
    last_renewed_at: row.last_renewed_at ? iso(row.last_renewed_at) : null,
    requires_action: row.state === 'requires_action',
    checkout_url: row.checkout_url,
    error: row.state === 'requires_action' && row.error ? presentIssue(row.error, language) : null,
    ...presentBlocked(row, language),
  };
}
