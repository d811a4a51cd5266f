import { Campaigns, type CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps } from '../../db/models/campaign-step.ts';
import { CampaignVariants } from '../../db/models/campaign-variant.ts';
import { newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertMayWriteSteps } from '../approvals/automation-rights.ts';
import { withFiles, type FetchedFiles } from '../platform/attachments.ts';
import { copyAttachments } from './attachments.ts';
import { announceCreated } from './create.ts';
import { retargetConditions, toGraphStep } from '../sending/campaign/graph.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { countNewCampaign } from './throttle.ts';
import { message } from '../../messages/index.ts';

const MAX_NAME = 50;
const SUFFIX = ' (copy)';

/** Returns the default name of a copy, which has at most 50 characters like any name. */
function copyName(name: string): string {
  return `${[...name]
    .slice(0, MAX_NAME - SUFFIX.length)
    .join('')
    .trimEnd()}${SUFFIX}`;
}

/**
 * Creates a draft with the source's settings, steps, tags, folders, senders, variants, attachments and advanced
 * settings. Links between steps lead to the new steps. Leads, progress, log, counters, ramp level and past dates are
 * not copied. The copy belongs to the caller.
 * @throws AppError not_found, rate_limit_exceeded above ORG_CAMPAIGNS_PER_DAY, storage_limit_reached
 * @throws AppError forbidden for a pool with mailboxes the key may not use, and for a step that starts an automation
 * with more rights than the caller has
 */
export async function duplicateCampaign(ctx: Ctx, sourceId: string, name?: string): Promise<CampaignRow> {
  return withFiles(ctx, (fetched) => copyCampaign(ctx, sourceId, name, fetched));
}

function copyCampaign(
  ctx: Ctx,
  sourceId: string,
  name: string | undefined,
  fetched: FetchedFiles,
): Promise<CampaignRow> {
  return transact(ctx, async (tx) => {
    const source = await findCampaign(tx.org, sourceId);
    await countNewCampaign(ctx, tx);
    const id = newId();
    const upcoming = (date: Date | null) => (date !== null && date > tx.now ? date : null);
    const copy = await tx.org.create(Campaigns, {
      ...source,
      id,
      user_id: ctx.actor.userId,
      name: name ?? copyName(source.name),
      status: 'draft',
      archived: false,
      start_date: upcoming(source.start_date),
      end_date: upcoming(source.end_date),
      ramp_level: 0,
      ramp_day: null,
      idle_since: null,
      control_epoch: 0,
      rechecks: [],
      had_leads: false,
      started_at: null,
      last_status_change_at: null,
      created_at: tx.now,
      updated_at: tx.now,
    });

    const steps = await copySteps(ctx, tx, source.id, id);
    await copyAttachments(ctx, tx, { from: source.id, to: id, steps }, fetched);
    await tx.org.sql(
      `insert into campaign_senders (organization_id, campaign_id, mailbox_id, weight, enabled)
       select :org, :copy, mailbox_id, weight, enabled from campaign_senders where organization_id = :org and campaign_id = :source`,
      { copy: id, source: source.id },
    );
    await assertPoolAllowed(tx, copy);
    await tx.org.sql(
      `insert into campaign_advanced (organization_id, campaign_id, overrides, updated_at)
       select :org, :copy, overrides, :now from campaign_advanced where organization_id = :org and campaign_id = :source`,
      { copy: id, source: source.id, now: tx.now },
    );
    await logCampaign(tx, id, 'campaign_duplicated', message('log.campaign_copied'), { source_id: source.id });
    announceCreated(tx, copy);
    return copy;
  });
}

/**
 * Copies steps and variants under new ids. Links between steps lead to the copies, and variants belong to the copied
 * steps. The caller is the author of the copies. Returns the ids of the copies by the ids of their originals.
 * @throws AppError forbidden as in {@link assertMayWriteSteps}
 */
async function copySteps(
  { actor }: Ctx,
  tx: Tx,
  sourceId: string,
  copyId: string,
): Promise<ReadonlyMap<string, string>> {
  const fresh = () => ({ id: newId(), campaign_id: copyId, created_at: tx.now, updated_at: tx.now });
  const steps = await tx.org.query(CampaignSteps).where({ campaign_id: sourceId }).orderBy('position');
  await assertMayWriteSteps(
    tx.org,
    actor,
    steps.map((step, index) => ({ action: toGraphStep(step).action, path: `steps.${index}` })),
  );
  const ids = new Map(steps.map((step) => [step.id, newId()]));
  for (const step of steps) {
    // Leaves out `app_connection_id` and `automation_id`, which PostgreSQL derives from the action.
    const { app_connection_id: _, automation_id: __, ...columns } = step;
    const conditions = retargetConditions(toGraphStep(step).conditions, (to) => ids.get(to));
    await tx.org.create(CampaignSteps, { ...columns, ...fresh(), id: ids.get(step.id)!, conditions });
  }
  for (const variant of await tx.org.query(CampaignVariants).where({ campaign_id: sourceId }).orderBy('id')) {
    const stepId = variant.step_id === null ? null : ids.get(variant.step_id)!;
    const untested = { promoted_at: null, promotion: null };
    await tx.org.create(CampaignVariants, { ...variant, ...fresh(), ...untested, step_id: stepId });
  }
  return ids;
}
