import type { Columns } from '../../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { Message } from '../../../messages/index.ts';

const LIST = 'domain-renewals.list';

/** A managed domain with its cycle. The columns of the cycle are null until the domain's workflow has created it. */
export type RenewalView = Columns<'managed_domains', 'id' | 'domain' | 'order_id' | 'expires_at'> & {
  domain_state: string;
  state: string | null;
  renew_at: Date | null;
  cost_cents: number | null;
  processing_cents: number | null;
  amount_cents: number | null;
  currency: string | null;
  error: Columns<'domain_renewals', 'error'>['error'];
  blocked_reason: Message | null;
  checkout_url: string | null;
  paid_at: Date | null;
  last_renewed_at: Date | null;
};

/**
 * Lists the renewal cycle of every managed domain that was not released, newest domain first (GET
 * /mailboxes/domains/renewals).
 * @throws AppError bad_request for the cursor of another list
 */
export async function listRenewals(ctx: Ctx, page: PageRequest): Promise<Page<RenewalView>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const rows = await reader(ctx).sql<RenewalView>(
    `select d.id, d.domain, d.order_id, d.expires_at, d.state as domain_state, r.state, r.renew_at, r.cost_cents, r.processing_cents,
       r.amount_cents, r.currency, r.error, r.blocked_reason, p.paid_at,
       case when p.state = 'open' then p.checkout_url end as checkout_url,
       (select max(renewed_at) from domain_renewals where organization_id = :org and domain_id = d.id) as last_renewed_at
     from managed_domains d
       left join domain_renewals r on r.organization_id = :org and r.domain_id = d.id and r.expires_at = d.expires_at
       left join payments p on p.organization_id = :org and p.id = r.payment_id
     where d.organization_id = :org and d.state <> 'released' ${after ? 'and d.id < :after' : ''}
     order by d.id desc limit :limit`,
    { ...(after ? { after } : {}), limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}
