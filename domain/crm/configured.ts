import { DAY_MS } from '../../lib/clock.ts';
import { AppError, type Said } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';
import type { NewDeal } from './deals.ts';
import type { NewTask, TaskPriority } from './tasks.ts';

/**
 * The task that an automation or a step of a campaign asks for, its texts filled in; due so many days from now.
 * @param config as `taskFields` has it (records/crm-actions.ts)
 * @throws AppError conflict where nothing is left of the title
 */
export function configuredTask(config: Readonly<Record<string, unknown>>, now: Date): NewTask {
  const { title, description, priority, due_in_days: days, assigned_to: assigned } = config;
  return {
    title: filledIn(title, 255),
    description: optional(description)?.slice(0, 5000),
    priority: priority as TaskPriority,
    due_date: typeof days === 'number' ? new Date(now.getTime() + days * DAY_MS) : undefined,
    assigned_to: optional(assigned),
  };
}

/**
 * The deal that an automation or a step of a campaign asks for, its name filled in.
 * @param config as `dealFields` has it (records/crm-actions.ts)
 * @throws AppError conflict where nothing is left of the name
 */
export function configuredDeal(config: Readonly<Record<string, unknown>>): NewDeal {
  return {
    name: filledIn(config.name, 255),
    pipeline_id: text(config.pipeline_id),
    stage_id: text(config.stage_id),
    value: config.value as number | undefined,
    currency: optional(config.currency),
    assigned_to: optional(config.assigned_to),
  };
}

/** A text whose fields are filled in, cut to its length. @throws AppError conflict for one that came out empty */
export function filledIn(value: unknown, maxLength: number): string {
  const words = text(value).trim().slice(0, maxLength);
  if (words === '') throw new AppError('conflict', message('crm.action_text_empty'));
  return words;
}

/** The reason why an action was refused: its first fault, or the refusal itself. */
export function refusalReason({ said, problems = [] }: AppError): Said {
  const [problem] = problems;
  if (!problem) return said;
  return message('crm.field_fault', { field: problem.path.replace('body.', ''), problem: problem.message });
}

/** A value that is a text; anything else is none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text that says something; undefined for any other value. */
export function optional(value: unknown): string | undefined {
  return text(value) || undefined;
}
