import type { Columns } from '../../db/rows.ts';
import { refuseProblems } from '../../lib/errors.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { senderProblems } from './checks.ts';
import type { SenderInput } from './input.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { assertMayChangeActive } from '../approvals/may-change-leads.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { storeSenders } from './sender-rows.ts';
import { applyPoolChange } from '../sending/control/reschedule.ts';
import { message } from '../../messages/index.ts';

/** A mailbox of an explicit pool. */
type CampaignSenderRow = Columns<'campaign_senders', 'mailbox_id' | 'weight' | 'enabled' | 'last_sent_at'>;

/** The explicit pool of a campaign. */
export interface SenderPool {
  senders: CampaignSenderRow[];
  /** Time of the last change to the campaign, including its pool. */
  updatedAt: Date;
}

/**
 * Returns the explicit sender pool of a campaign.
 * @throws AppError not_found
 */
export async function listSenders(ctx: Ctx, campaignId: string): Promise<SenderPool> {
  const org = reader(ctx);
  const { id, updated_at: updatedAt } = await findCampaign(org, campaignId);
  return { senders: await readSenders(org, id), updatedAt };
}

/**
 * Replaces the explicit pool at once. Slots of an active campaign are released and reserved again. An empty pool pauses
 * the campaign.
 * @param options.expectedUpdatedAt the `updated_at` of the pool or the campaign that the caller has seen
 * @throws AppError not_found, bad_request with all problems, forbidden for a mailbox the key may not use, conflict if
 * the campaign's `updated_at` has changed
 */
export async function replaceSenders(
  ctx: Ctx,
  campaignId: string,
  senders: readonly SenderInput[],
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<SenderPool> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const { id, name } = campaign;
    assertUnchanged('campaign', campaign.updated_at, expectedUpdatedAt);
    refuseProblems(await senderProblems(tx.org, ctx.actor, senders));
    const mailboxIds = senders.map((sender) => sender.email_account_id);
    await tx.org.sql(
      'delete from campaign_senders where organization_id = :org and campaign_id = :id and mailbox_id <> all(:keep::uuid[])',
      { id, keep: mailboxIds },
    );
    await storeSenders(tx.org, id, senders);
    await tx.org.table('campaigns').where({ id }).update({ updated_at: tx.now });
    await assertPoolAllowed(tx, campaign);
    await assertMayChangeActive(tx, campaign);
    await logCampaign(tx, id, 'senders_replaced', message('log.senders_replaced', { count: senders.length }));
    tx.emit('campaign.updated', { campaign_id: id, name, fields: ['senders'] });
    tx.audit({ action: 'update', entityType: 'campaign', entityId: id, metadata: { senders: mailboxIds } });
    await applyPoolChange(tx, id);
    return { senders: await readSenders(tx.org, id), updatedAt: tx.now };
  });
}

function readSenders(org: OrgScope, campaignId: string): Promise<CampaignSenderRow[]> {
  return org.sql<CampaignSenderRow>(
    `select mailbox_id, weight, enabled, last_sent_at from campaign_senders
     where organization_id = :org and campaign_id = :id order by mailbox_id`,
    { id: campaignId },
  );
}
