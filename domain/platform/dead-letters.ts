import type { Message } from '../../messages/index.ts';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import type { Tx } from './kernel/transact.ts';

/**
 * A campaign email that could not be delivered. Each task type belongs to a family (`activities/<family>.ts`), which
 * retries it.
 */
export const FAILED_EMAIL = 'campaign_email';
/** An undeliverable email that a person or an agent wrote. */
export const FAILED_DIRECT_EMAIL = 'direct_email';
/** A failed refund. Replaying the dead letter queries the payment provider again. */
export const REFUND = 'order_refund';
/** A renewal of a managed domain that failed and needs a person. Replaying the dead letter repeats the renewal. */
export const RENEWAL = 'domain_renewal';
/** An email that may have been sent. A person who replays the dead letter decides to send the email again. */
export const UNCERTAIN_EMAIL = 'uncertain_email';

/** Objects that an order of mailboxes created at the provider and that could not be removed. */
export const UNDO_OF_ORDER = 'mailbox_order_undo';

/** A delivery that a provider refused, or did not answer for too long. */
export const INTEGRATION_DELIVERY = 'integration_delivery';
/**
 * Deliveries dropped because an account was not reconnected. The dead letter cannot be replayed; a person marks it as
 * done.
 */
export const INTEGRATION_BACKLOG = 'integration_backlog';
/** A webhook of a scheduling provider that could not be parsed. Replaying the dead letter parses the body again. */
export const INTEGRATION_WEBHOOK = 'integration_webhook';
/** Deliveries of a connection whose workflow kept failing. */
export const INTEGRATION_RUN = 'integration_run';

/** A replay of a goal that failed repeatedly. */
export const REPLAY = 'goal_replay';
/**
 * An event that a goal's replay skipped because it kept failing. Replaying the dead letter replays the goal for the
 * time of that event.
 */
export const REPLAY_EVENT = 'goal_replay_event';

/** An automation that triggered itself too often in succession, directly or through others. */
export const AUTOMATION_LOOP = 'automation_loop';
/** A run of an automation that kept failing. */
export const AUTOMATION_RUN = 'automation_run';

/** Work that failed permanently. */
interface NewDeadLetter {
  /** Id of the row that the work belongs to. */
  taskId: string;
  taskType: string;
  /** Ids of the rows that the failed work is about. */
  payload: Record<string, string | null>;
  /** Reason of the failure. */
  error: Message;
  attempts: number;
  /** Maximum number of attempts. 0 means that there is no limit. */
  maxAttempts: number;
  /** Time at which the sweep retries the work. Null if only a person can retry it. */
  nextRetryAt: Date | null;
}

/** Records failed work as a dead letter. Updates the pending dead letter of the task, if there is one. */
export async function addDeadLetter(tx: Tx, given: NewDeadLetter): Promise<void> {
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

/** Deletes the pending dead letter of a task that no longer needs a replay. */
export async function dropDeadLetter(tx: Tx, taskType: string, taskId: string): Promise<void> {
  await tx.org.table('dead_letters').where({ task_type: taskType, task_id: taskId, status: 'pending' }).delete();
}

/**
 * Marks the pending dead letter of a task as replayed, because the task was started again.
 * @returns false if no dead letter is pending because another replay has settled it
 */
export async function replayDeadLetter(tx: Tx, taskType: string, taskId: string): Promise<boolean> {
  const changed = await tx.org
    .table('dead_letters')
    .where({ task_type: taskType, task_id: taskId, status: 'pending' })
    .update({ status: 'replayed', replayed_at: tx.now, next_retry_at: null, updated_at: tx.now });
  return changed > 0;
}
