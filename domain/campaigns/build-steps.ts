import type { OrgScope } from '../../db/tenancy.ts';
import type { Problem } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { inspectSource, sourceWarnings, type MessageError, type MessageField } from '../mail/messages/render-source.ts';
import { defaultThreadReply } from '../mail/messages/threading.ts';
import { defaultConditions, graphProblems, type GraphStep, type StepConditions } from '../sending/campaign/graph.ts';
import { stepProblems } from '../sending/campaign/step-problems.ts';
import type { StepInput } from './input.ts';
import { message } from '../../messages/index.ts';

/** A step to store, before its campaign and timestamps are known. */
export interface NewStep extends GraphStep {
  name: string;
  subject: string;
  body_plain: string;
  body_html: string;
  offer: string;
  angle: string;
  cta: string;
  wait_after: number;
  thread_reply: boolean;
}

/** Returns the default wait (days) before a step: none before the first, three before a follow-up. */
export function defaultWaitAfter(position: number): number {
  return position === 0 ? 0 : 3;
}

/**
 * Builds the steps of a create request, as {@link buildSteps}, and lists all their problems: kinds, actions, ids of other
 * rows, branches.
 */
export async function buildCheckedSteps(
  org: OrgScope,
  inputs: readonly StepInput[],
): Promise<{ steps: NewStep[]; problems: Problem[] }> {
  const { steps, problems } = buildSteps(inputs);
  const checked = steps.map(({ kind, action, position }) => ({ kind, action, path: `body.steps.${position}` }));
  return { steps, problems: [...(await stepProblems(org, checked)), ...problems] };
}

/**
 * Builds the steps of a create request, connected in order. Keeps `conditions` of the request, in which it replaces
 * targets given as an index in `steps` by ids.
 */
export function buildSteps(inputs: readonly StepInput[]): { steps: NewStep[]; problems: Problem[] } {
  const ids = inputs.map(() => newId());
  const problems: Problem[] = [];
  let conversation = '';
  const steps = inputs.map((input, position): NewStep => {
    const kind = input.kind ?? kindOf(input.action ?? null);
    const threadReply = input.thread_reply ?? defaultThreadReply(input.subject, conversation);
    if (kind === 'email' && (conversation === '' || !threadReply)) conversation = input.subject.trim() || conversation;
    const action = input.action ?? null;
    return {
      id: ids[position]!,
      position,
      name: input.name,
      kind,
      subject: input.subject,
      body_plain: input.body_plain,
      body_html: input.body_html,
      offer: input.offer,
      angle: input.angle,
      cta: input.cta,
      wait_after: input.wait_after ?? defaultWaitAfter(position),
      thread_reply: threadReply,
      action,
      conditions: input.conditions
        ? resolveTargets(input.conditions, ids, `body.steps.${position}`, problems)
        : defaultConditions(action, ids[position + 1] ?? null),
    };
  });
  problems.push(
    ...graphProblems(steps, (step) => `body.steps.${step.position}`).filter(
      ({ path }) => !problems.some((known) => known.path === path),
    ),
  );
  return { steps, problems };
}

/** Derives the kind of a step from its action. */
export function kindOf(action: GraphStep['action']): GraphStep['kind'] {
  if (!action) return 'email';
  return action.type === 'wait' || action.type === 'wait_for_event' ? 'wait' : 'action';
}

function resolveTargets(
  conditions: NonNullable<StepInput['conditions']>,
  ids: readonly string[],
  path: string,
  problems: Problem[],
): StepConditions {
  const branches = conditions.branches.map((branch, index) => {
    if (typeof branch.to !== 'number') return { ...branch, to: branch.to };
    const to = ids[branch.to];
    if (to === undefined)
      problems.push({ path: `${path}.conditions.branches.${index}.to`, message: message('steps.no_place') });
    return { ...branch, to: to ?? null };
  });
  return { ...conditions, branches };
}

const COPY: readonly MessageField[] = ['subject', 'body_plain', 'body_html'];

/**
 * Lists template errors in a step's copy, and merge tags of other tools. They are only warnings, because a draft may be
 * unfinished.
 */
export function copyWarnings(copy: Partial<Record<MessageField, string>>): MessageError[] {
  return COPY.flatMap((field) => {
    const source = copy[field];
    if (!source) return [];
    const found = [...inspectSource(field, source).errors, ...sourceWarnings(field, source)];
    return found.map((error) => ({ field, ...error }));
  });
}
