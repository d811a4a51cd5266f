import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { Row } from '../../../db/rows.ts';
import { newId } from '../../../lib/ids.ts';
import { created } from '../../platform/changes.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Allows the key or application of an approval to add a number of leads per day to the approval's campaign. Replaces
 * the number of an earlier allowance, but keeps today's count.
 * @param approval approval of leads (`campaign_leads`)
 */
export async function grantAllowance(tx: Tx, approval: ApprovalRow, leadsPerDay: number): Promise<void> {
  const { api_key_id: key, oauth_grant_id: grant, subject_id: campaign } = approval;
  const [before] = await tx.org.sql<Pick<Row<'lead_allowances'>, 'id' | 'leads_per_day'>>(
    `select id, leads_per_day from lead_allowances
     where organization_id = :org and campaign_id = :campaign and (api_key_id = :key or oauth_grant_id = :grant) for update`,
    { campaign, key, grant },
  );
  const id = before?.id ?? newId();
  await tx.org.sql(
    `insert into lead_allowances (id, organization_id, campaign_id, api_key_id, oauth_grant_id, credential_name, leads_per_day,
       granted_by, created_at, updated_at)
     values (:id, :org, :campaign, :key, :grant, :name, :leadsPerDay, :person, :now, :now)
     on conflict (id) do update set leads_per_day = excluded.leads_per_day, granted_by = excluded.granted_by, updated_at = excluded.updated_at`,
    { id, campaign, key, grant, name: approval.requester_name, leadsPerDay, person: tx.actor.userId, now: tx.now },
  );
  tx.audit({
    action: before ? 'lead_allowance.updated' : 'lead_allowance.created',
    entityType: 'lead_allowance',
    entityId: id,
    changes: before
      ? { leads_per_day: { from: before.leads_per_day, to: leadsPerDay } }
      : created({ campaign_id: campaign, api_key_id: key, oauth_grant_id: grant, leads_per_day: leadsPerDay }),
    metadata: { approval_id: approval.id },
  });
}
