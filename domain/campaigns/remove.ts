import type { OrgScope } from '../../db/tenancy.ts';
import { isUuid } from '../../lib/ids.ts';
import { cancel, OUTBOX_CHANNEL } from '../../temporal/dispatch.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import type { Ctx } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';
import { releaseReservedSends } from '../engine/control/release.ts';
import { lockCampaign } from '../engine/control/status.ts';

const REASON = 'the campaign was deleted';

/**
 * Deletes a campaign, running or not: steps, leads and progress, activity log, senders, variants,
 * advanced settings and counters go; contacts, sent emails, suppressions and tracked links stay. Open runs are
 * cancelled in the same transaction; a send already in a worker's hands finishes.
 * @throws AppError not_found
 */
export async function deleteCampaign(ctx: Ctx, campaignId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockLeads(tx.org, campaignId);
    const campaign = await lockCampaign(tx, campaignId);
    const { id } = campaign;
    await releaseReservedSends(tx, { campaignId: id });
    await cancelRuns(tx.org, id);
    tx.intend(cancel(campaignWorkflow, { organizationId: tx.org.organizationId, campaignId: id }, REASON));
    // In bulk, so that the foreign keys find nothing left to do row by row.
    await tx.org.sql(
      'update sends set campaign_id = null, enrollment_id = null where organization_id = :org and campaign_id = :id',
      { id },
    );
    await tx.org.sql(
      'delete from step_runs where organization_id = :org and enrollment_id in (select id from enrollments where campaign_id = :id)',
      { id },
    );
    await tx.org.table('enrollments').where({ campaign_id: id }).delete();
    await tx.org
      .table('daily_counters')
      .where({ scope_id: id })
      .whereIn('scope', ['campaign', 'campaign_new'])
      .delete();
    await tx.org.table('campaigns').where({ id }).delete();
    tx.emit('campaign.deleted', { campaign_id: id, name: campaign.name });
    tx.audit({
      action: 'delete',
      entityType: 'campaign',
      entityId: id,
      changes: { name: campaign.name, status: campaign.status },
    });
  });
}

/** Leads come before their campaign and its slots, in the order in which every writer takes them. They all go anyway. */
async function lockLeads(org: OrgScope, campaignId: string): Promise<void> {
  if (!isUuid(campaignId)) return;
  await org.sql(
    'select count(*) from (select id from enrollments where organization_id = :org and campaign_id = :id order by id for update) as held',
    { id: campaignId },
  );
}

/** One cancel intent per run that may be open, written by the database: there can be as many as contacts in flight. */
async function cancelRuns(org: OrgScope, campaignId: string): Promise<void> {
  const prefix = `${enrollmentWorkflow.prefix}/${campaignId}/`;
  await org.sql(
    `with asked as (
       insert into outbox (kind, workflow_id, payload)
       select 'cancel', :prefix || contact_id::text, jsonb_build_object('reason', :reason::text)
       from enrollments where organization_id = :org and campaign_id = :id and state in ('pending', 'active') and launched_at is not null
       returning 1
     )
     select pg_notify(:channel, '') from asked limit 1`,
    { id: campaignId, prefix, reason: REASON, channel: OUTBOX_CHANNEL },
  );
}
