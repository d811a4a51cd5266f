import type { StepAction } from '../campaign/actions.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Takes a lock until the commit, so that a wait of a contact is never opened while an event of the contact is being
 * published. Either the event finds the open wait, or the wait finds the earlier event. Publishers share the lock, so
 * several events may be published at once.
 */
export async function lockWaitsOf(tx: Tx, contactId: string, who: 'open' | 'publish'): Promise<void> {
  const lock = who === 'open' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  await tx.org.sql(
    `select ${lock}(hashtextextended(cast(:org as text) || '/waits/' || :contact, 0))` as `${string}:org${string}`,
    { contact: contactId },
  );
}

/**
 * Updates the open waits of an edited step: new event name and deadline, or cancelled if the step no longer waits for
 * an event. Skips a wait that another transaction is settling. A wait that begins concurrently is corrected when its
 * workflow, which the edit signals, reads the step again.
 */
export async function moveWaits(tx: Tx, stepId: string, action: StepAction | null): Promise<void> {
  const held = `select id from waits where organization_id = :org and step_id = :step and state = 'open' order by id for update skip locked`;
  if (action?.type === 'wait_for_event') {
    await tx.org.sql(
      `with held as (${held})
       update waits w set event_name = :name, deadline = w.opened_at + :minutes::float8 * interval '1 minute' from held where w.id = held.id`,
      { step: stepId, name: action.wait_event_name, minutes: action.timeout_minutes },
    );
    return;
  }
  await tx.org.sql(
    `with held as (${held}) update waits w set state = 'cancelled', settled_at = :now from held where w.id = held.id`,
    { step: stepId, now: tx.now },
  );
}

/** Ends the wait of a step run whose step no longer waits for an event, unless an edit has already ended the wait. */
export async function endWait(tx: Tx, stepRunId: string): Promise<void> {
  await tx.org
    .table('waits')
    .where({ step_run_id: stepRunId, state: 'open' })
    .update({ state: 'cancelled', settled_at: tx.now });
}
