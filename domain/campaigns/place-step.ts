import { refuseProblems, type Problem } from '../../lib/errors.ts';
import {
  defaultConditions,
  firstStep,
  graphProblems,
  normalBranch,
  normalSuccessor,
  retargetConditions,
  type Branch,
  type GraphStep,
  type StepConditions,
} from '../sending/campaign/graph.ts';
import { message } from '../../messages/index.ts';

/** Where a step is put: behind another one, on its normal way or on one of its branches (by index); null: at the beginning. */
export interface StepPlace {
  after: string | null;
  branch?: number | undefined;
}

/** A step as its place makes it. */
interface PlacedStep {
  id: string;
  position: number;
  conditions: StepConditions;
}

/**
 * The steps of a campaign after one of them was put in another place: links to it lead on to where it led, it takes over the link it is put into,
 * and its own normal way goes on to where that link went. Its other branches stay.
 * @param steps all of them, in order; the moved one is among them, linked or not
 * @throws AppError bad_request where there is no such place, or the steps would go round in a circle
 */
export function placeStep(steps: readonly GraphStep[], stepId: string, { after, branch }: StepPlace): PlacedStep[] {
  refuseProblems(placeProblems(steps, { after, branch }, stepId));
  const moved = steps.find(({ id }) => id === stepId)!;
  const led = normalSuccessor(moved);
  const others = steps
    .filter(({ id }) => id !== stepId)
    .map((step) => ({ ...step, conditions: retargetConditions(step.conditions, (to) => (to === stepId ? led : to)) }));
  const before = others.find(({ id }) => id === after);
  const next = before ? putBehind(before, stepId, branch) : (firstStep(others)?.id ?? null);
  const at = before ? others.indexOf(before) + 1 : 0;
  const ordered: GraphStep[] = others.toSpliced(at, 0, { ...moved, conditions: leadOn(moved, next) });
  const placed = ordered.map((step, position) => ({ ...step, position }));
  refuseProblems(graphProblems(placed, ({ id }) => (id === stepId ? 'body.place' : `steps.${id}`)));
  return placed;
}

/** Links a step to the one that is put behind it. @returns where that link went before */
function putBehind(before: GraphStep, stepId: string, branch: number | undefined): string | null {
  const { branches } = before.conditions;
  if (branch !== undefined) {
    const link = branches[branch]!;
    before.conditions = { ...before.conditions, branches: branches.with(branch, { ...link, to: stepId }) };
    return link.to;
  }
  const normal = normalBranch(before);
  before.conditions = {
    ...before.conditions,
    branches: normal ? relink(before, stepId) : [...branches, ...defaultConditions(before.action, stepId).branches],
  };
  return normal?.to ?? null;
}

/** The links of the moved step: its normal way, and whatever led to the same step, goes on to `next`. */
function leadOn(moved: GraphStep, next: string | null): StepConditions {
  const { branches } = moved.conditions;
  if (branches.length === 0) return { ...moved.conditions, ...defaultConditions(moved.action, next) };
  const links = relink(moved, next);
  const last = links.at(-1)!;
  // A plain link to nowhere at the end says what no link says.
  const isIdle = last.to === null && (last.when ?? []).length === 0;
  return { ...moved.conditions, branches: isIdle ? links.slice(0, -1) : links };
}

/** The branches of a step whose normal way, and whatever leads to the same step, lead to another one. */
function relink(step: GraphStep, to: string | null): Branch[] {
  const normal = normalBranch(step);
  return step.conditions.branches.map((link) =>
    link === normal || (link.to !== null && link.to === normal?.to) ? { ...link, to } : link,
  );
}

/** Why a campaign has no such place for a step; `stepId` is left out for a new one. */
export function placeProblems(steps: readonly GraphStep[], { after, branch }: StepPlace, stepId?: string): Problem[] {
  if (after === null) return [];
  const before = steps.find(({ id }) => id === after && id !== stepId);
  if (!before) return [{ path: 'body.place.after', message: message('steps.other_of_campaign') }];
  if (before.action?.type === 'end') return [{ path: 'body.place.after', message: message('steps.nothing_after_end') }];
  if (branch !== undefined && !before.conditions.branches[branch])
    return [{ path: 'body.place.branch', message: message('steps.not_a_branch') }];
  return [];
}
