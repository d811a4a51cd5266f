import type { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';

/** Settings for crediting customers to emails. */
export interface AttributionSettings {
  /** Maximum time from a credited email to the acquisition, in 24-hour days. */
  windowDays: number;
  companyEstimates: boolean;
  /** Id of the last editor. Null if the settings were never changed. */
  updatedBy: string | null;
  updatedAt: Date | null;
}

const DEFAULTS: AttributionSettings = { windowDays: 30, companyEstimates: true, updatedBy: null, updatedAt: null };

/** Returns the effective settings (GET /acquisition/attribution/settings). */
export function readAttributionSettings(ctx: Ctx): Promise<AttributionSettings> {
  return attributionSettings(reader(ctx));
}

/** Returns the effective settings of an organization. */
export async function attributionSettings(org: OrgScope): Promise<AttributionSettings> {
  const row = await org.table('attribution_settings').first();
  if (!row) return DEFAULTS;
  return {
    windowDays: row.window_days,
    companyEstimates: row.company_estimates,
    updatedBy: row.updated_by,
    updatedAt: row.updated_at,
  };
}

/**
 * Changes the given settings (PUT /acquisition/attribution/settings). Reports reflect the change immediately. Repeated
 * calls change nothing.
 */
export async function changeAttributionSettings(
  ctx: Ctx,
  change: { windowDays?: number | undefined; companyEstimates?: boolean | undefined },
): Promise<AttributionSettings> {
  return transact(ctx, async (tx) => {
    await tx.org.lock(`attribution-settings/${tx.org.organizationId}`);
    const before = await attributionSettings(tx.org);
    const after = {
      windowDays: change.windowDays ?? before.windowDays,
      companyEstimates: change.companyEstimates ?? before.companyEstimates,
    };
    const changes = {
      ...(after.windowDays === before.windowDays
        ? {}
        : { window_days: { from: before.windowDays, to: after.windowDays } }),
      ...(after.companyEstimates === before.companyEstimates
        ? {}
        : { company_estimates: { from: before.companyEstimates, to: after.companyEstimates } }),
    };
    if (Object.keys(changes).length === 0) return before;
    const settings = { ...after, updatedBy: tx.actor.userId, updatedAt: tx.now };
    await tx.org
      .insert('attribution_settings', {
        window_days: settings.windowDays,
        company_estimates: settings.companyEstimates,
        updated_by: settings.updatedBy,
        updated_at: settings.updatedAt,
      })
      .onConflict('organization_id')
      .merge();
    tx.audit({ action: 'update', entityType: 'attribution_settings', entityId: tx.org.organizationId, changes });
    tx.emit('settings.updated', { section: 'attribution', changed: Object.keys(changes) });
    return settings;
  });
}
