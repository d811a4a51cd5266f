import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { POSITIONS_CHANNEL } from '../domain/platform/kernel/events.ts';
import { applyNextEvents } from '../domain/platform/events/apply-events.ts';
import { enterEvents, findDueStreams, type DueStream } from '../domain/platform/events/enter-events.ts';
import { CONFIRM_MS, confirmSubscribers, registerSubscribers } from '../domain/platform/events/register.ts';
import { reactionStatus } from '../domain/platform/events/status.ts';
import type { Subscriber } from '../domain/platform/events/subscriber.ts';
import { onPath } from '../lib/cost-paths.ts';
import { every } from '../lib/every.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createWakeable } from '../lib/wakeable.ts';

/** Events that get their positions within this time (ms) are processed in one turn. */
const GATHER_MS = 20;
/**
 * Interval (ms) at which the streams are read without a wake-up: for notifications that were lost, and for what a process that died has left. A failed event has
 * a time of its own, at which they are read as well.
 */
const SWEEP_MS = 5_000;
/** The shortest pause (ms) before the next attempt at a failed event. */
const LEAST_PAUSE_MS = 100;
const FAILED_MS = 500;
/** Organizations that one process works for at once, per subscriber: a slow one delays no other subscriber. */
const LANES = 2;
const STATUS_MS = 10_000;

interface Reactions {
  /** Stops after the transactions that are open. */
  stop(): Promise<void>;
}

/**
 * Applies domain events to the subscribers. Any number of processes may run it: the database says what each has to do, so
 * after one that dies another continues.
 */
export async function startReactions(
  deps: Deps,
  metrics: Metrics,
  subscribers: readonly Subscriber[],
): Promise<Reactions> {
  await registerSubscribers(deps, subscribers);
  const placed = createWakeable();
  let sweepAt = -Infinity;
  const onFailed = () => {
    sweepAt = -Infinity;
    placed.wake();
  };
  const lanes = new Map(
    subscribers.map((subscriber) => [subscriber.name, new Lanes(deps, metrics, subscriber, onFailed)]),
  );
  const work = (streams: readonly DueStream[]): void => {
    for (const stream of streams) lanes.get(stream.subscriber)?.add(stream.organization_id);
  };
  let running = true;
  const listener = await listen(deps.config.PRIMARY_DB, POSITIONS_CHANNEL, () => placed.wake(), deps.log);

  const loop = (async () => {
    while (running) {
      placed.clear();
      try {
        const entered = await onPath('reactions', () => enterEvents(deps, subscribers));
        work(entered.streams);
        if (performance.now() >= sweepAt) {
          // Set before the rows are read: one that fails meanwhile asks for another sweep.
          sweepAt = performance.now() + SWEEP_MS;
          const { due, nextAttemptMs } = await onPath('reactions', () => findDueStreams(deps, subscribers));
          work(due);
          if (nextAttemptMs !== null)
            sweepAt = Math.min(sweepAt, performance.now() + Math.max(nextAttemptMs, LEAST_PAUSE_MS));
        }
        if (entered.full) continue;
        await placed.pause(Math.max(0, sweepAt - performance.now()));
        await sleep(GATHER_MS);
      } catch (error) {
        deps.log.warn({ err: error }, 'reactions: turn failed, will try again');
        await sleep(FAILED_MS);
      }
    }
  })();

  const warn = (error: unknown) => deps.log.warn({ err: error }, 'reactions: status or confirmation failed');
  const repeated = [
    every(STATUS_MS, () => showStatus(deps, metrics), warn),
    every(CONFIRM_MS, () => confirmSubscribers(deps, subscribers), warn),
  ];
  return {
    async stop() {
      running = false;
      placed.wake();
      await Promise.all(repeated.map((each) => each.stop()));
      await loop;
      await Promise.all([...lanes.values()].map((each) => each.stop()));
      await listener.close();
    },
  };
}

/** The organizations with events for one subscriber, a few at a time. */
class Lanes {
  readonly #deps: Deps;
  readonly #metrics: Metrics;
  readonly #subscriber: Subscriber;
  /** Called when an event has failed, and has got the time of its next attempt. */
  readonly #onFailed: () => void;
  readonly #queue = new Set<string>();
  readonly #active = new Map<string, Promise<void>>();
  #running = true;

  constructor(deps: Deps, metrics: Metrics, subscriber: Subscriber, onFailed: () => void) {
    this.#deps = deps;
    this.#metrics = metrics;
    this.#subscriber = subscriber;
    this.#onFailed = onFailed;
  }

  add(organizationId: string): void {
    this.#queue.add(organizationId);
    this.#fill();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#active.values());
  }

  #fill(): void {
    for (const organizationId of this.#queue) {
      if (!this.#running || this.#active.size >= LANES) return;
      // Its turn is under way and will read the new events too.
      if (this.#active.has(organizationId)) continue;
      this.#queue.delete(organizationId);
      const turn = this.#turn(organizationId).finally(() => {
        this.#active.delete(organizationId);
        this.#fill();
      });
      this.#active.set(organizationId, turn);
    }
  }

  /** One batch; an organization that has more goes to the end of the queue. */
  async #turn(organizationId: string): Promise<void> {
    const { name } = this.#subscriber;
    try {
      const { outcome, applied, more } = await onPath('reactions', () =>
        applyNextEvents(this.#deps, this.#subscriber, organizationId),
      );
      if (applied > 0) this.#metrics.reactionsApplied.inc({ subscriber: name }, applied);
      if (outcome === 'failed' || outcome === 'parked')
        this.#metrics.reactionFailures.inc({ subscriber: name, outcome });
      if (outcome === 'failed') this.#onFailed();
      if (more) this.#queue.add(organizationId);
    } catch (error) {
      // The database is away, or the transaction could not commit: the next sweep tries the stream again.
      this.#deps.log.warn(
        { err: error, subscriber: name, organizationId },
        'reactions: a batch failed, will try again',
      );
    }
  }
}

async function showStatus(deps: Deps, metrics: Metrics): Promise<void> {
  for (const status of await reactionStatus(deps)) {
    const subscriber = status.name;
    metrics.reactionLagEvents.set({ subscriber }, status.lag_events);
    metrics.reactionLagSeconds.set({ subscriber }, status.lag_seconds);
    metrics.reactionsFailing.set({ subscriber }, status.failing_organizations);
    metrics.reactionsWaiting.set({ subscriber }, status.waiting_organizations);
    metrics.reactionsParked.set({ subscriber }, status.parked_events);
  }
}
