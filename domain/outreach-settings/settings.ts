import { json } from '../../db/connection.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader, transact } from '../kernel/transact.ts';
import {
  checkedSettings,
  effectiveSettings,
  type OutreachSettings,
  type PartialSettings,
} from '../records/outreach-settings.ts';

/** The organization's settings with every default filled in (GET /outreach/settings). */
export async function getOutreachSettings(ctx: Ctx): Promise<OutreachSettings> {
  return effectiveSettings(reader(ctx), null);
}

/**
 * Replaces the organization's settings; missing fields get their defaults (PATCH /outreach/settings).
 * @throws AppError invalid_setting
 */
export async function replaceOutreachSettings(ctx: Ctx, settings: PartialSettings): Promise<void> {
  const stored = checkedSettings(settings, 'body.settings');
  await transact(ctx, async (tx) => {
    await tx.org
      .insert('outreach_settings', { settings: json(stored), updated_at: tx.now })
      .onConflict('organization_id')
      .merge(['settings', 'updated_at']);
    tx.emit('settings.updated', { section: 'outreach', changed: Object.keys(stored) });
    tx.audit({
      action: 'update',
      entityType: 'outreach_settings',
      entityId: tx.org.organizationId,
      metadata: { blocks: Object.keys(stored) },
    });
  });
}
