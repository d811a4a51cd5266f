import { Campaigns, type CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps, type CampaignStepRow } from '../../db/models/campaign-step.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { notFound, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { signalLauncher } from '../sending/control/signals.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { defaultThreadReply } from '../mail/messages/threading.ts';
import { assertAsSeen } from '../platform/as-seen.ts';
import { copyWarnings, defaultWaitAfter, kindOf } from './build-steps.ts';
import { oneTimeProblems } from './checks.ts';
import { editSteps } from './edit-check.ts';
import { stepProblems, toGraphStep } from '../sending/campaign/step-findings.ts';
import {
  defaultConditions,
  graphProblems,
  normalSuccessor,
  retargetConditions,
  type GraphStep,
} from '../sending/campaign/graph.ts';
import { MAX_STEPS, type StepUpdate } from './input.ts';
import { placeProblems, placeStep, type StepPlace } from './place-step.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { assertMayWriteSteps } from '../approvals/automation-rights.ts';
import { assertNotFull } from '../platform/full-list.ts';
import { moveWaits } from '../sending/control/waits.ts';
import { message, type Message } from '../../messages/index.ts';

export type { CampaignStepRow } from '../../db/models/campaign-step.ts';

/** A step, with warnings about its copy. */
interface WrittenStep {
  step: CampaignStepRow;
  warnings: string[];
}

/**
 * The steps of a campaign in order.
 * @throws AppError not_found
 */
export async function listSteps(ctx: Ctx, campaignId: string): Promise<CampaignStepRow[]> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  return org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position');
}

/**
 * Appends a step (by default an empty email), and links the step before it, when that one ends the flow
 * without being an `end`; with a place it is put there instead.
 * @throws AppError not_found, bad_request with all faults, without such a place or when the campaign has its steps; forbidden as {@link assertMayWriteSteps}
 */
export async function appendStep(
  ctx: Ctx,
  campaignId: string,
  input: StepUpdate = {},
  place?: StepPlace,
): Promise<WrittenStep> {
  return transact(ctx, async (tx) => {
    const { campaign, rows } = await lockSteps(tx, campaignId);
    const kind = input.kind ?? kindOf(input.action ?? null);
    refuseProblems(
      oneTimeProblems(campaign.kind, [
        ...rows.map((row) => checkable(row, row.id)),
        { kind, action: null, path: 'body' },
      ]),
    );
    await assertMayWriteSteps(tx.org, ctx.actor, [{ action: input.action, path: 'body' }]);
    assertNotFull(rows.length, { most: MAX_STEPS, what: message('steps.most') });
    const stepId = newId();
    // An active campaign's errors are looked up before the step is there, so that its own count as new.
    const action = await editSteps(tx, campaign, async () => {
      const step = await insertLast(tx, campaign, rows, stepId, { isLinked: !place });
      if (Object.keys(input).length === 0 && !place) return null;
      const { rows: linked } = await lockSteps(tx, campaignId);
      const change = edited(step, { ...input, kind, ...threading(rows, kind, input) });
      const stored = await storeChange(tx, campaign, linked, stepId, change);
      if (place) await storePlace(tx, campaignId, stepId, place);
      return stored;
    });
    await moveWaits(tx, stepId, action);
    await stepsChanged(tx, campaign, message('log.step_added'), stepId, { signalRuns: place !== undefined });
    return written(tx, stepId);
  });
}

/** Inserts an empty email behind the last step and links that one to it, if it ends the flow without being an `end` and it is asked for. */
async function insertLast(
  tx: Tx,
  campaign: CampaignRow,
  rows: readonly CampaignStepRow[],
  id: string,
  { isLinked }: { isLinked: boolean },
): Promise<CampaignStepRow> {
  const last = rows.at(-1);
  const step = await tx.org.create(CampaignSteps, {
    id,
    campaign_id: campaign.id,
    position: (last?.position ?? -1) + 1,
    wait_after: defaultWaitAfter(rows.length),
    conditions: { branches: [] },
    created_at: tx.now,
    updated_at: tx.now,
  });
  if (isLinked && last && toGraphStep(last).conditions.branches.length === 0)
    await store(tx, last.id, {
      conditions: { ...defaultConditions(toGraphStep(last).action, id) },
      updated_at: tx.now,
    });
  return step;
}

/**
 * Changes a step; contacts who have not passed it get the new one. A changed kind or action resets the links to the defaults
 * of its new type, unless they were set by hand or are part of the request.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @param options.place where it is put, after the other changes
 * @throws AppError not_found, bad_request with all faults, conflict when it has another `updated_at` by now
 */
export async function updateStep(
  ctx: Ctx,
  campaignId: string,
  stepId: string,
  input: StepUpdate,
  { expectedUpdatedAt, place }: { expectedUpdatedAt?: Date | undefined; place?: StepPlace | undefined } = {},
): Promise<WrittenStep> {
  return transact(ctx, async (tx) => {
    const { campaign, rows } = await lockSteps(tx, campaignId);
    const row = findStep(rows, stepId);
    assertAsSeen('step', row.updated_at, expectedUpdatedAt);
    await assertMayWriteSteps(tx.org, ctx.actor, [{ action: input.action, path: 'body' }]);
    const change = edited(row, input);
    const action = await editSteps(tx, campaign, async () => {
      const stored = await storeChange(tx, campaign, rows, row.id, change);
      if (place) await storePlace(tx, campaignId, row.id, place);
      return stored;
    });
    const moves = ['wait_after', 'kind', 'action', 'conditions'] as const;
    // Whoever waits by the old step must look at the new one.
    const signalRuns =
      place !== undefined || moves.some((field) => JSON.stringify(row[field]) !== JSON.stringify(change.after[field]));
    await moveWaits(tx, row.id, action);
    await stepsChanged(tx, campaign, message('log.step_changed'), row.id, { signalRuns });
    return written(tx, row.id);
  });
}

/**
 * Stores the change of a step of a locked campaign, checked with the other steps. Returns the action it has now.
 * @throws AppError bad_request with all faults
 */
async function storeChange(
  tx: Tx,
  campaign: CampaignRow,
  rows: readonly CampaignStepRow[],
  stepId: string,
  { input, kind, action, conditions, after }: ReturnType<typeof edited>,
): Promise<GraphStep['action']> {
  refuseProblems(await changeProblems(tx.org, campaign, rows, after));
  await store(tx, stepId, {
    ...input,
    kind,
    action: action as Record<string, unknown> | null,
    conditions: { ...conditions },
    updated_at: tx.now,
  });
  return action;
}

/** Puts a step of a locked campaign in another place. @throws AppError bad_request without such a place */
async function storePlace(tx: Tx, campaignId: string, stepId: string, place: StepPlace): Promise<void> {
  const { rows } = await lockSteps(tx, campaignId);
  const before = new Map(rows.map((row) => [row.id, row]));
  for (const { id, position, conditions } of placeStep(rows.map(toGraphStep), stepId, place)) {
    const row = before.get(id)!;
    if (row.position !== position || JSON.stringify(row.conditions) !== JSON.stringify(conditions))
      await store(tx, id, { position, conditions: { ...conditions }, updated_at: tx.now });
  }
}

async function written(tx: Tx, stepId: string): Promise<WrittenStep> {
  const step = (await tx.org.query(CampaignSteps).findById(stepId))!;
  return { step, warnings: copyWarnings(step) };
}

/** A step as it would be after an edit. */
function edited(row: CampaignStepRow, input: StepUpdate) {
  const before = toGraphStep(row);
  const kind = input.kind ?? row.kind;
  const action = input.action === undefined ? (kind === 'email' ? null : before.action) : input.action;
  const conditions = input.conditions ?? followAction(before, action);
  return {
    input,
    kind,
    action,
    conditions,
    after: { ...row, ...input, kind, action, conditions } as unknown as CampaignStepRow,
  };
}

async function changeProblems(
  org: OrgScope,
  campaign: CampaignRow,
  rows: readonly CampaignStepRow[],
  after: CampaignStepRow,
): Promise<Problem[]> {
  const others = rows.filter((other) => other.id !== after.id);
  return [
    ...(await stepProblems(org, [checkable(after, 'body')])),
    ...oneTimeProblems(campaign.kind, [...others.map((other) => checkable(other, other.id)), checkable(after, 'body')]),
    ...graphProblems(inOrder([...others, after]).map(toGraphStep), (step) =>
      step.id === after.id ? 'body' : `steps.${step.id}`,
    ),
  ];
}

/**
 * Faults of an edit of a step beyond the shape of its fields; of as many fields as are given.
 * @throws AppError not_found
 */
export async function stepEditProblems(
  ctx: Ctx,
  campaignId: string,
  stepId: string,
  input: StepUpdate,
  place: StepPlace | undefined,
): Promise<Problem[]> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const rows = await org.query(CampaignSteps).where({ campaign_id: campaign.id });
  return [
    ...(await changeProblems(org, campaign, rows, edited(findStep(rows, stepId), input).after)),
    ...(place ? placeProblems(rows.map(toGraphStep), place, stepId) : []),
  ];
}

/**
 * Faults of the action of a new step, and of the place where it is put.
 * @throws AppError not_found
 */
export async function newStepProblems(
  ctx: Ctx,
  campaignId: string,
  { kind, action = null }: StepUpdate,
  place: StepPlace | undefined,
): Promise<Problem[]> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const rows = place ? await org.query(CampaignSteps).where({ campaign_id: campaign.id }) : [];
  return [
    ...(await stepProblems(org, [{ kind: kind ?? kindOf(action), action, path: 'body' }])),
    ...(place ? placeProblems(rows.map(toGraphStep), place) : []),
  ];
}

/**
 * Removes a step. Steps that led to it lead to the step after it; its variants are removed with it.
 * @throws AppError not_found, bad_request when an active campaign would be left with what a start refuses
 */
export async function deleteStep(ctx: Ctx, campaignId: string, stepId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const { campaign, rows } = await lockSteps(tx, campaignId);
    const row = findStep(rows, stepId);
    const successor = normalSuccessor(toGraphStep(row));
    await editSteps(tx, campaign, async () => {
      for (const other of rows) {
        const { conditions } = toGraphStep(other);
        if (other.id === row.id || !conditions.branches.some((branch) => branch.to === row.id)) continue;
        await store(tx, other.id, {
          conditions: { ...retargetConditions(conditions, (to) => (to === row.id ? successor : to)) },
          updated_at: tx.now,
        });
      }
      await tx.org.query(CampaignSteps).findById(row.id).delete();
      await tx.org.insert('removed_steps', {
        step_id: row.id,
        campaign_id: campaign.id,
        successor_id: successor,
        removed_at: tx.now,
      });
      for (const later of rows.filter((other) => other.position > row.position))
        await store(tx, later.id, { position: later.position - 1 });
    });
    await stepsChanged(tx, campaign, message('log.step_removed'), row.id, { signalRuns: true });
  });
}

async function lockSteps(tx: Tx, campaignId: string): Promise<{ campaign: CampaignRow; rows: CampaignStepRow[] }> {
  const campaign = await lockCampaign(tx, campaignId);
  return { campaign, rows: await tx.org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position') };
}

function findStep(rows: readonly CampaignStepRow[], stepId: string): CampaignStepRow {
  const row = isUuid(stepId) ? rows.find((candidate) => candidate.id === stepId.toLowerCase()) : undefined;
  if (!row) throw notFound('step');
  return row;
}

function inOrder(rows: readonly CampaignStepRow[]): CampaignStepRow[] {
  return [...rows].sort((a, b) => a.position - b.position);
}

function checkable(row: CampaignStepRow, path: string) {
  const { kind, action } = toGraphStep(row);
  return { kind, action, path };
}

/** Default of `thread_reply` for an appended email: whether it replies in the conversation before it. */
function threading(rows: readonly CampaignStepRow[], kind: GraphStep['kind'], input: StepUpdate): StepUpdate {
  if (kind !== 'email' || input.thread_reply !== undefined || input.subject === undefined) return {};
  let conversation = '';
  for (const row of rows.filter((earlier) => earlier.kind === 'email')) {
    if (conversation === '' || !row.thread_reply) conversation = row.subject.trim() || conversation;
  }
  return { thread_reply: defaultThreadReply(input.subject, conversation) };
}

/** The links of a step whose action changed: default links follow the action, links set by hand stay. */
function followAction(before: GraphStep, action: GraphStep['action']): GraphStep['conditions'] {
  const to = before.conditions.branches[0]?.to ?? null;
  const asDefault = JSON.stringify(defaultConditions(before.action, to).branches);
  return JSON.stringify(before.conditions.branches) === asDefault ? defaultConditions(action, to) : before.conditions;
}

async function store(tx: Tx, stepId: string, columns: Partial<CampaignStepRow>): Promise<void> {
  await tx.org.query(CampaignSteps).findById(stepId).patch(columns);
}

/**
 * Raises the graph version, so that runs read the steps again, and announces the change.
 * @param options.signalRuns have the launcher signal every run: some may wait without a timer
 */
async function stepsChanged(
  tx: Tx,
  campaign: CampaignRow,
  said: Message,
  stepId: string,
  { signalRuns = false } = {},
): Promise<void> {
  await tx.org
    .query(Campaigns)
    .findById(campaign.id)
    .patch({
      graph_version: tx.org.raw('graph_version + 1'),
      ...(signalRuns ? { control_epoch: tx.org.raw('control_epoch + 1') } : {}),
      updated_at: tx.now,
    });
  await logCampaign(tx, campaign.id, 'steps_changed', said, { step_id: stepId });
  tx.emit('campaign.updated', { campaign_id: campaign.id, name: campaign.name, fields: ['steps'] });
  tx.audit({
    action: 'update',
    entityType: 'campaign',
    entityId: campaign.id,
    metadata: { steps: said.code, step_id: stepId },
  });
  if (campaign.status === 'active') signalLauncher(tx, campaign.id, 'edited');
}
