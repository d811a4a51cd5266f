import { deleted } from '../platform/changes.ts';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { isUuid } from '../../lib/ids.ts';
import { cancel, writeIntents } from '../../temporal/dispatch.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { message } from '../../messages/index.ts';
import { withdrawApproval } from '../approvals/hold.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { releaseReservedSends } from '../sending/control/release.ts';
import { lockCampaign } from '../sending/control/status.ts';

const REASON = 'the campaign was deleted';
/** Maximum number of cancel intents stored with one statement. */
const PAGE = 5_000;

/**
 * Deletes a campaign in any status, with its steps, leads, progress, activity log, senders, variants, advanced settings
 * and counters. Contacts, sent emails, suppressions and tracked links stay. Cancel intents for open workflows are
 * stored in the same transaction. An email that a worker is sending is still delivered.
 * @throws AppError not_found
 */
export async function deleteCampaign(ctx: Ctx, campaignId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockLeads(tx.org, campaignId);
    const campaign = await lockCampaign(tx, campaignId);
    const { id } = campaign;
    await releaseReservedSends(tx, { campaignId: id });
    await cancelRuns(tx, id);
    tx.intend(cancel(campaignWorkflow, { organizationId: tx.org.organizationId, campaignId: id }, REASON));
    // Updates and deletes rows in bulk first. Otherwise the foreign keys would process them one by one.
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
    await withdrawApproval(tx, { type: 'campaign', id }, message('approval.campaign_deleted'));
    tx.emit('campaign.deleted', { campaign_id: id, name: campaign.name });
    tx.audit({
      action: 'delete',
      entityType: 'campaign',
      entityId: id,
      changes: deleted({ name: campaign.name, status: campaign.status }),
    });
  });
}

/** Locks leads before their campaign and its slots, as all writers do. */
async function lockLeads(org: OrgScope, campaignId: string): Promise<void> {
  if (!isUuid(campaignId)) return;
  await org.sql(
    'select count(*) from (select id from enrollments where organization_id = :org and campaign_id = :id order by id for update) as held',
    { id: campaignId },
  );
}

/** Writes one cancel intent per workflow that may be open, in pages, because each active contact can have one. */
async function cancelRuns({ trx, org }: Tx, campaignId: string): Promise<void> {
  const { organizationId } = org;
  let after: string | undefined;
  for (let full = true; full;) {
    const contacts = await org.sql<Columns<'enrollments', 'contact_id'>>(
      `select contact_id from enrollments
       where organization_id = :org and campaign_id = :id and state in ('pending', 'active') and launched_at is not null
         ${after === undefined ? '' : 'and contact_id > :after'}
       order by contact_id limit ${PAGE}`,
      { id: campaignId, ...(after === undefined ? {} : { after }) },
    );
    await writeIntents(
      trx,
      contacts.map(({ contact_id: contactId }) =>
        cancel(enrollmentWorkflow, { organizationId, campaignId, contactId }, REASON),
      ),
    );
    after = contacts.at(-1)?.contact_id;
    full = contacts.length === PAGE;
  }
}
