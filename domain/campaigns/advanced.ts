import { json } from '../../db/connection.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { signalLauncher } from '../sending/control/signals.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { checkedSettings, type PartialSettings } from '../sending/campaign/outreach-settings.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { assertMayChangeActive } from '../approvals/may-change-leads.ts';
import { addRechecks, rescheduled } from '../sending/control/rechecks.ts';
import { isPaused, lockCampaign } from '../sending/control/status.ts';
import { reschedule } from '../sending/control/reschedule.ts';
import { message } from '../../messages/index.ts';

/** A campaign's overrides of the organization's outreach settings. */
interface AdvancedSettings {
  campaign_id: string;
  overrides: PartialSettings;
  updated_at: Date | null;
}

/**
 * Returns a campaign's overrides of the organization's settings; an empty object if there are none.
 * @throws AppError not_found
 */
export async function getAdvanced(ctx: Ctx, campaignId: string): Promise<AdvancedSettings> {
  const org = reader(ctx);
  return readAdvanced(org, (await findCampaign(org, campaignId)).id);
}

/**
 * Replaces a campaign's overrides. Reserves the slots of an active campaign again, because send-time optimization may
 * change them.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has read; null if the campaign had no overrides
 * @throws AppError not_found, invalid_setting, conflict if `updated_at` has changed
 */
export async function replaceAdvanced(
  ctx: Ctx,
  campaignId: string,
  settings: PartialSettings,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | null | undefined } = {},
): Promise<AdvancedSettings> {
  const stored = checkedSettings(settings, 'body.settings');
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    await assertMayChangeActive(tx, campaign);
    const before = await readAdvanced(tx.org, campaign.id);
    assertUnchanged('settings', before.updated_at, expectedUpdatedAt);
    await tx.org
      .insert('campaign_advanced', { campaign_id: campaign.id, overrides: json(stored), updated_at: tx.now })
      .onConflict('campaign_id')
      .merge(['overrides', 'updated_at']);
    await logCampaign(tx, campaign.id, 'campaign_updated', message('log.advanced_replaced'), {
      blocks: Object.keys(stored),
    });
    tx.emit('campaign.updated', { campaign_id: campaign.id, name: campaign.name, fields: ['advanced'] });
    tx.audit({
      action: 'update',
      entityType: 'campaign',
      entityId: campaign.id,
      changes: { advanced: { from: before.overrides, to: stored } },
    });
    if (campaign.status === 'active') {
      await reschedule(tx, campaign.id, message('log.advanced_replaced'));
      signalLauncher(tx, campaign.id, 'edited');
    } else if (isPaused(campaign)) await addRechecks(tx, campaign.id, rescheduled());
    return readAdvanced(tx.org, campaign.id);
  });
}

async function readAdvanced(org: OrgScope, campaignId: string): Promise<AdvancedSettings> {
  const [row] = await org.sql<{ overrides: PartialSettings; updated_at: Date }>(
    'select overrides, updated_at from campaign_advanced where organization_id = :org and campaign_id = :id',
    { id: campaignId },
  );
  return { campaign_id: campaignId, overrides: row?.overrides ?? {}, updated_at: row?.updated_at ?? null };
}
