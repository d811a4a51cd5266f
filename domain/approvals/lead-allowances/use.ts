import type { PolicyReason } from '../../../db/json-columns.ts';
import { message } from '../../../messages/index.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { USABLE } from './list.ts';

/** Number of leads that an allowance permits, and the reason why it does not permit more. */
interface Allowed {
  count: number;
  reasons: PolicyReason[];
}

/**
 * Counts leads that a key or application adds to a campaign in its allowance for the current day of the workspace.
 * Locks the allowance until the commit, so that concurrent requests together cannot exceed it.
 * @returns number of permitted leads, at most `wanted`; without an allowance 0 and no reason
 */
export async function useAllowance(
  tx: Tx,
  { apiKeyId, oauthGrantId }: Pick<Actor, 'apiKeyId' | 'oauthGrantId'>,
  campaignId: string,
  wanted: number,
): Promise<Allowed> {
  const [allowance] = await tx.org.sql<{ id: string; today: string; used: number; leads_per_day: number }>(
    `select a.id, a.leads_per_day, d.today::text, case when a.used_on = d.today then a.used else 0 end as used
     from lead_allowances a, (select (cast(:now as timestamptz) at time zone timezone)::date as today from organizations where id = :org) d
     where a.organization_id = :org and a.campaign_id = :campaign and (a.api_key_id = :key or a.oauth_grant_id = :grant) and ${USABLE}
     for update of a`,
    { now: tx.now, campaign: campaignId, key: apiKeyId ?? null, grant: oauthGrantId ?? null },
  );
  if (!allowance) return { count: 0, reasons: [] };
  const { id, today, used, leads_per_day: most } = allowance;
  const count = Math.min(wanted, Math.max(0, most - used));
  if (count > 0)
    await tx.org.sql(
      'update lead_allowances set used_on = cast(:today as date), used = :used where organization_id = :org and id = :id',
      { id, today, used: used + count },
    );
  if (count === wanted) return { count, reasons: [] };
  const said = message('approval_reason.leads_per_day_exceeded', { count: used + count, most });
  return { count, reasons: [{ code: 'leads_per_day_exceeded', message: said }] };
}
