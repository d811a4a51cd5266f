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
import { buildSteps, copyWarnings, kindOf, type NewStep } from './build-steps.ts';
import { labelProblems, oneTimeProblems, senderProblems, settingsColumns, settingsProblems } from './checks.ts';
import type { CreateCampaign, VariantInput } from './input.ts';
import { stepProblems } from '../sending/campaign/step-findings.ts';
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

/**
 * Creates a draft with all parts of the request: settings, senders, connected steps, variants of the first email,
 * advanced overrides. Returns problems of the copy as warnings.
 * @throws AppError bad_request with all problems; invalid_setting; forbidden for a pool with mailboxes the key may not
 * use; rate_limit_exceeded above ORG_CAMPAIGNS_PER_DAY
 */
export async function createCampaign(ctx: Ctx, input: CreateCampaign): Promise<WrittenCampaign> {
  return transact(ctx, async (tx) => {
    const {
      name,
      kind = 'sequence',
      email_tag_ids: tags = [],
      folder_ids: folders = [],
      senders = [],
      steps: stepInputs = [],
      variants = [],
      advanced_overrides: overrides,
      ...settings
    } = input;
    const { steps, problems } = buildSteps(stepInputs);
    const found = [...(await newCampaignProblems(tx.org, ctx.actor, input, tx.now)), ...problems];
    // If all problems are in the overrides, a later check throws invalid_setting instead of bad_request.
    if (found.some(({ path }) => !path.startsWith(OVERRIDES))) refuseProblems(found);
    await assertMayWriteSteps(
      tx.org,
      ctx.actor,
      steps.map(({ action }, index) => ({ action, path: `body.steps.${index}` })),
    );
    const stored = overrides && checkedSettings(overrides, OVERRIDES);
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
    await insertSteps(tx, campaign.id, steps);
    await storeSenders(tx.org, campaign.id, senders);
    await assertPoolAllowed(tx, campaign);
    const firstEmail = steps.find((step) => step.kind === 'email');
    for (const variant of variants) await insertVariant(tx, campaign.id, { ...variant, step_id: firstEmail!.id });
    if (stored)
      await tx.org.insert('campaign_advanced', {
        campaign_id: campaign.id,
        overrides: json(stored),
        updated_at: tx.now,
      });
    await logCampaign(tx, campaign.id, 'campaign_created', message('log.campaign_created'));
    announceCreated(tx, campaign);
    return { campaign, warnings: [...steps, ...variants].flatMap(copyWarnings) };
  });
}

/**
 * Lists problems of a new campaign that neither the format of its fields nor the graph of its steps shows. Checks only
 * the given fields.
 * @throws AppError forbidden when the caller's key may not use a mailbox of the pool
 */
export async function newCampaignProblems(
  org: OrgScope,
  actor: Actor,
  input: Partial<CreateCampaign>,
  now: Date,
): Promise<Problem[]> {
  const { kind = 'sequence', email_tag_ids: tags = [], folder_ids: folders = [], variants = [] } = input;
  const steps = (input.steps ?? []).map((step, index) => ({
    kind: step.kind ?? kindOf(step.action ?? null),
    action: step.action ?? null,
    path: `body.steps.${index}`,
  }));
  return [
    ...settingsProblems(input, now),
    ...(await labelProblems(org, 'tag', tags, 'body.email_tag_ids')),
    ...(await labelProblems(org, 'folder', folders, 'body.folder_ids')),
    ...(await senderProblems(org, actor, input.senders ?? [], 'body.senders')),
    ...(await stepProblems(org, steps)),
    ...oneTimeProblems(kind, steps),
    ...settingProblems(input.advanced_overrides, OVERRIDES),
    ...(variants.length > 0 && !steps.some((step) => step.kind === 'email')
      ? [{ path: 'body.variants', message: message('campaigns.variants_without_email') }]
      : []),
  ];
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

/** Stores the steps of a new campaign. */
async function insertSteps(
  tx: Tx,
  campaignId: string,
  steps: readonly (NewStep & { body_sync?: boolean; body_code?: boolean })[],
): Promise<void> {
  for (const step of steps) {
    await tx.org.create(CampaignSteps, { ...step, campaign_id: campaignId, created_at: tx.now, updated_at: tx.now });
  }
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
