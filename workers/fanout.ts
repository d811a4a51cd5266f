import { listen } from '../db/listen.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { EVENTS_CHANNEL } from '../domain/platform/kernel/events.ts';
import { assignPositions, type FanOutMemory } from '../domain/connect/delivery/fan-out.ts';
import { forwardPositions } from '../domain/platform/realtime/watch.ts';
import type { Metrics } from '../lib/metrics.ts';
import { isAdrift } from '../lib/clock.ts';
import { withCostPath } from '../lib/cost-paths.ts';
import { startLoop } from '../lib/loop.ts';

/** Time (ms) for which committed events are collected before an iteration. */
const GATHER_MS = 4;
/**
 * Variant of {@link GATHER_MS} for times when no event needs a delivery and only the realtime gateway needs positions.
 */
const QUIET_GATHER_MS = 50;
/**
 * Interval (ms) at which events are read without a notification, because notifications are lost if the connection
 * breaks.
 */
const SWEEP_MS = 5_000;
/** Pause (ms) while another process holds the lock, or after a failure. */
const RETRY_MS = 50;
const FAILED_MS = 500;

interface FanOut {
  /** Stops after the current iteration. */
  stop(): Promise<void>;
}

/**
 * Assigns stream positions to committed events and creates their deliveries. Any number of processes may run this loop;
 * a lock admits one at a time.
 */
export async function startFanOut(deps: Deps, metrics: Metrics): Promise<FanOut> {
  const memory: FanOutMemory = { open: undefined };
  const loop = startLoop({
    name: 'fan-out',
    async iterate() {
      const turn = await withCostPath('fan-out', () => assignPositions(deps, memory));
      metrics.eventsPositioned.inc(turn.positioned);
      for (const { reason, dropped } of turn.drops) metrics.webhookDrops.inc({ reason }, dropped);
      if (turn.busy) return { leastMs: RETRY_MS };
      return turn.full ? {} : { mostMs: SWEEP_MS, gatherMs: turn.deliveries > 0 ? GATHER_MS : QUIET_GATHER_MS };
    },
    isHeld: () => isAdrift(deps.clock),
    failedMs: FAILED_MS,
    onError: (error) => deps.log.warn({ err: error }, 'fan-out: turn failed, will try again'),
  });
  const listener = await listen(deps.config.PRIMARY_DB, EVENTS_CHANNEL, () => loop.wake(), deps.log);
  const forward = await forwardPositions(deps);

  return {
    async stop() {
      await loop.stop();
      await listener.close();
      await forward?.close();
    },
  };
}
