import test from 'ava';
import { rawDb } from '../../../test/harness/database.ts';
import fc from 'fast-check';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createEffects, readEffects, eventsInOrder, recordEffects } from '../../../test/harness/reactions.ts';
import { emitEvents } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { assignPositions } from '../../connect/delivery/fan-out.ts';
import type { StoredEventType } from '../kernel/events.ts';
import type { Tx } from '../kernel/transact.ts';
import { applyNextEvents } from './apply-events.ts';
import { enterEvents, findDueStreams } from './enter-events.ts';
import { listParkedEvents, replayParkedEvent } from './parked.ts';
import { registerSubscribers } from './register.ts';
import { declareSubscriber, type ReactionEvent, type Subscriber } from './subscriber.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await createEffects(world.deps.db);
});
test.after.always(() => world?.close());

const ORGANIZATIONS = 3;
const RUNNERS = 3;
const MAX_ATTEMPTS = 3;

/**
 * Planned fault when a subscriber applies an event: it fails a number of times, fails always, or the process dies
 * before the commit.
 */
type Fault = { kind: 'fails'; times: number } | { kind: 'poison' } | { kind: 'crash' };

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('fails' as const), times: fc.integer({ min: 1, max: MAX_ATTEMPTS - 1 }) }),
  fc.constant({ kind: 'poison' as const }),
  fc.constant({ kind: 'crash' as const }),
);

const emission = fc.record({
  organization: fc.integer({ min: 0, max: ORGANIZATIONS - 1 }),
  type: fc.constantFrom<StoredEventType>('role.created', 'role.deleted'),
  count: fc.integer({ min: 1, max: 4 }),
  /** Faults of the emitted events, by subscriber and index of the event. */
  faults: fc.array(fc.record({ subscriber: fc.integer({ min: 0, max: 2 }), index: fc.nat(3), fault }), {
    maxLength: 2,
  }),
});

/** Remaining faults by subscriber and event. */
class Faults {
  readonly #left = new Map<string, Fault>();
  readonly poisoned = new Set<string>();

  plan(subscriber: string, eventId: string, planned: Fault): void {
    this.#left.set(`${subscriber}/${eventId}`, { ...planned });
    if (planned.kind === 'poison') this.poisoned.add(`${subscriber}/${eventId}`);
    else this.poisoned.delete(`${subscriber}/${eventId}`);
  }

  heal(): void {
    this.#left.clear();
  }

  /** Executes a planned fault. Called after the effect and before the commit. */
  async strike(tx: Tx, subscriber: string, events: readonly ReactionEvent[]): Promise<void> {
    for (const { id } of events) {
      const key = `${subscriber}/${id}`;
      const planned = this.#left.get(key);
      if (!planned) continue;
      if (planned.kind === 'crash') {
        this.#left.delete(key);
        await rawDb(tx.trx).raw('select pg_terminate_backend(pg_backend_pid())');
      }
      // A failing batch is rolled back and split. Only the failure of an event that is applied alone is counted.
      if (planned.kind === 'fails' && events.length === 1 && (planned.times -= 1) <= 0) this.#left.delete(key);
      throw new Error(`${planned.kind} on purpose`);
    }
  }
}

test('per subscriber and organization, what was applied is what was committed, in order and once, without what is parked', async (t) => {
  t.timeout(300_000);
  await fc.assert(
    fc.asyncProperty(fc.array(emission, { minLength: 1, maxLength: 12 }), fc.integer(), async (emissions, salt) => {
      const { deps } = world;
      const tenants = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => world.tenant()));
      const faults = new Faults();
      const suffix = `${salt >>> 0}_${tenants[0]!.organizationId.slice(-6)}`;
      const declare = (name: string, more: Partial<Subscriber>): Subscriber =>
        declareSubscriber<StoredEventType>({
          types: ['role.created'],
          startsFrom: 'now',
          maxAttempts: MAX_ATTEMPTS,
          async apply(tx, event) {
            await recordEffects(tx, name, [event]);
            await faults.strike(tx, name, [event]);
          },
          ...more,
          name,
        } as Subscriber);
      const batchName = `batch_${suffix}`;
      const subscribers = [
        declare(`pass_${suffix}`, {}),
        declare(`wait_${suffix}`, { types: ['role.created', 'role.deleted'], afterParking: 'wait' }),
        declare(batchName, {
          types: ['role.deleted'],
          apply: undefined,
          async applyBatch(tx, events) {
            await recordEffects(tx, batchName, events);
            await faults.strike(tx, batchName, events);
          },
        } as Partial<Subscriber>),
      ];
      await registerSubscribers(deps, subscribers);

      let emitting = true;
      const emit = async () => {
        for (const { organization, type, count, faults: planned } of emissions) {
          const { organizationId } = tenants[organization]!;
          const ids = await emitEvents(deps, organizationId, count, type);
          for (const { subscriber, index, fault: what } of planned)
            if (ids[index]) faults.plan(subscribers[subscriber]!.name, ids[index], what);
        }
        emitting = false;
      };
      const place = async () => {
        while (emitting) await assignPositions(deps, { open: undefined });
      };
      /**
       * Runs one iteration like a worker process. Streams that failed because no connection was free are found again
       * later. Returns true if there was work.
       */
      const turn = async (): Promise<boolean> => {
        const { streams } = await enterEvents(deps, subscribers);
        const { due } = await findDueStreams(deps, subscribers);
        for (const stream of [...streams, ...due])
          await applyNextEvents(
            deps,
            subscribers.find(({ name }) => name === stream.subscriber)!,
            stream.organization_id,
          ).catch(() => {});
        return streams.length + due.length > 0;
      };
      const run = async () => {
        while (emitting) {
          await turn();
          clock.advance(500);
        }
      };
      await Promise.all([emit(), place(), ...Array.from({ length: RUNNERS }, run)]);
      const settle = async () => {
        while ((await assignPositions(deps, { open: undefined })).positioned > 0);
        // Advancing the clock makes retries due. The loop ends when there is no work left after the longest delay.
        for (let quiet = 0; quiet < 3; quiet += 1) {
          const turns = await Promise.all(Array.from({ length: RUNNERS }, turn));
          if (turns.includes(true)) quiet = -1;
          clock.advance(5_000);
        }
      };
      await settle();

      const parked = await listParkedEvents(deps, 10_000);
      const parkedOf = (name: string) =>
        new Set(parked.filter((each) => each.subscriber === name).map((each) => each.event_id));
      for (const subscriber of subscribers) {
        const { name, types } = subscriber;
        for (const { organizationId } of tenants) {
          const committed = await eventsInOrder(deps.db, organizationId, types);
          const poisoned = committed.filter((id) => faults.poisoned.has(`${name}/${id}`));
          const done = await readEffects(deps.db, name, organizationId);
          if (subscriber.afterParking === 'wait') {
            const stop = poisoned[0] ? committed.indexOf(poisoned[0]) : committed.length;
            t.deepEqual(done, committed.slice(0, stop));
          } else {
            t.deepEqual(
              done,
              committed.filter((id) => !parkedOf(name).has(id)),
            );
            t.deepEqual(
              committed.filter((id) => parkedOf(name).has(id)),
              poisoned,
            );
          }
        }
      }

      faults.heal();
      for (const { id } of parked) await replayParkedEvent(deps, subscribers, id);
      await settle();
      for (const subscriber of subscribers)
        for (const { organizationId } of tenants) {
          const committed = await eventsInOrder(deps.db, organizationId, subscriber.types);
          const done = await readEffects(deps.db, subscriber.name, organizationId);
          t.deepEqual(
            subscriber.afterParking === 'wait' ? done : done.toSorted(),
            subscriber.afterParking === 'wait' ? committed : committed.toSorted(),
          );
        }
      await deps.db('reaction_subscribers').delete();
    }),
    { numRuns: 25 },
  );
});
