import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { deleted } from '../../platform/changes.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';

/**
 * An allowance with the name of its campaign. `used_today` is the number of leads added today, in the workspace's time
 * zone.
 */
export interface LeadAllowance extends Pick<
  Row<'lead_allowances'>,
  | 'id'
  | 'campaign_id'
  | 'api_key_id'
  | 'oauth_grant_id'
  | 'credential_name'
  | 'leads_per_day'
  | 'granted_by'
  | 'created_at'
  | 'updated_at'
> {
  campaign_name: string;
  used_today: number;
}

/**
 * SQL condition on `a`: its key or grant is valid. An allowance therefore ends together with its key or grant. Binds
 * `:now`.
 */
export const USABLE = `(
  exists (select from api_keys k where k.id = a.api_key_id and k.status = 'active' and (k.expires_at is null or k.expires_at > :now))
  or exists (select from oauth_grants g where g.id = a.oauth_grant_id and g.revoked_at is null))`;

const LIST = 'lead_allowances';

/** Lists the allowances of valid keys and grants, newest first (GET /lead-allowances). */
export async function listAllowances(ctx: Ctx, request: PageRequest): Promise<Page<LeadAllowance>> {
  const after = decodeIdCursor(LIST, null, request.cursor);
  const rows = await reader(ctx).sql<LeadAllowance>(
    allowancesWhere('(cast(:after as uuid) is null or a.id < cast(:after as uuid))'),
    { now: ctx.clock.now(), after: after ?? null, limit: request.limit + 1 },
  );
  return pageOf(rows, request.limit, (last) => encodeCursor(LIST, null, [last.id]));
}

/** Maximum number of allowances shown with the effective policy of a key or application. */
const SHOWN = 100;

/** Returns the newest allowances of the calling key or application. */
export function ownAllowances(org: OrgScope, { apiKeyId, oauthGrantId }: Actor, now: Date): Promise<LeadAllowance[]> {
  return org.sql<LeadAllowance>(allowancesWhere('(a.api_key_id = :key or a.oauth_grant_id = :grant)'), {
    now,
    key: apiKeyId ?? null,
    grant: oauthGrantId ?? null,
    limit: SHOWN,
  });
}

/**
 * Revokes an allowance (DELETE /lead-allowances/:id). Leads above the policy's limit then need a person's approval
 * again.
 * @throws AppError not_found
 */
export async function revokeAllowance(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const [row] = isUuid(id) ? await tx.org.table('lead_allowances').where({ id }).delete().returning('*') : [];
    if (!row) throw notFound('allowance');
    const { campaign_id, api_key_id, oauth_grant_id, leads_per_day } = row;
    tx.audit({
      action: 'lead_allowance.deleted',
      entityType: 'lead_allowance',
      entityId: id,
      changes: deleted({ campaign_id, api_key_id, oauth_grant_id, leads_per_day }),
    });
  });
}

/**
 * Returns SQL for allowances of valid keys and grants. The page is limited before the joins, so that only its rows are
 * joined.
 */
function allowancesWhere<C extends string>(condition: C) {
  return `
    select a.id, a.campaign_id, a.api_key_id, a.oauth_grant_id, a.leads_per_day, a.granted_by, a.created_at, a.updated_at,
      a.credential_name, c.name as campaign_name,
      case when a.used_on = (cast(:now as timestamptz) at time zone o.timezone)::date then a.used else 0 end as used_today
    from (select * from lead_allowances a where a.organization_id = :org and ${condition} and ${USABLE} order by a.id desc limit :limit) a
    join organizations o on o.id = a.organization_id
    join campaigns c on c.id = a.campaign_id
    order by a.id desc` as const;
}
