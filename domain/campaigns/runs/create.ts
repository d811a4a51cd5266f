import { json } from '../../../db/connection.ts';
import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { runWorkflow } from '../../../workflows/run/contract.ts';
import { storeCampaign } from '../create.ts';
import { undefinedIfGone } from '../gone.ts';
import type { CampaignSettings } from '../input.ts';
import { replaceSenders } from '../senders.ts';
import { updateCampaign } from '../update.ts';
import { createContacts } from '../../audience/contacts/create.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import { may, type Actor } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { addCampaignLeads } from '../../audience/leads/add.ts';
import { effectiveSettings } from '../../sending/campaign/outreach-settings.ts';
import { countRecipients } from './audience.ts';
import { MAX_RUN_RECIPIENTS, type CreateRun } from './input.ts';
import { recordEvents } from './move.ts';
import { planRun, refuseFaulty, type RunPlan } from './plan.ts';
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
    const plan = await planRun(tx.org, tx.actor, input, await lockExisting(tx, input.campaign_id));
    refuseFaulty(plan);
    const campaignId = await configureCampaign(inside, tx, input, plan);
    await storeLeads(inside, campaignId, input);
    return storeRun(tx, campaignId, input, plan);
  });
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

/**
 * Locks the existing campaign of a run, so that it is not started while it is configured. Undefined for an unknown one,
 * which {@link planRun} reports together with all other problems.
 */
async function lockExisting(tx: Tx, id: string | undefined): Promise<CampaignRow | undefined> {
  return id === undefined ? undefined : lockCampaign(tx, id).catch(undefinedIfGone);
}

/**
 * Builds the campaign of a run, or gives an existing one the run's settings and senders.
 * @returns id of the campaign
 */
async function configureCampaign(inside: Ctx, tx: Tx, input: CreateRun, plan: RunPlan): Promise<string> {
  const settings = await settingsOf(tx.org, input, plan);
  const senders = plan.senderIds.map((id) => ({ email_account_id: id, weight: 1, enabled: true }));
  if (plan.campaign) {
    await updateCampaign(inside, plan.campaign.id, { ...settings, email_tags: [] });
    await replaceSenders(inside, plan.campaign.id, senders);
    return plan.campaign.id;
  }
  const { steps, variants } = plan.steps;
  const { name, description = '' } = input;
  const campaign = { ...settings, name: name!, description, steps, variants, senders };
  return (await storeCampaign(inside, tx, campaign)).id;
}

/**
 * Returns the campaign settings that a run determines. With the schedule mode `auto`, an existing campaign keeps its
 * schedule.
 */
async function settingsOf(org: OrgScope, input: CreateRun, plan: RunPlan): Promise<CampaignSettings> {
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
    unsubscribe_mode: await unsubscribeMode(org, input.opt_out_enabled),
    sender_strategy: 'explicit',
    ...(mode === 'auto' && plan.campaign ? {} : explicit),
  };
}

/** Returns the unsubscribe mode: `off` if disabled, `text` if the workspace's mode is `off`, else the workspace's mode. */
async function unsubscribeMode(org: OrgScope, enabled: boolean): Promise<'inherit' | 'text' | 'off'> {
  if (!enabled) return 'off';
  const { unsubscribe } = await effectiveSettings(org, null);
  return unsubscribe.mode === 'off' ? 'text' : 'inherit';
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

async function storeRun(tx: Tx, campaignId: string, input: CreateRun, plan: RunPlan): Promise<RunRow> {
  const recipients = await countRecipients(tx.org, campaignId);
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
      campaign_id: campaignId,
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
