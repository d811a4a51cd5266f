import { DAY_MS } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { message, type Message } from '../../messages/index.ts';
import type { NewDeal } from './deals.ts';
import type { NewTask, TaskPriority } from './tasks.ts';

/**
 * Builds the task requested by an automation or a campaign step, with its texts filled in. `due_in_days` counts from
 * now.
 * @param config as defined by `taskFields` (domain/sending/campaign/crm-actions.ts)
 * @throws AppError conflict if the title is empty
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
 * Builds the deal requested by an automation or a campaign step. The name is trimmed and shortened to 255 characters.
 * @param config as defined by `dealFields` (domain/sending/campaign/crm-actions.ts)
 * @throws AppError conflict if the name is empty
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

/** Trims a rendered text and shortens it to `maxLength` characters. */
export function filledIn(value: unknown, maxLength: number): string {
  const words = text(value).trim().slice(0, maxLength);
  if (words === '') throw new AppError('conflict', message('crm.action_text_empty'));
  return words;
}

/** Returns the reason why an action was refused: the error's first problem, or its message if it lists no problems. */
export function refusalReason({ said, problems = [] }: AppError): Message {
  const [problem] = problems;
  if (!problem) return said;
  return message('crm.field_fault', { field: problem.path.replace('body.', ''), problem: problem.message });
}

/** Returns a text value unchanged, and an empty string for any other value. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns a non-empty text. Returns undefined for any other value. */
export function optional(value: unknown): string | undefined {
  return text(value) || undefined;
}
