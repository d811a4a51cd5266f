import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { POSITIONS_CHANNEL } from '../domain/platform/kernel/events.ts';
import { applyNextEvents } from '../domain/platform/events/apply-events.ts';
import { enterEvents, findDueStreams, type DueStream } from '../domain/platform/events/enter-events.ts';
import { CONFIRM_MS, confirmSubscribers, registerSubscribers } from '../domain/platform/events/register.ts';
import { reactionStatus } from '../domain/platform/events/status.ts';
import type { Subscriber } from '../domain/platform/events/subscriber.ts';
import { isAdrift } from '../lib/clock.ts';
import { withCostPath } from '../lib/cost-paths.ts';
import { every } from '../lib/every.ts';
import { startLoop, type Loop } from '../lib/loop.ts';
import type { Metrics } from '../lib/metrics.ts';
import { inIteration } from '../lib/iterations.ts';

/** Time (ms) for which positioned events are collected before an iteration. */
const GATHER_MS = 20;
/**
 * Interval (ms) at which the streams are read without a notification, because notifications can be lost and processes
 * can die. A failed event has its own retry time, at which the streams are also read.
 */
const SWEEP_MS = 5_000;
/** Minimum pause (ms) before the next attempt at a failed event. */
const LEAST_PAUSE_MS = 100;
const FAILED_MS = 500;
/**
 * Number of organizations per subscriber that a process handles at once. A slow subscriber does not delay the others.
 */
const LANES = 2;
const STATUS_MS = 10_000;

interface Reactions {
  /** Stops after the open transactions have ended. */
  stop(): Promise<void>;
}

/**
 * Applies domain events to the subscribers. Any number of processes may run this loop. The database records each
 * subscriber's progress, so that another process continues if one dies.
 */
export async function startReactions(
  deps: Deps,
  metrics: Metrics,
  subscribers: readonly Subscriber[],
): Promise<Reactions> {
  await registerSubscribers(deps, subscribers);
  let loop: Loop | undefined;
  let sweepAt = -Infinity;
  const onFailed = () => {
    sweepAt = -Infinity;
    loop?.wake();
  };
  const lanes = new Map(
    subscribers.map((subscriber) => [subscriber.name, new Lanes(deps, metrics, subscriber, onFailed)]),
  );
  const work = (streams: readonly DueStream[]): void => {
    for (const stream of streams) lanes.get(stream.subscriber)?.add(stream.organization_id);
  };
  const iterate = async () => {
    const entered = await withCostPath('reactions', () => enterEvents(deps, subscribers));
    work(entered.streams);
    if (performance.now() >= sweepAt) {
      // Sets the time before the rows are read, because an event that fails during the read sets an earlier time.
      sweepAt = performance.now() + SWEEP_MS;
      const { due, nextAttemptMs } = await withCostPath('reactions', () => findDueStreams(deps, subscribers));
      work(due);
      if (nextAttemptMs !== null)
        sweepAt = Math.min(sweepAt, performance.now() + Math.max(nextAttemptMs, LEAST_PAUSE_MS));
    }
    return entered.full ? {} : { mostMs: Math.max(0, sweepAt - performance.now()), gatherMs: GATHER_MS };
  };
  loop = startLoop({
    name: 'reactions',
    iterate,
    isHeld: () => isAdrift(deps.clock),
    failedMs: FAILED_MS,
    onError: (error) => deps.log.warn({ err: error }, 'reactions: turn failed, will try again'),
  });
  const started = loop;
  const listener = await listen(deps.config.PRIMARY_DB, POSITIONS_CHANNEL, () => started.wake(), deps.log);

  const warn = (error: unknown) => deps.log.warn({ err: error }, 'reactions: status or confirmation failed');
  const repeated = [
    every('reaction status', STATUS_MS, () => showStatus(deps, metrics), warn),
    every('reaction subscribers', CONFIRM_MS, () => confirmSubscribers(deps, subscribers), warn),
  ];
  return {
    async stop() {
      await Promise.all(repeated.map((each) => each.stop()));
      await started.stop();
      await Promise.all([...lanes.values()].map((each) => each.stop()));
      await listener.close();
    },
  };
}

/** Queue of the organizations with events for one subscriber; a few are processed at once. */
class Lanes {
  readonly #deps: Deps;
  readonly #metrics: Metrics;
  readonly #subscriber: Subscriber;
  /** Called after an event has failed and its next attempt is scheduled. */
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
      if (!this.#running || this.#active.size >= LANES || isAdrift(this.#deps.clock)) return;
      // The open batch of this organization also reads the new events.
      if (this.#active.has(organizationId)) continue;
      this.#queue.delete(organizationId);
      const turn = this.#turn(organizationId).finally(() => {
        this.#active.delete(organizationId);
        this.#fill();
      });
      this.#active.set(organizationId, turn);
    }
  }

  /** Applies one batch of an organization. If the organization has more events, it is appended to the queue. */
  async #turn(organizationId: string): Promise<void> {
    const { name } = this.#subscriber;
    try {
      const { outcome, applied, more } = await withCostPath('reactions', () =>
        inIteration(`reactions of ${name}`, () => applyNextEvents(this.#deps, this.#subscriber, organizationId)),
      );
      if (applied > 0) this.#metrics.reactionsApplied.inc({ subscriber: name }, applied);
      if (outcome === 'failed' || outcome === 'parked')
        this.#metrics.reactionFailures.inc({ subscriber: name, outcome });
      if (outcome === 'failed') this.#onFailed();
      if (more) this.#queue.add(organizationId);
    } catch (error) {
      // The database is unreachable or the transaction could not commit. The next sweep tries the stream again.
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
