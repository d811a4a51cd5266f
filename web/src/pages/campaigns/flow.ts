import type { AnswerOf } from '../../app/api.ts';
import { text, textOf, toNumber } from '../../text/index.ts';

export type Step = AnswerOf<'/v1/campaigns/{id}/steps'>[number];
export type Campaign = AnswerOf<'/v1/campaigns/{id}'>;
export type Flow = AnswerOf<'/v1/campaigns/{id}/flow'>;

/** Props of the fields of a step. */
export interface FieldsProps {
  campaignId: string;
  step: Step;
  steps: readonly Step[];
  isFirst: boolean;
  mayWrite: boolean;
  change: (fields: Partial<Step>) => void;
}

/** Content of an email that steps and A/B variants share. */
export interface EmailContent {
  subject: string;
  body_plain: string;
  body_html: string;
}

/** One condition of a branch. */
export interface Condition {
  field: string;
  operator: string;
  value?: string | number | boolean | undefined;
}

/** Link of a step to another step or to the end. */
export interface Branch {
  to: string | null;
  when?: Condition[] | undefined;
}

/** Action of a step that is not an email. Its fields depend on its type. */
export type Action = { type: string } & Record<string, unknown>;

/** Returns the links of a step in the order in which the workflow checks them. */
export function branchesOf(step: Pick<Step, 'conditions'>): Branch[] {
  return (step.conditions as { branches?: Branch[] }).branches ?? [];
}

/** Returns the type of a step: `email`, or the type of its action. */
export function typeOf(step: Pick<Step, 'kind' | 'action'>): string {
  return step.kind === 'email' ? 'email' : ((step.action as Action | null)?.type ?? 'end');
}

/** Returns a text field of an action; `otherwise` if the field is not text. */
export function textIn(action: Action, field: string, otherwise = ''): string {
  const value = action[field];
  return typeof value === 'string' ? value : otherwise;
}

/** Formats minutes in the largest whole unit. */
function toSpan(minutes: number): string {
  if (minutes % 1440 === 0) return text('step.span.days', { count: minutes / 1440 });
  if (minutes % 60 === 0) return text('step.span.hours', { count: minutes / 60 });
  return text('step.span.minutes', { count: minutes });
}

/** Summarizes a step in one line. */
export function summaryOf(step: Step, isFirst: boolean): string {
  const action = (step.action ?? {}) as Action;
  switch (typeOf(step)) {
    case 'email': {
      const subject = step.subject.trim() || text(isFirst ? 'sequence.noSubject' : 'sequence.sameConversation');
      return isFirst || step.wait_after === 0
        ? subject
        : text('sequence.emailAfter', { count: step.wait_after, subject });
    }
    case 'wait':
      return toSpan(Number(action.wait_minutes));
    case 'wait_for_event': {
      const event = textIn(action, 'wait_event_name');
      return action.timeout_minutes === null
        ? event
        : text('sequence.eventWithin', { event, span: toSpan(Number(action.timeout_minutes)) });
    }
    case 'app_action':
      return textIn(action, 'path');
    case 'create_task':
      return textIn(action, 'title');
    case 'create_deal':
      return textIn(action, 'name');
    case 'notify':
      return textIn(action, 'message') || text('sequence.noMessage');
    default:
      return textOf('sequence.about', typeOf(step), '');
  }
}

/** Formats a branch's conditions; empty for an unconditional link. */
export function conditionsText({ when = [] }: Branch): string {
  return when.map(conditionText).join(` ${text('sequence.and')} `);
}

function conditionText({ field, operator, value }: Condition): string {
  const isReaction = field === 'opened' || field === 'clicked' || field === 'replied';
  if (isReaction && operator === 'equals')
    return value === true || value === 'true' ? textOf('sequence.did', field) : textOf('sequence.didNot', field);
  if (field === 'node_outcome' && operator === 'equals') return textOf('sequence.outcome', String(value));
  return [field.replace(/^contact\.(custom\.)?/, ''), textOf('ways.operator', operator), value ?? ''].join(' ').trim();
}

/** Returns the share of leads at a step that took a link, as text; empty without leads. */
export function shareOf(flow: Flow | undefined, from: string, to: string | null): string {
  const reached = flow?.steps.find(({ step_id }) => step_id === from)?.reached ?? 0;
  const went = flow?.links.find((link) => link.from === from && link.to === to)?.leads ?? 0;
  return reached === 0 || went === 0 || to === null
    ? ''
    : toNumber(went / reached, { style: 'percent', maximumFractionDigits: 0 });
}
