import type { StepAction } from '../campaign/actions.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Contacts who wait for an event at a step that has changed wait for its new name, until its new deadline; at a step that
 * waits for no event any more they wait for none. One whose wait is being settled at this moment is passed over; one that
 * begins to wait at this moment is corrected when its run, which the edit signals, reads the step again.
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

/** The wait of a run whose step waits for no event any more is over, if an edit has not ended it already. */
export async function endWait(tx: Tx, stepRunId: string): Promise<void> {
  await tx.org
    .table('waits')
    .where({ step_run_id: stepRunId, state: 'open' })
    .update({ state: 'cancelled', settled_at: tx.now });
}
