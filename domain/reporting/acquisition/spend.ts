import type { OrgScope } from '../../../db/tenancy.ts';
import type { Row } from '../../../db/rows.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';

/** Total cost of a campaign. */
export interface Spend {
  amountMinor: number;
  currency: string;
}

export type SpendRow = Row<'campaign_spend'>;

/**
 * Stores the total cost of a campaign (PUT /acquisition/campaign-spend/:campaignId). Repeated calls change nothing.
 * @throws AppError not_found
 */
export async function setCampaignSpend(ctx: Ctx, campaignId: string, spend: Spend): Promise<SpendRow> {
  return transact(ctx, async (tx) => {
    const { id } = await findCampaign(tx.org, campaignId);
    await tx.org.lock(`spend/${id}`);
    const before = await tx.org.table('campaign_spend').where({ campaign_id: id }).first();
    if (before && Number(before.amount_minor) === spend.amountMinor && before.currency === spend.currency)
      return before;
    const [row] = await tx.org.sql<SpendRow>(
      `insert into campaign_spend (organization_id, campaign_id, amount_minor, currency, updated_by, updated_at)
       values (:org, :id, :amount, :currency, :user, :now)
       on conflict (organization_id, campaign_id) do update
         set amount_minor = excluded.amount_minor, currency = excluded.currency, updated_by = excluded.updated_by, updated_at = excluded.updated_at
       returning *`,
      { id, amount: spend.amountMinor, currency: spend.currency, user: tx.actor.userId, now: tx.now },
    );
    tx.audit({
      action: 'update',
      entityType: 'campaign_spend',
      entityId: id,
      changes: {
        amount_minor: { from: before ? Number(before.amount_minor) : null, to: spend.amountMinor },
        currency: { from: before?.currency ?? null, to: spend.currency },
      },
    });
    return row!;
  });
}

/**
 * Deletes the cost of a campaign (DELETE /acquisition/campaign-spend/:campaignId), even if the campaign was deleted.
 * @throws AppError not_found for an unknown campaign; also for a campaign of another organization, and for a deleted
 * campaign without a stored cost
 */
export async function removeCampaignSpend(ctx: Ctx, campaignId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    if (!isUuid(campaignId)) throw notFound('campaign');
    const gone = await tx.org.table('campaign_spend').where({ campaign_id: campaignId }).delete();
    if (gone === 0) {
      await findCampaign(tx.org, campaignId);
      return;
    }
    tx.audit({ action: 'delete', entityType: 'campaign_spend', entityId: campaignId });
  });
}

/** Returns the known costs of campaigns, by campaign id. */
export async function spendOf(org: OrgScope, campaignIds: readonly string[]): Promise<Map<string, Spend>> {
  const rows = await org.table('campaign_spend').whereIn('campaign_id', [...campaignIds]);
  return new Map(
    rows.map((row) => [row.campaign_id, { amountMinor: Number(row.amount_minor), currency: row.currency }]),
  );
}
