import { created } from '../platform/changes.ts';
import { json } from '../../db/connection.ts';
import { Campaigns, type CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps } from '../../db/models/campaign-step.ts';
import { CampaignVariants } from '../../db/models/campaign-variant.ts';
import { newId } from '../../lib/ids.ts';
import { refuseProblems, type Problem } from '../../lib/errors.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertMayWriteSteps } from '../approvals/automation-rights.ts';
import { checkedSettings, settingProblems } from '../sending/campaign/outreach-settings.ts';
import type { MessageError } from '../mail/messages/render-source.ts';
import { buildCheckedSteps, copyWarnings, type NewStep } from './build-steps.ts';
import { labelProblems, oneTimeProblems, senderProblems, settingsColumns, settingsProblems } from './checks.ts';
import type { CreateCampaign, VariantInput } from './input.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { storeSenders } from './sender-rows.ts';
import { countNewCampaign } from './throttle.ts';
import { message } from '../../messages/index.ts';

const OVERRIDES = 'body.advanced_overrides';

/** A campaign, with warnings about its copy. */
interface WrittenCampaign {
  campaign: CampaignRow;
  warnings: MessageError[];
}

/** A campaign to store, whose parts have been checked. */
type CheckedCampaign = Omit<CreateCampaign, 'steps' | 'variants' | 'advanced_overrides'> & {
  steps: readonly NewStep[];
  variants: readonly VariantInput[];
};

/**
 * Creates a draft with all parts of the request: settings, senders, connected steps, variants of the first email,
 * advanced overrides. Returns problems of the copy as warnings.
 * @throws AppError bad_request with all problems; invalid_setting; the errors of {@link storeCampaign}
 */
export async function createCampaign(ctx: Ctx, input: CreateCampaign): Promise<WrittenCampaign> {
  return transact(ctx, async (tx) => {
    const { steps, problems } = await checkNewCampaign(tx.org, ctx.actor, input, tx.now);
    // If all problems are in the overrides, the error is invalid_setting instead of bad_request.
    if (problems.some(({ path }) => !path.startsWith(OVERRIDES))) refuseProblems(problems);
    const { advanced_overrides: overrides, variants = [], ...parts } = input;
    const stored = overrides && checkedSettings(overrides, OVERRIDES);
    const firstEmail = steps.find((step) => step.kind === 'email');
    const campaign = await storeCampaign(ctx, tx, {
      ...parts,
      steps,
      variants: variants.map((variant) => ({ ...variant, step_id: firstEmail!.id })),
    });
    if (stored)
      await tx.org.insert('campaign_advanced', {
        campaign_id: campaign.id,
        overrides: json(stored),
        updated_at: tx.now,
      });
    return { campaign, warnings: [...steps, ...variants].flatMap(copyWarnings) };
  });
}

/**
 * Builds the steps of a new campaign, and lists all problems of the campaign beyond the format of its fields. Checks
 * only the given fields.
 * @throws AppError forbidden when the caller's key may not use a mailbox of the pool
 */
export async function checkNewCampaign(
  org: OrgScope,
  actor: Actor,
  input: Partial<CreateCampaign>,
  now: Date,
): Promise<{ steps: NewStep[]; problems: Problem[] }> {
  const { kind = 'sequence', email_tag_ids: tags = [], folder_ids: folders = [], variants = [] } = input;
  const { steps, problems } = await buildCheckedSteps(org, input.steps ?? []);
  const all = [
    ...settingsProblems(input, now),
    ...(await labelProblems(org, 'tag', tags, 'body.email_tag_ids')),
    ...(await labelProblems(org, 'folder', folders, 'body.folder_ids')),
    ...(await senderProblems(org, actor, input.senders ?? [])),
    ...problems,
    ...oneTimeProblems(
      kind,
      steps.map((step) => ({ ...step, path: `body.steps.${step.position}` })),
    ),
    ...settingProblems(input.advanced_overrides, OVERRIDES),
    ...(variants.length > 0 && !steps.some((step) => step.kind === 'email')
      ? [{ path: 'body.variants', message: message('campaigns.variants_without_email') }]
      : []),
  ];
  return { steps, problems: all };
}

/**
 * Stores a draft whose parts have been checked, with its event, audit row and log line.
 * @throws AppError forbidden for a pool with mailboxes the key may not use, and for a step that starts an automation
 * beyond the caller's rights; rate_limit_exceeded above ORG_CAMPAIGNS_PER_DAY
 */
export async function storeCampaign(
  ctx: Ctx,
  tx: Tx,
  {
    name,
    kind = 'sequence',
    email_tag_ids: tags = [],
    folder_ids: folders = [],
    senders = [],
    steps,
    variants,
    ...settings
  }: CheckedCampaign,
): Promise<CampaignRow> {
  await assertMayWriteSteps(
    tx.org,
    ctx.actor,
    steps.map(({ action, position }) => ({ action, path: `body.steps.${position}` })),
  );
  await countNewCampaign(ctx, tx);
  const campaign = await tx.org.create(Campaigns, {
    ...settingsColumns(settings),
    id: newId(),
    user_id: ctx.actor.userId,
    name,
    kind,
    email_tags: distinct(tags),
    folders: distinct(folders),
    graph_version: steps.length > 0 ? 1 : 0,
    created_at: tx.now,
    updated_at: tx.now,
  });
  for (const step of steps)
    await tx.org.create(CampaignSteps, { ...step, campaign_id: campaign.id, created_at: tx.now, updated_at: tx.now });
  await storeSenders(tx.org, campaign.id, senders);
  await assertPoolAllowed(tx, campaign);
  for (const variant of variants) await insertVariant(tx, campaign.id, variant);
  await logCampaign(tx, campaign.id, 'campaign_created', message('log.campaign_created'));
  announceCreated(tx, campaign);
  return campaign;
}

/** Emits the event `campaign.created` and writes its audit row. */
export function announceCreated(tx: Tx, campaign: CampaignRow): void {
  tx.emit('campaign.created', { campaign_id: campaign.id, name: campaign.name, status: campaign.status });
  tx.audit({
    action: 'create',
    entityType: 'campaign',
    entityId: campaign.id,
    changes: created({ name: campaign.name }),
  });
}

/** Stores one A/B variant and returns it. */
export async function insertVariant(tx: Tx, campaignId: string, variant: VariantInput) {
  return tx.org.create(CampaignVariants, {
    ...variant,
    id: newId(),
    campaign_id: campaignId,
    created_at: tx.now,
    updated_at: tx.now,
  });
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
