import type { CampaignRow } from '../../db/models/campaign.ts';
import { Campaigns } from '../../db/models/campaign.ts';
import { type Problem, refuseProblems } from '../../lib/errors.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { signalLauncher } from '../sending/control/signals.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { withSavepoint, transact, type Tx } from '../platform/kernel/transact.ts';
import { applyPoolChange, reschedule } from '../sending/control/reschedule.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { labelProblems, settingsColumns, settingsProblems } from './checks.ts';
import type { UpdateCampaign } from './input.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { assertMaySend, park, startOrHold, stopLocked, type Start } from './start.ts';
import { assertMayChangeActive } from '../approvals/may-change-leads.ts';
import { addRechecks, rescheduled } from '../sending/control/rechecks.ts';
import { isPaused, lockCampaign } from '../sending/control/status.ts';
import { message } from '../../messages/index.ts';

/** Fields whose change reschedules an active campaign at once. */
const SCHEDULE = [
  'start_date',
  'end_date',
  'timezone',
  'days',
  'start_time',
  'end_time',
  'schedule_windows',
  'entry_delay_minutes',
] as const;
/** Fields of a campaign whose change does not affect sending. */
const UNSENT = new Set(['description', 'folders', 'archived']);
/** Fields that decide which mailboxes may send. Slots of mailboxes that leave the pool are released. */
const POOL = ['sender_strategy', 'email_tags', 'esp_match_mode'] as const;

/**
 * Changes the given fields of a campaign (PATCH /campaigns/:id). A `status` of `active` or `paused` starts or stops it,
 * with the same checks and rights.
 * @throws AppError not_found, bad_request with all problems, forbidden for a status without the right to send, or for a
 * pool with mailboxes that the key may not use
 */
export async function updateCampaign(ctx: Ctx, campaignId: string, input: UpdateCampaign): Promise<CampaignRow> {
  const { campaign, refused } = await editCampaign(ctx, campaignId, input);
  if (refused) throw refused;
  return campaign;
}

/**
 * Variant of {@link updateCampaign} that returns the outcome of a requested start. The other changes are kept if the
 * start waits for a person, and rolled back if it is refused.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError conflict if `updated_at` has changed
 */
export async function editCampaign(
  ctx: Ctx,
  campaignId: string,
  input: UpdateCampaign,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<Start & { campaign: CampaignRow }> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    assertUnchanged('campaign', campaign.updated_at, expectedUpdatedAt);
    const edit = () => applyEdit(ctx, tx, campaign, input);
    const started =
      input.status === 'active'
        ? await withSavepoint(tx, edit).catch((error: unknown) => park(tx, campaign, error))
        : await edit();
    return { campaign: (await tx.org.query(Campaigns).findById(campaign.id))!, ...started };
  });
}

/** Changes a locked campaign, and starts or stops it if requested. */
async function applyEdit(ctx: Ctx, tx: Tx, campaign: CampaignRow, input: UpdateCampaign): Promise<Start> {
  const { name, status, email_tags: tags, folders, archived, ...settings } = input;
  refuseProblems(await campaignEditProblems(tx.org, input, tx.now, campaign));
  const columns: Partial<CampaignRow> = {
    ...settingsColumns(settings, campaign),
    ...(name === undefined ? {} : { name }),
    ...(tags ? { email_tags: [...new Set(tags)] } : {}),
    ...(folders ? { folders: [...new Set(folders)] } : {}),
    ...(archived === undefined ? {} : { archived }),
  };
  const changes = changesOf(campaign, columns);
  const changed = Object.keys(changes);
  const edited = { ...campaign, ...columns } as CampaignRow;
  if (POOL.some((field) => field in changes)) await assertPoolAllowed(tx, edited);
  if (changed.some((field) => !UNSENT.has(field))) await assertMayChangeActive(tx, edited);
  if (changed.length > 0) {
    await tx.org
      .query(Campaigns)
      .findById(campaign.id)
      .patch({ ...columns, updated_at: tx.now });
    tx.emit('campaign.updated', { campaign_id: campaign.id, name: edited.name, fields: changed });
    tx.audit({ action: 'update', entityType: 'campaign', entityId: campaign.id, changes });
    await logCampaign(tx, campaign.id, 'campaign_updated', message('log.settings_changed'), { fields: changed });
  }
  const isMoved = status !== undefined && status !== campaign.status;
  if (campaign.status === 'active' && !isMoved) await applyToRuns(tx, campaign.id, changed);
  else await recheckAtResume(tx, campaign, changed);
  if (isMoved) return moveTo(ctx, tx, edited, status);
  return {};
}

/** Lists problems of a campaign edit that the format of its fields does not show. Checks only the given fields. */
export async function campaignEditProblems(
  org: OrgScope,
  { status, email_tags: tags = [], folders = [], archived = false, ...settings }: UpdateCampaign,
  now: Date,
  campaign: CampaignRow,
): Promise<Problem[]> {
  return [
    ...settingsProblems(settings, now, campaign),
    ...statusProblems(campaign, status),
    ...(archived && (status ?? campaign.status) === 'active'
      ? [{ path: 'body.archived', message: message('campaigns.archived_active') }]
      : []),
    ...(await labelProblems(org, 'tag', tags, 'body.email_tags')),
    ...(await labelProblems(org, 'folder', folders, 'body.folders')),
  ];
}

function statusProblems(campaign: CampaignRow, status: string | undefined): Problem[] {
  if (status === undefined || status === campaign.status || status === 'active' || status === 'paused') return [];
  return [{ path: 'body.status', message: message('campaigns.status_choice') }];
}

async function moveTo({ config }: Ctx, tx: Tx, campaign: CampaignRow, status: string): Promise<Start> {
  assertMaySend(tx.actor);
  if (status === 'active') return startOrHold(config, tx, campaign, {});
  await stopLocked(tx, campaign);
  return {};
}

/** Applies an edit of an active campaign to its open workflows. */
async function applyToRuns(tx: Tx, campaignId: string, changed: readonly string[]): Promise<void> {
  if (touches(SCHEDULE, changed))
    await reschedule(tx, campaignId, message('log.schedule_changed'), {
      entryDelay: changed.includes('entry_delay_minutes'),
    });
  if (touches(POOL, changed)) await applyPoolChange(tx, campaignId);
  // Signals the launcher, which then reads changed limits, order and `continuous`.
  if (changed.length > 0) signalLauncher(tx, campaignId, 'edited');
}

/**
 * Stores which workflows of a paused campaign an edit affects, so that they are signalled when the campaign resumes.
 */
async function recheckAtResume(tx: Tx, campaign: CampaignRow, changed: readonly string[]): Promise<void> {
  if (campaign.status !== 'active' && !isPaused(campaign)) return;
  if (!touches([...SCHEDULE, ...POOL], changed)) return;
  await addRechecks(tx, campaign.id, rescheduled({ entryDelay: changed.includes('entry_delay_minutes') }));
}

function touches(fields: readonly string[], changed: readonly string[]): boolean {
  return fields.some((field) => changed.includes(field));
}

function changesOf(before: CampaignRow, columns: Partial<CampaignRow>): Record<string, { from: unknown; to: unknown }> {
  const stored = before as unknown as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(columns)
      .filter(([field, value]) => JSON.stringify(stored[field] ?? null) !== JSON.stringify(value ?? null))
      .map(([field, value]) => [field, { from: stored[field] ?? null, to: value ?? null }]),
  );
}
