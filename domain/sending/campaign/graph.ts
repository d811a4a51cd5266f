import { z } from 'zod';
import type { CampaignStepRow } from '../../../db/models/campaign-step.ts';
import type { Problem } from '../../../lib/errors.ts';
import type { StepAction } from './actions.ts';
import { message } from '../../../messages/index.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const OPERATORS = ['equals', 'not_equals', 'contains', 'exists', 'not_exists', 'gt', 'lt'] as const;

/** Outcome of a step. Branches depend on it. */
export type Outcome = 'sent' | 'uncertain' | 'skipped' | 'elapsed' | 'event' | 'timeout' | 'success' | 'error' | 'done';

/**
 * Fields that a condition can test: `node_outcome`; `opened`, `clicked`, `replied` of the latest email sent;
 * `contact.<field>` and `contact.custom.<key>`; `app.<output_key>.<path>`; `event.<path>` of the awaited event.
 */
const FIELD =
  /^(node_outcome|opened|clicked|replied|contact\.(email|first_name|last_name|company|phone|custom\..+)|app\..+|event\..+)$/;

const conditionSchema = z
  .looseObject({
    field: z.string().max(256).regex(FIELD, ruleMessage('steps.branch_field')),
    operator: z.enum(OPERATORS),
    value: z.union([z.string().max(1000), z.number(), z.boolean()]).optional(),
  })
  .superRefine((condition, context) => {
    const needsValue = condition.operator !== 'exists' && condition.operator !== 'not_exists';
    if (needsValue && condition.value === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['value'],
        message: ruleMessage('steps.operator_needs_value', { operator: condition.operator }),
      });
    }
  });

/** Outgoing links of a step, in order. Unknown keys are kept, because `conditions` are stored verbatim. */
export const conditionsSchema = z.looseObject({
  branches: z
    .array(
      z.looseObject({
        /** Id of the next step. Null ends the flow. */
        to: z.uuid().nullable(),
        /** Conditions that must all hold. An absent or empty list makes an unconditional link. */
        when: z.array(conditionSchema).max(20).optional(),
      }),
    )
    .max(20)
    .default([]),
});

export interface Condition {
  field: string;
  operator: (typeof OPERATORS)[number];
  value?: unknown;
}

export interface Branch {
  to: string | null;
  when?: Condition[] | undefined;
}

/** A type alias instead of an interface, so that TypeScript accepts it as a JSON object. */
export type StepConditions = { branches: Branch[] };

/** Fields of a step that routing needs. */
export interface GraphStep {
  id: string;
  position: number;
  kind: 'email' | 'action' | 'wait';
  conditions: StepConditions;
  action: StepAction | null;
}

/** Facts known when a contact leaves a step. */
export interface Facts {
  outcome: Outcome;
  opened: boolean;
  clicked: boolean;
  replied: boolean;
  contact: Record<string, unknown> & { custom_fields: Record<string, unknown> };
  /** Values stored by earlier steps, by output key. */
  app: Record<string, unknown>;
  /** Data of the event that ended a `wait_for_event` step. Null for other steps. */
  event: Record<string, unknown> | null;
}

/** Returns facts that contain only the step's outcome, without reactions and values. */
export function factsAfter(outcome: Outcome): Facts {
  return {
    outcome,
    opened: false,
    clicked: false,
    replied: false,
    contact: { custom_fields: {} },
    app: {},
    event: null,
  };
}

/** Returns the first step of a campaign: the one with the lowest position. */
export function firstStep<S extends GraphStep>(steps: readonly S[]): S | null {
  return steps.reduce<S | null>((first, step) => (first && first.position <= step.position ? first : step), null);
}

/**
 * Returns the first branch whose conditions all hold, or null. A branch without conditions always holds. Null means
 * that no branch handles this outcome; a lead whose `app_action` failed is then blocked. A branch with `to` null ends
 * the flow.
 */
export function matchingBranch(step: GraphStep, facts: Facts): Branch | null {
  return (
    (step.conditions.branches ?? []).find((branch) =>
      (branch.when ?? []).every((condition) => holds(condition, facts)),
    ) ?? null
  );
}

/** Fields of a condition that depend on the recipient's reaction to a sent email. */
const ENGAGEMENT: ReadonlySet<string> = new Set(['opened', 'clicked', 'replied']);

/**
 * Returns the branches between which the recipient's reactions (open, click, reply) will decide. Empty if reactions
 * cannot change the next step. All other conditions of these branches hold. The last branch has no condition on
 * reactions, if such a branch exists.
 */
export function branchesInSuspense(step: GraphStep, facts: Facts): Branch[] {
  const open: Branch[] = [];
  for (const branch of step.conditions.branches ?? []) {
    const others = (branch.when ?? []).filter(({ field }) => !ENGAGEMENT.has(field));
    if (!others.every((condition) => holds(condition, facts))) continue;
    open.push(branch);
    if (others.length === (branch.when ?? []).length) break;
  }
  return open.some(({ when }) => (when ?? []).some(({ field }) => ENGAGEMENT.has(field))) ? open : [];
}

/**
 * Returns the default links of a step. An `app_action` continues after success only, and a `wait_for_event` with
 * `on_timeout: stop` after the event only. `end` has no next step; all other steps always continue.
 */
export function defaultConditions(action: StepAction | null, to: string | null): StepConditions {
  if (to === null || action?.type === 'end') return { branches: [] };
  const only = (outcome: Outcome): StepConditions => ({
    branches: [{ to, when: [{ field: 'node_outcome', operator: 'equals', value: outcome }] }],
  });
  if (action?.type === 'app_action') return only('success');
  if (action?.type === 'wait_for_event' && action.on_timeout === 'stop') return only('event');
  return { branches: [{ to }] };
}

/** Returns the step that normally follows. If `step` is deleted, links to it are redirected there. */
export function normalSuccessor(step: GraphStep): string | null {
  return normalBranch(step)?.to ?? null;
}

/** Returns the branch a contact normally takes, without reactions or values. */
export function normalBranch(step: GraphStep): Branch | null {
  const outcome: Outcome = step.kind === 'email' ? 'sent' : (NORMAL_OUTCOMES[step.action?.type ?? ''] ?? 'done');
  return matchingBranch(step, factsAfter(outcome));
}

const NORMAL_OUTCOMES: Record<string, Outcome> = { app_action: 'success', wait_for_event: 'event', wait: 'elapsed' };

/**
 * Returns the conditions with each target replaced by `map`. A branch whose target maps to undefined ends the flow.
 */
export function retargetConditions(
  conditions: StepConditions,
  target: (to: string) => string | null | undefined,
): StepConditions {
  return {
    ...conditions,
    branches: (conditions.branches ?? []).map((branch) => ({
      ...branch,
      to: branch.to === null ? null : (target(branch.to) ?? null),
    })),
  };
}

/**
 * Returns problems of a graph's shape: links to missing steps, and cycles, which a contact would never leave.
 * @param path returns the position of a step in the request
 */
export function graphProblems(steps: readonly GraphStep[], path: (step: GraphStep) => string): Problem[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const problems: Problem[] = [];
  for (const step of steps) {
    step.conditions.branches.forEach((branch, index) => {
      if (branch.to !== null && !byId.has(branch.to)) {
        problems.push({
          path: `${path(step)}.conditions.branches.${index}.to`,
          message: message('steps.not_of_campaign'),
        });
      }
    });
  }
  const done = new Set<string>();
  const visit = (step: GraphStep, trail: ReadonlySet<string>): void => {
    if (done.has(step.id)) return;
    const further = new Set([...trail, step.id]);
    step.conditions.branches.forEach((branch, index) => {
      const next = branch.to === null ? undefined : byId.get(branch.to);
      if (next && further.has(next.id)) {
        problems.push({
          path: `${path(step)}.conditions.branches.${index}.to`,
          message: message('steps.circle'),
        });
      } else if (next) visit(next, further);
    });
    done.add(step.id);
  };
  for (const step of steps) visit(step, new Set());
  return problems;
}

/** Returns true if a condition holds. Compares scalars as text, because contact fields are always text. */
function holds(condition: Condition, facts: Facts): boolean {
  const actual = factOf(condition.field, facts);
  const { operator, value } = condition;
  if (operator === 'exists') return isPresent(actual);
  if (operator === 'not_exists') return !isPresent(actual);
  if (operator === 'equals') return isEqual(actual, value);
  if (operator === 'not_equals') return !isEqual(actual, value);
  if (operator === 'contains') return contains(actual, value);
  const [left, right] = [toNumber(actual), toNumber(value)];
  if (left === null || right === null) return false;
  return operator === 'gt' ? left > right : left < right;
}

function factOf(field: string, facts: Facts): unknown {
  if (field === 'node_outcome') return facts.outcome;
  if (field === 'opened' || field === 'clicked' || field === 'replied') return facts[field];
  const [scope, ...path] = field.split('.');
  if (scope === 'app') return read(facts.app, path);
  if (scope === 'event') return read(facts.event, path);
  if (scope !== 'contact') return undefined;
  // Names of custom fields may contain dots.
  return path[0] === 'custom'
    ? read(facts.contact.custom_fields, [path.slice(1).join('.')])
    : read(facts.contact, path);
}

function read(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    root,
  );
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isEqual(actual: unknown, value: unknown): boolean {
  return isScalar(actual) && isScalar(value) && String(actual) === String(value);
}

function contains(actual: unknown, value: unknown): boolean {
  if (!isScalar(value)) return false;
  if (Array.isArray(actual)) return actual.some((element) => isEqual(element, value));
  return isScalar(actual) && String(actual).toLowerCase().includes(String(value).toLowerCase());
}

function toNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Converts a step row to a step of the routing graph. */
export function toGraphStep(
  row: Pick<CampaignStepRow, 'id' | 'position' | 'kind' | 'conditions' | 'action'>,
): GraphStep {
  const conditions = row.conditions as Partial<StepConditions> | null;
  return {
    id: row.id,
    position: row.position,
    kind: row.kind,
    conditions: { ...conditions, branches: conditions?.branches ?? [] },
    action: row.action as unknown as GraphStep['action'],
  };
}
