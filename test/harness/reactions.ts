import { rawDb, type RawDb, type TestDeps } from './database.ts';
import type { StoredEventType } from '../../domain/platform/kernel/events.ts';
import type { Tx } from '../../domain/platform/kernel/transact.ts';
import { applyNextEvents } from '../../domain/platform/events/apply-events.ts';
import { enterEvents, findDueStreams } from '../../domain/platform/events/enter-events.ts';
import type { ReactionEvent, Subscriber } from '../../domain/platform/events/subscriber.ts';
import { fanOut } from './webhooks.ts';

/**
 * Assigns stream positions and applies all due events in this process. Events that fail wait for their next attempt.
 */
export async function react(deps: TestDeps, subscribers: readonly Subscriber[]): Promise<void> {
  await fanOut(deps);
  while ((await enterEvents(deps, subscribers)).full);
  for (;;) {
    const { due } = await findDueStreams(deps, subscribers);
    if (due.length === 0) return;
    for (const { subscriber: name, organization_id: organizationId } of due) {
      const subscriber = subscribers.find((each) => each.name === name)!;
      while ((await applyNextEvents(deps, subscriber, organizationId)).more);
    }
  }
}

/** Creates a table that records the effects of test subscribers in order. */
export async function createEffects(db: RawDb): Promise<void> {
  await db.raw(
    `create table effects (seq bigint generated always as identity, subscriber text not null, organization_id uuid not null, event_id uuid not null, position bigint not null);
     grant all on effects to heron_tenant`,
  );
}

/** Records in the reaction's transaction that a subscriber has applied events. */
export async function recordEffects(tx: Tx, subscriber: string, events: readonly ReactionEvent[]): Promise<void> {
  await rawDb(tx.trx).raw(
    `insert into effects (subscriber, organization_id, event_id, position)
     select ?, ?, e.id, e.position from unnest(?::uuid[], ?::bigint[]) with ordinality as e(id, position, n) order by n`,
    [subscriber, tx.org.organizationId, events.map(({ id }) => id), events.map(({ position }) => position)],
  );
}

/** Returns a subscriber's effects in an organization, in order. */
export function readEffects(db: RawDb, subscriber: string, organizationId: string): Promise<string[]> {
  return db('effects').where({ subscriber, organization_id: organizationId }).orderBy('seq').pluck('event_id');
}

/** Returns the committed events of an organization in stream order. */
export function eventsInOrder(db: RawDb, organizationId: string, types: readonly StoredEventType[]): Promise<string[]> {
  return db('domain_events')
    .where({ organization_id: organizationId })
    .whereIn('type', types)
    .orderBy('position')
    .pluck('id');
}
