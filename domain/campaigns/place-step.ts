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

/**
 * Place of a step in the graph: after the step `after`, on its default link or on the branch with the index `branch`.
 * If `after` is null, the step becomes the first.
 */
export interface StepPlace {
  after: string | null;
  branch?: number | undefined;
}

/** A step with its new position and links. */
interface PlacedStep {
  id: string;
  position: number;
  conditions: StepConditions;
}

/**
 * Moves a step to another place. Links to the step are redirected to its default successor. At the new place, the link
 * is changed to lead to the step, and the step's default link leads to the link's former target. Other branches do not
 * change.
 * @param steps all steps in order, including the moved one, linked or not
 * @throws AppError bad_request if the place does not exist, or if the steps would form a cycle
 */
export function placeStep(steps: readonly GraphStep[], stepId: string, { after, branch }: StepPlace): PlacedStep[] {
  refuseProblems(placeProblems(steps, { after, branch }, stepId));
  const moved = steps.find(({ id }) => id === stepId)!;
  const led = normalSuccessor(moved);
  const others = steps
    .filter(({ id }) => id !== stepId)
    .map((step) => ({ ...step, conditions: retargetConditions(step.conditions, (to) => (to === stepId ? led : to)) }));
  const before = others.find(({ id }) => id === after);
  const next = before ? insertAfterStep(before, stepId, branch) : (firstStep(others)?.id ?? null);
  const at = before ? others.indexOf(before) + 1 : 0;
  const ordered: GraphStep[] = others.toSpliced(at, 0, { ...moved, conditions: continueTo(moved, next) });
  const placed = ordered.map((step, position) => ({ ...step, position }));
  refuseProblems(graphProblems(placed, ({ id }) => (id === stepId ? 'body.place' : `steps.${id}`)));
  return placed;
}

/** Inserts a step after another one. @returns former target of the link */
function insertAfterStep(before: GraphStep, stepId: string, branch: number | undefined): string | null {
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

/** Redirects the default link of the moved step, and its other branches with the same target, to `next`. */
function continueTo(moved: GraphStep, next: string | null): StepConditions {
  const { branches } = moved.conditions;
  if (branches.length === 0) return { ...moved.conditions, ...defaultConditions(moved.action, next) };
  const links = relink(moved, next);
  const last = links.at(-1)!;
  // Drops a last link without target and conditions, which has no effect.
  const isIdle = last.to === null && (last.when ?? []).length === 0;
  return { ...moved.conditions, branches: isIdle ? links.slice(0, -1) : links };
}

/** Redirects a step's default link, and its other branches with the same target, to another step. */
function relink(step: GraphStep, to: string | null): Branch[] {
  const normal = normalBranch(step);
  return step.conditions.branches.map((link) =>
    link === normal || (link.to !== null && link.to === normal?.to) ? { ...link, to } : link,
  );
}

/** Lists problems of the place at which a step is to be inserted. Omit `stepId` for a new step. */
export function placeProblems(steps: readonly GraphStep[], { after, branch }: StepPlace, stepId?: string): Problem[] {
  if (after === null) return [];
  const before = steps.find(({ id }) => id === after && id !== stepId);
  if (!before) return [{ path: 'body.place.after', message: message('steps.other_of_campaign') }];
  if (before.action?.type === 'end') return [{ path: 'body.place.after', message: message('steps.nothing_after_end') }];
  if (branch !== undefined && !before.conditions.branches[branch])
    return [{ path: 'body.place.branch', message: message('steps.not_a_branch') }];
  return [];
}
