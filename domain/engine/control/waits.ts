import type { StepAction } from '../campaign/actions.ts';
import type { Tx } from '../../kernel/transact.ts';

/**
 * Contacts who wait for an event at a step that has changed wait for its new name, until its new deadline. One whose wait
 * is being settled at this moment is passed over; one that begins to wait at this moment is corrected when its run,
 * which the edit signals, reads the step again.
 */
export async function moveWaits(tx: Tx, stepId: string, action: StepAction | null): Promise<void> {
  if (action?.type !== 'wait_for_event') return;
  await tx.org.sql(
    `with held as (
       select id from waits where organization_id = :org and step_id = :step and state = 'open' order by id for update skip locked
     )
     update waits w set event_name = :name, deadline = w.opened_at + :minutes::float8 * interval '1 minute' from held where w.id = held.id`,
    { step: stepId, name: action.wait_event_name, minutes: action.timeout_minutes },
  );
}
