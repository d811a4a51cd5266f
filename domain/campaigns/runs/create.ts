import { json } from '../../../db/connection.ts';
import type { CampaignRow } from '../../../db/models/campaign.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { runWorkflow } from '../../../workflows/run/contract.ts';
import { createCampaign, insertVariant } from '../create.ts';
import type { CampaignSettings, SenderInput } from '../input.ts';
import { replaceSenders } from '../senders.ts';
import { updateCampaign } from '../update.ts';
import { createContacts } from '../../audience/contacts/create.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import { may, type Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { addCampaignLeads } from '../../audience/leads/add.ts';
import { effectiveSettings } from '../../sending/campaign/outreach-settings.ts';
import { countRecipients } from './audience.ts';
import { MAX_RUN_RECIPIENTS, type CreateRun } from './input.ts';
import { recordEvents } from './move.ts';
import { allProblems, planRun, refuseFaulty, type RunPlan } from './plan.ts';
import type { RunRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** Maximum number of contacts stored with one statement. */
const LEADS_AT_ONCE = 1_000;

/**
 * Creates a run (POST /runs): builds the described campaign or configures an existing one, stores the mailboxes that
 * the selection currently matches, and stores the leads. All rows and the start of the workflow are committed together.
 * No email is sent until the run has been checked and, if the caller's policy does not allow the launch, a person has
 * approved it.
 * @throws AppError forbidden for a launch without the right to execute runs, or for mailboxes that the caller's key may
 * not use
 * @throws AppError bad_request with all problems, app_connection_not_found, campaign_no_mailbox, selection_too_large
 * @throws AppError conflict when the campaign has a run that has not ended
 */
export async function createRun(ctx: Ctx, input: CreateRun): Promise<RunRow> {
  assertMayExecute(ctx.actor, input.intent);
  return transact(ctx, async (tx) => {
    // Joins the called functions to this transaction, so that their events and audit rows are written together with
    // those of the run.
    const inside: Ctx = { ...ctx, trx: tx.trx, joined: tx };
    // Locks an existing campaign first, so that nobody starts it while it is configured.
    if (input.campaign_id !== undefined) await lockCampaign(tx, input.campaign_id).catch(ignoreUnknown);
    const plan = await planRun(tx.org, tx.actor, input);
    refuseFaulty(plan);
    const settings = await settingsOf(tx, input, plan);
    const campaign = plan.campaign
      ? await updateForRun(inside, plan.campaign, settings, plan)
      : await buildCampaign(inside, tx, input, plan, settings);
    await storeLeads(inside, campaign.id, input);
    return storeRun(tx, campaign, input, plan);
  });
}

/** Lists every problem of a run request that the format of its fields does not show. */
export async function runProblems(ctx: Ctx, input: Partial<CreateRun>): Promise<Problem[]> {
  return allProblems(await planRun(reader(ctx), ctx.actor, input));
}

/**
 * Checks the right to execute runs, for a run that launches.
 * @throws AppError forbidden
 */
function assertMayExecute(actor: Actor, intent: CreateRun['intent']): void {
  if (intent === 'draft' || may(actor, ['EXECUTE_RUNS'], ['send_campaigns'])) return;
  throw new AppError('forbidden', message('runs.needs_execute'), {
    fix: message('runs.needs_execute.fix'),
  });
}

function ignoreUnknown(error: unknown): void {
  // Ignores an unknown campaign, because `planRun` reports it together with all other problems.
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}

/**
 * Returns the campaign settings that a run determines. With the schedule mode `auto`, an existing campaign keeps its
 * schedule.
 */
async function settingsOf(tx: Tx, input: CreateRun, plan: RunPlan): Promise<CampaignSettings> {
  const { mode, timezone = 'UTC', days, start_time, end_time } = input.schedule;
  const explicit = {
    timezone,
    ...(days === undefined ? {} : { days }),
    ...(start_time === undefined ? {} : { start_time }),
    ...(end_time === undefined ? {} : { end_time }),
    schedule_windows: [],
  };
  return {
    daily_limit: input.daily_limit,
    stop_on_reply: input.stop_on_reply,
    unsubscribe_header: input.opt_out_enabled,
    unsubscribe_mode: await unsubscribeMode(tx, input.opt_out_enabled),
    sender_strategy: 'explicit',
    ...(mode === 'auto' && plan.campaign ? {} : explicit),
  };
}

/**
 * Returns the campaign's unsubscribe mode: `off` if disabled, `text` if the workspace's mode is `off`, otherwise
 * `inherit`, which is the workspace's mode.
 */
async function unsubscribeMode(tx: Tx, enabled: boolean): Promise<'inherit' | 'text' | 'off'> {
  if (!enabled) return 'off';
  const { unsubscribe } = await effectiveSettings(tx.org, null);
  return unsubscribe.mode === 'off' ? 'text' : 'inherit';
}

async function updateForRun(
  inside: Ctx,
  { id }: CampaignRow,
  settings: CampaignSettings,
  plan: RunPlan,
): Promise<CampaignRow> {
  const campaign = await updateCampaign(inside, id, { ...settings, email_tags: [] });
  await replaceSenders(inside, id, sendersOf(plan));
  return campaign;
}

function sendersOf({ senderIds }: RunPlan): SenderInput[] {
  return senderIds.map((id) => ({ email_account_id: id, weight: 1, enabled: true }));
}

async function buildCampaign(
  inside: Ctx,
  tx: Tx,
  { name, description = '' }: CreateRun,
  plan: RunPlan,
  settings: CampaignSettings,
): Promise<CampaignRow> {
  const { steps, variants } = plan.steps;
  const senders = sendersOf(plan);
  const { campaign } = await createCampaign(inside, { ...settings, name: name!, description, steps, senders });
  if (variants.every((of) => of.length === 0)) return campaign;
  const rows = await tx.org
    .table('campaign_steps')
    .where({ campaign_id: campaign.id })
    .orderBy('position')
    .select('id');
  for (const [place, of] of variants.entries()) {
    for (const variant of of) await insertVariant(tx, campaign.id, { ...variant, step_id: rows[place]!.id });
  }
  return campaign;
}

async function storeLeads(
  inside: Ctx,
  campaignId: string,
  { leads = [], contact_ids: contactIds = [], segment_ids: segmentIds = [] }: CreateRun,
): Promise<void> {
  for (let from = 0; from < leads.length; from += LEADS_AT_ONCE) {
    const page = leads.slice(from, from + LEADS_AT_ONCE);
    await createContacts(
      inside,
      page.map((lead) => ({ ...lead, campaigns: [campaignId] })),
    );
  }
  if (contactIds.length > 0 || segmentIds.length > 0)
    await addCampaignLeads(inside, campaignId, { contactIds, segmentIds, source: 'run' });
}

async function storeRun(tx: Tx, campaign: CampaignRow, input: CreateRun, plan: RunPlan): Promise<RunRow> {
  const recipients = await countRecipients(tx.org, campaign.id);
  if (recipients.count > MAX_RUN_RECIPIENTS)
    throw new AppError('selection_too_large', message('runs.too_many_recipients', { max: MAX_RUN_RECIPIENTS }), {
      fix: message('runs.too_many_recipients.fix'),
    });
  const { leads: _leads, ...stored } = input;
  const [run] = (await tx.org
    .insert('runs', {
      id: newId(),
      state: 'queued',
      intent: input.intent,
      input: json(stored),
      campaign_id: campaign.id,
      frozen_sender_ids: plan.senderIds,
      recipient_count: recipients.count,
      action_count: recipients.actions,
      policy_decision: json({ decision: 'undecided' }),
      actor_kind: tx.actor.kind as RunRow['actor_kind'],
      user_id: tx.actor.userId,
      api_key_id: tx.actor.apiKeyId ?? null,
      oauth_grant_id: tx.actor.oauthGrantId ?? null,
      event_count: 1,
      created_at: tx.now,
      updated_at: tx.now,
    })
    .returning('*')) as RunRow[];
  await recordEvents(tx, [{ ...run!, previous_state: null }], {
    data: { recipients: recipients.count, senders: plan.senderIds.length, built: plan.campaign === undefined },
  });
  tx.intend(start(runWorkflow, { organizationId: tx.org.organizationId, runId: run!.id }));
  return run!;
}
