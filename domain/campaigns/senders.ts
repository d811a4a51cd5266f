import type { Columns } from '../../db/rows.ts';
import { refuseProblems } from '../../lib/errors.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader, transact } from '../kernel/transact.ts';
import { senderProblems } from './checks.ts';
import type { SenderInput } from './input.ts';
import { logCampaign } from '../engine/campaign/log.ts';
import { findCampaign } from '../engine/campaign/find.ts';
import { assertPoolAllowed } from '../engine/campaign/sender-pool.ts';
import { assertMayChangeActive } from '../leads/may-change.ts';
import { lockCampaign } from '../engine/control/status.ts';
import { storeSenders } from './sender-rows.ts';
import { poolChanged } from './update.ts';

/** A mailbox of an explicit pool. */
export type CampaignSenderRow = Columns<'campaign_senders', 'mailbox_id' | 'weight' | 'enabled' | 'last_sent_at'>;

/**
 * The explicit sender pool of a campaign.
 * @throws AppError not_found
 */
export async function listSenders(ctx: Ctx, campaignId: string): Promise<CampaignSenderRow[]> {
  const org = reader(ctx);
  return readSenders(org, (await findCampaign(org, campaignId)).id);
}

/**
 * Replaces the explicit pool at once. Slots of an active campaign are released and allocated anew; an empty explicit
 * pool pauses it.
 * @throws AppError not_found, bad_request with all faults, forbidden for a mailbox the key may not use
 */
export async function replaceSenders(
  ctx: Ctx,
  campaignId: string,
  senders: readonly SenderInput[],
): Promise<CampaignSenderRow[]> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const { id, name } = campaign;
    refuseProblems(await senderProblems(tx.org, ctx.actor, senders, 'body.senders'));
    const mailboxIds = senders.map((sender) => sender.email_account_id);
    await tx.org.sql(
      'delete from campaign_senders where organization_id = :org and campaign_id = :id and mailbox_id <> all(:keep::uuid[])',
      { id, keep: mailboxIds },
    );
    await storeSenders(tx.org, id, senders);
    await assertPoolAllowed(tx, campaign);
    await assertMayChangeActive(tx, campaign);
    await logCampaign(
      tx,
      id,
      'senders_replaced',
      `The sender pool holds ${senders.length} mailbox${senders.length === 1 ? '' : 'es'}`,
    );
    tx.emit('campaign.updated', { campaign_id: id, name, fields: ['senders'] });
    tx.audit({ action: 'update', entityType: 'campaign', entityId: id, metadata: { senders: mailboxIds } });
    await poolChanged(tx, id);
    return readSenders(tx.org, id);
  });
}

function readSenders(org: OrgScope, campaignId: string): Promise<CampaignSenderRow[]> {
  return org.sql<CampaignSenderRow>(
    `select mailbox_id, weight, enabled, last_sent_at from campaign_senders
     where organization_id = :org and campaign_id = :id order by mailbox_id`,
    { id: campaignId },
  );
}
