import { CampaignSteps } from '../../db/models/campaign-step.ts';
import { CampaignVariants, type CampaignVariantRow } from '../../db/models/campaign-variant.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { assertBelowLimit } from '../platform/full-list.ts';
import type { MessageError } from '../mail/messages/render-source.ts';
import { copyWarnings } from './build-steps.ts';
import { insertVariant } from './create.ts';
import type { VariantInput, VariantUpdate } from './input.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { editSteps } from './edit-check.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { message, type Message } from '../../messages/index.ts';

export type { CampaignVariantRow } from '../../db/models/campaign-variant.ts';

/** A variant, with warnings about its copy. */
interface WrittenVariant {
  variant: CampaignVariantRow;
  warnings: MessageError[];
}

/** Maximum number of variants, because the list is not paged. A useful comparison has far fewer. */
const MAX_VARIANTS = 200;

/**
 * Lists the A/B variants of a campaign, oldest first.
 * @throws AppError not_found
 */
export async function listVariants(ctx: Ctx, campaignId: string): Promise<CampaignVariantRow[]> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  return org.query(CampaignVariants).where({ campaign_id: campaign.id }).orderBy('id');
}

/**
 * Adds a variant to the campaign, or to one of its email steps.
 * @throws AppError not_found for the campaign or a step of another campaign; bad_request at the limit of variants
 */
export async function createVariant(ctx: Ctx, campaignId: string, input: VariantInput): Promise<WrittenVariant> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (input.step_id != null) {
      const step =
        isUuid(input.step_id) &&
        (await tx.org.query(CampaignSteps).findOne({ id: input.step_id, campaign_id: campaign.id, kind: 'email' }));
      if (!step) throw notFound('step');
    }
    const bound = { most: MAX_VARIANTS, what: message('steps.variants_most') };
    await assertBelowLimit(tx, 'campaign_variants', bound, { campaign_id: campaign.id });
    const variant = await editSteps(tx, campaign, () => insertVariant(tx, campaign.id, input));
    await reopenTest(tx, campaign.id, variant.step_id);
    await recordVariantsChange(tx, campaign, message('log.variant_added'), variant.id);
    return { variant, warnings: copyWarnings(variant) };
  });
}

/**
 * Changes the given fields of a variant.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, conflict if `updated_at` has changed
 */
export async function updateVariant(
  ctx: Ctx,
  campaignId: string,
  variantId: string,
  input: VariantUpdate,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<WrittenVariant> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const { id, step_id: stepId, updated_at: updatedAt } = await findVariant(tx, campaign.id, variantId);
    // This check is safe because the campaign is locked, as by every change of a variant.
    assertUnchanged('variant', updatedAt, expectedUpdatedAt);
    if (COMPARED.some((field) => input[field] !== undefined)) await reopenTest(tx, campaign.id, stepId);
    const variant = (await editSteps(tx, campaign, async () =>
      tx.org.query(CampaignVariants).patchAndFetchById(id, { ...input, updated_at: tx.now }),
    ))!;
    await recordVariantsChange(tx, campaign, message('log.variant_changed'), id);
    return { variant, warnings: copyWarnings(variant) };
  });
}

/**
 * Removes a variant. Emails already sent with the variant keep its id.
 * @throws AppError not_found
 */
export async function deleteVariant(ctx: Ctx, campaignId: string, variantId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const { id } = await findVariant(tx, campaign.id, variantId);
    await editSteps(tx, campaign, async () => tx.org.query(CampaignVariants).findById(id).delete());
    await recordVariantsChange(tx, campaign, message('log.variant_removed'), id);
  });
}

/** Fields whose change affects the comparison of variants. */
const COMPARED = ['subject', 'body_html', 'body_plain', 'weight', 'is_active'] as const;

/**
 * Clears the winner of a step's A/B test, because its variants have changed since the comparison. Variants without a
 * step are compared with those of the first email.
 */
async function reopenTest(tx: Tx, campaignId: string, stepId: string | null): Promise<void> {
  await tx.org.sql(
    `with first as (
       select id from campaign_steps where organization_id = :org and campaign_id = :campaign and kind = 'email' order by position limit 1
     )
     update campaign_variants set promoted_at = null, promotion = null
     where organization_id = :org and campaign_id = :campaign and promoted_at is not null
       and coalesce(step_id, (select id from first)) is not distinct from coalesce(cast(:step as uuid), (select id from first))`,
    { campaign: campaignId, step: stepId },
  );
}

async function findVariant(tx: Tx, campaignId: string, variantId: string): Promise<CampaignVariantRow> {
  const variant = isUuid(variantId)
    ? await tx.org.query(CampaignVariants).findOne({ id: variantId, campaign_id: campaignId })
    : undefined;
  if (!variant) throw notFound('variant');
  return variant;
}

async function recordVariantsChange(tx: Tx, campaign: CampaignRow, said: Message, variantId: string): Promise<void> {
  await tx.org.sql(
    'update campaigns set graph_version = graph_version + 1, updated_at = :now where organization_id = :org and id = :id',
    { id: campaign.id, now: tx.now },
  );
  await logCampaign(tx, campaign.id, 'variants_changed', said, { variant_id: variantId });
  tx.emit('campaign.updated', { campaign_id: campaign.id, name: campaign.name, fields: ['variants'] });
  tx.audit({
    action: 'update',
    entityType: 'campaign',
    entityId: campaign.id,
    metadata: { variants: said.code, variant_id: variantId },
  });
}
