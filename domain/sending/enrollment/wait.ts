import { MINUTE_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { StepAction } from '../campaign/actions.ts';
import { lockWaitsOf } from '../control/waits.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { EngineWait, Snapshot } from './snapshot.ts';

type WaitForEvent = Extract<StepAction, { type: 'wait_for_event' }>;

/** Result of a wait: the step is over, or the contact waits. */
type WaitVerdict =
  | { kind: 'passed'; outcome: 'event' | 'timeout'; output?: Record<string, unknown> }
  | { kind: 'waitForEvent'; eventName: string; until: Date | null };

/** Opens the wait, or returns the outcome that PostgreSQL recorded first: the event or the timeout. */
export async function executeWait(tx: Tx, snapshot: Snapshot, action: WaitForEvent): Promise<WaitVerdict> {
  const known = snapshot.wait;
  // An edit may have cancelled the wait. It is opened again when a later edit restores the step.
  const wait = known && known.state !== 'cancelled' ? known : await openWait(tx, snapshot, action);
  if (wait.state === 'open') await updateOpenWait(tx, wait, action);
  if (wait.state === 'open' && wait.deadline && wait.deadline <= tx.now) {
    const ended = await endInTime(tx, wait);
    if (ended) return ended;
  }
  if (wait.state === 'open') return { kind: 'waitForEvent', eventName: wait.event_name, until: wait.deadline };
  if (wait.state === 'timed_out') return { kind: 'passed', outcome: 'timeout' };
  if (wait.event_id) snapshot.before?.events.push(wait.event_id);
  return { kind: 'passed', outcome: 'event', output: wait.event_data ?? {} };
}

function deadlineFrom(opened: Date, { timeout_minutes: minutes }: WaitForEvent): Date | null {
  return minutes === null ? null : new Date(opened.getTime() + minutes * MINUTE_MS);
}

/**
 * Opens a wait. It covers events since the previous step began its work, so such an event ends the wait at once. For
 * example, an app may report an event before the call of the app has ended.
 */
async function openWait(tx: Tx, snapshot: Snapshot, action: WaitForEvent): Promise<EngineWait> {
  const { enrollment, run, before } = snapshot;
  const enteredAt = before && before.runId !== run!.id ? (before.workBegan ?? tx.now) : tx.now;
  const deadline = deadlineFrom(tx.now, action);
  const bindings = {
    id: snapshot.wait?.id ?? newId(),
    enrollment: enrollment.id,
    run: run!.id,
    campaign: enrollment.campaign_id,
    contact: enrollment.contact_id,
    step: run!.step_id,
    name: action.wait_event_name,
    entered: enteredAt,
    used: before?.events ?? [],
    now: tx.now,
    deadline,
  };
  // Both queries are sent together. The second statement begins once no event of the contact is being published.
  const [, [opened]] = await Promise.all([
    lockWaitsOf(tx, enrollment.contact_id, 'open'),
    tx.org.sql<Pick<EngineWait, 'id' | 'state' | 'event_id' | 'event_data'>>(OPEN_WAIT, bindings),
  ]);
  const wait: EngineWait = { ...opened!, event_name: action.wait_event_name, opened_at: tx.now, deadline };
  snapshot.wait = wait;
  return wait;
}

const OPEN_WAIT = `with begun as (
     update step_runs set state = 'waiting' where organization_id = :org and id = :run
   )
   insert into waits (id, organization_id, enrollment_id, step_run_id, campaign_id, contact_id, step_id, event_name, state, entered_at, opened_at, deadline, event_id, settled_at)
   select :id, :org, :enrollment, :run, :campaign, :contact, :step, :name, case when e.id is null then 'open' else 'resumed' end,
     cast(:entered as timestamptz), cast(:now as timestamptz), cast(:deadline as timestamptz), e.id, case when e.id is not null then cast(:now as timestamptz) end
   from (select) as once left join lateral (
     select id from product_events
     where organization_id = :org and contact_id = :contact and name = :name and received_at >= :entered and occurred_at >= :entered
       and id <> all(cast(:used as uuid[]))
     order by received_at, id limit 1
   ) e on true
   on conflict (step_run_id) do update set state = excluded.state, settled_at = excluded.settled_at, event_id = excluded.event_id,
     event_name = excluded.event_name, entered_at = excluded.entered_at, opened_at = excluded.opened_at, deadline = excluded.deadline
   returning id, state, event_id, (select data from product_events p where p.id = waits.event_id) as event_data`;

/**
 * Updates an open wait to its step's current event name and timeout. The wait may have been opened concurrently with an
 * edit that did not see it.
 */
async function updateOpenWait(tx: Tx, wait: EngineWait, action: WaitForEvent): Promise<void> {
  const deadline = deadlineFrom(wait.opened_at, action);
  if (wait.event_name === action.wait_event_name && wait.deadline?.getTime() === deadline?.getTime()) return;
  Object.assign(wait, { event_name: action.wait_event_name, deadline });
  await tx.org.table('waits').where({ id: wait.id, state: 'open' }).update({ event_name: wait.event_name, deadline });
}

/**
 * Ends a wait at its deadline, with a timeout. Returns undefined if the event arrived first; `wait` then contains the
 * event.
 */
async function endInTime(tx: Tx, wait: EngineWait): Promise<WaitVerdict | undefined> {
  const [timedOut] = await tx.org.sql(
    `update waits set state = 'timed_out', settled_at = :now where organization_id = :org and id = :id and state = 'open' returning id`,
    { id: wait.id, now: tx.now },
  );
  if (timedOut) return { kind: 'passed', outcome: 'timeout' };
  const [settled] = await tx.org.sql<{
    state: 'resumed' | 'cancelled';
    event_id: string | null;
    data: Record<string, unknown> | null;
  }>(
    `select w.state, w.event_id, e.data from waits w left join product_events e on e.id = w.event_id where w.organization_id = :org and w.id = :id`,
    { id: wait.id },
  );
  // A concurrent edit cancelled the wait. The edit also signals the workflow, which then reads the changed step.
  if (settled!.state === 'cancelled') return { kind: 'waitForEvent', eventName: wait.event_name, until: null };
  wait.state = settled!.state;
  wait.event_id = settled!.event_id;
  wait.event_data = settled!.data;
  return undefined;
}
