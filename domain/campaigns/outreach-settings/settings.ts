import { json } from '../../../db/connection.ts';
import { sendersOfActive } from '../../sending/campaign/sender-pool.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertMayChangeEmails } from '../../approvals/may-change-leads.ts';
import {
  checkedSettings,
  effectiveSettings,
  type OutreachSettings,
  type PartialSettings,
} from '../../sending/campaign/outreach-settings.ts';

/** Returns the organization's settings with every default filled in (GET /outreach/settings). */
export async function getOutreachSettings(ctx: Ctx): Promise<OutreachSettings> {
  return effectiveSettings(reader(ctx), null);
}

/**
 * Replaces the organization's settings; missing fields get their defaults (PATCH /outreach/settings). Active campaigns
 * use the new settings at once.
 * @throws AppError invalid_setting; forbidden as in {@link assertMayChangeEmails}
 */
export async function replaceOutreachSettings(ctx: Ctx, settings: PartialSettings): Promise<void> {
  const stored = checkedSettings(settings, 'body.settings');
  await transact(ctx, async (tx) => {
    const before = await sendingSettings(tx);
    await tx.org
      .insert('outreach_settings', { settings: json(stored), updated_at: tx.now })
      .onConflict('organization_id')
      .merge(['settings', 'updated_at']);
    if ((await sendingSettings(tx)) !== before) await assertMayChangeEmails(tx, await sendersOfActive(tx.org));
    tx.emit('settings.updated', { section: 'outreach', changed: Object.keys(stored) });
    tx.audit({
      action: 'update',
      entityType: 'outreach_settings',
      entityId: tx.org.organizationId,
      metadata: { blocks: Object.keys(stored) },
    });
  });
}

/** Returns the effective settings as text for a comparison, without those that do not affect sending. */
async function sendingSettings(tx: Tx): Promise<string> {
  const { dashboard: _shown, preflight: _checked, ...sending } = await effectiveSettings(tx.org, null);
  return JSON.stringify(sending);
}
