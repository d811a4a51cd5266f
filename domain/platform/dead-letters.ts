import type { Message } from '../../messages/index.ts';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import type { Tx } from './kernel/transact.ts';

/** A campaign's email that could not be handed over. Each kind of task belongs to a family (`activities/<family>.ts`), which retries it. */
export const FAILED_EMAIL = 'campaign_email';
/** An email that a person or an agent wrote and that could not be handed over. */
export const FAILED_DIRECT_EMAIL = 'direct_email';
/** Money that is to go back, and did not: replaying it asks the payment provider again. */
export const REFUND = 'order_refund';
/** The renewal of a managed domain that needs a person: replaying it tries it again. */
export const RENEWAL = 'domain_renewal';
/** The email may have left: replaying it is the decision to send it again. */
export const UNCERTAIN_EMAIL = 'uncertain_email';

/** What an order of mailboxes made at its provider and could not undo. */
export const UNDO_OF_ORDER = 'mailbox_order_undo';

/** What a provider refused, or did not answer for too long. */
export const INTEGRATION_DELIVERY = 'integration_delivery';
/** What waited for an account that nobody connected again, and was dropped: a person who has read it settles it. */
export const INTEGRATION_BACKLOG = 'integration_backlog';
/** A webhook of a scheduling provider that could not be read: replaying it reads it again. */
export const INTEGRATION_WEBHOOK = 'integration_webhook';
/** The deliveries of a connection, whose run kept failing. */
export const INTEGRATION_RUN = 'integration_run';

/** The replay of a goal that kept failing. */
export const REPLAY = 'goal_replay';
/** An event that the replay of a goal passed over, because it kept failing: replaying it replays the goal at its moment. */
export const REPLAY_EVENT = 'goal_replay_event';

/** An automation that started itself, by others, too often in a row. */
export const AUTOMATION_LOOP = 'automation_loop';
/** A run of an automation that kept failing. */
export const AUTOMATION_RUN = 'automation_run';

/** Work that failed for the last time. */
interface GivenUp {
  /** The row that the work belongs to. */
  taskId: string;
  taskType: string;
  /** Ids that lead to it. */
  payload: Record<string, string | null>;
  /** The reason. */
  error: Message;
  attempts: number;
  /** Attempts it may have; 0 when they are not limited. */
  maxAttempts: number;
  /** When the sweep retries it; null when only a person does. */
  nextRetryAt: Date | null;
}

/** Records failed work as a dead letter. A task has one pending dead letter: a later one updates it. */
export async function addDeadLetter(tx: Tx, given: GivenUp): Promise<void> {
  await tx.org.sql(
    `insert into dead_letters (id, organization_id, task_id, task_type, payload, last_error, attempts, max_attempts, next_retry_at, created_at, updated_at)
     values (:id, :org, :task, :type, :payload, cast(:error as jsonb), :attempts, :max, :next, :now, :now)
     on conflict (task_type, task_id) where status = 'pending' do update
       set payload = excluded.payload, last_error = excluded.last_error, attempts = excluded.attempts, max_attempts = excluded.max_attempts,
         next_retry_at = excluded.next_retry_at, updated_at = excluded.updated_at`,
    {
      id: newId(),
      task: given.taskId,
      type: given.taskType,
      payload: json(given.payload),
      error: json(given.error),
      attempts: given.attempts,
      max: given.maxAttempts,
      next: given.nextRetryAt,
      now: tx.now,
    },
  );
}

/** Takes the pending dead letter of a task away: there is nothing left to replay. */
export async function dropDeadLetter(tx: Tx, taskType: string, taskId: string): Promise<void> {
  await tx.org.table('dead_letters').where({ task_type: taskType, task_id: taskId, status: 'pending' }).delete();
}

/**
 * Marks the pending dead letter of a task as replayed: the task has been started again.
 * @returns false when there is none: another replay was first
 */
export async function replayDeadLetter(tx: Tx, taskType: string, taskId: string): Promise<boolean> {
  const changed = await tx.org
    .table('dead_letters')
    .where({ task_type: taskType, task_id: taskId, status: 'pending' })
    .update({ status: 'replayed', replayed_at: tx.now, next_retry_at: null, updated_at: tx.now });
  return changed > 0;
}
