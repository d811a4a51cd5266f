import { Campaigns, type CampaignRow } from '../../db/models/campaign.ts';
import { CampaignSteps, type CampaignStepRow } from '../../db/models/campaign-step.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { notFound, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { signalLauncher } from '../sending/control/signals.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { defaultThreadReply } from '../mail/messages/threading.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import type { MessageError } from '../mail/messages/render-source.ts';
import { copyWarnings, defaultWaitAfter, kindOf } from './build-steps.ts';
import { oneTimeProblems } from './checks.ts';
import { editSteps } from './edit-check.ts';
import { stepProblems } from '../sending/campaign/step-problems.ts';
import {
  defaultConditions,
  graphProblems,
  normalSuccessor,
  retargetConditions,
  toGraphStep,
  type GraphStep,
} from '../sending/campaign/graph.ts';
import { MAX_STEPS, type StepUpdate } from './input.ts';
import { placeProblems, placeStep, type StepPlace } from './place-step.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { isPaused, lockCampaign } from '../sending/control/status.ts';
import { addRechecks, editedSteps } from '../sending/control/rechecks.ts';
import { assertMayWriteSteps } from '../approvals/automation-rights.ts';
import { assertNotFull } from '../platform/full-list.ts';
import { moveWaits } from '../sending/control/waits.ts';
import { message, type Message } from '../../messages/index.ts';

export type { CampaignStepRow } from '../../db/models/campaign-step.ts';

/** A step, with warnings about its copy. */
interface WrittenStep {
  step: CampaignStepRow;
  warnings: MessageError[];
}

/**
 * Lists the steps of a campaign in order.
 * @throws AppError not_found
 */
export async function listSteps(ctx: Ctx, campaignId: string): Promise<CampaignStepRow[]> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  return org.query(CampaignSteps).where({ campaign_id: campaign.id }).orderBy('position');
}

/**
 * Appends a step (by default an empty email). Links the step before it, if that step ends the flow without being an
 * `end`. With `place`, the step is inserted there instead.
 * @throws AppError not_found; bad_request with all problems, for an unknown place or when the campaign has its maximum
 * of steps; forbidden as in {@link assertMayWriteSteps}
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
    // Creates the step inside `editSteps`, which lists existing errors before. Otherwise errors of the new step would
    // be ignored as existing ones.
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
    await recordStepsChange(tx, campaign, rows, message('log.step_added'), stepId);
    return written(tx, stepId);
  });
}

/**
 * Inserts an empty email after the last step. With `isLinked`, links the last step to it if that step ends the flow
 * without being an `end`.
 */
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
 * Changes a step, for all contacts who have not completed it. If the kind or action changes, links get the defaults of
 * the new type, unless a person set them or the request contains them.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @param options.place new position, applied after the other changes
 * @throws AppError not_found, bad_request with all problems, conflict if `updated_at` has changed
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
    assertUnchanged('step', row.updated_at, expectedUpdatedAt);
    await assertMayWriteSteps(tx.org, ctx.actor, [{ action: input.action, path: 'body' }]);
    const change = edited(row, input);
    const action = await editSteps(tx, campaign, async () => {
      const stored = await storeChange(tx, campaign, rows, row.id, change);
      if (place) await storePlace(tx, campaignId, row.id, place);
      return stored;
    });
    await moveWaits(tx, row.id, action);
    await recordStepsChange(tx, campaign, rows, message('log.step_changed'), row.id);
    return written(tx, row.id);
  });
}

/**
 * Stores the change of a step of a locked campaign, checked together with the other steps. Returns the step's current
 * action.
 * @throws AppError bad_request with all problems
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

/** Moves a step of a locked campaign to another place. @throws AppError bad_request for an unknown place */
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

/** Returns a step with the changes of an edit. */
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
 * Lists problems of a step edit that the format of its fields does not show. Checks only the given fields.
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
 * Lists problems of a new step's action and place.
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
 * Removes a step with its variants. Steps that linked to it link to the step after it.
 * @throws AppError not_found, bad_request if an active campaign would get an error that prevents a start
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
    await recordStepsChange(tx, campaign, rows, message('log.step_removed'), row.id);
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

/**
 * Adds the default of `thread_reply` for an email at the end: true if the email continues the previous conversation.
 */
function threading(rows: readonly CampaignStepRow[], kind: GraphStep['kind'], input: StepUpdate): StepUpdate {
  if (kind !== 'email' || input.thread_reply !== undefined || input.subject === undefined) return {};
  let conversation = '';
  for (const row of rows.filter((earlier) => earlier.kind === 'email')) {
    if (conversation === '' || !row.thread_reply) conversation = row.subject.trim() || conversation;
  }
  return { thread_reply: defaultThreadReply(input.subject, conversation) };
}

/** Returns the links of a step after its action changed. Default links follow the action; manually set links stay. */
function followAction(before: GraphStep, action: GraphStep['action']): GraphStep['conditions'] {
  const to = before.conditions.branches[0]?.to ?? null;
  const asDefault = JSON.stringify(defaultConditions(before.action, to).branches);
  return JSON.stringify(before.conditions.branches) === asDefault ? defaultConditions(action, to) : before.conditions;
}

async function store(tx: Tx, stepId: string, columns: Partial<CampaignStepRow>): Promise<void> {
  await tx.org.query(CampaignSteps).findById(stepId).patch(columns);
}

/**
 * Increments the graph version, so that workflows read the steps again, and records the change. The launcher signals
 * the workflows whose next action the change affects.
 */
async function recordStepsChange(
  tx: Tx,
  campaign: CampaignRow,
  before: readonly CampaignStepRow[],
  said: Message,
  stepId: string,
): Promise<void> {
  await tx.org
    .query(Campaigns)
    .findById(campaign.id)
    .patch({
      graph_version: tx.org.raw('graph_version + 1'),
      updated_at: tx.now,
    });
  if (campaign.status === 'active' || isPaused(campaign)) {
    const after = await tx.org.query(CampaignSteps).where({ campaign_id: campaign.id });
    await addRechecks(tx, campaign.id, editedSteps(before, after));
  }
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
