import { across } from '../../../db/across.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { BY_CLOCK, withCostPath } from '../../../lib/cost-paths.ts';
import type { BatchReport } from '../../../workflows/webhook-batch/contract.ts';
import { attempt, releasedResult } from './attempt.ts';
import { nextRetry, probeInMs } from './breaker.ts';
import { claimWebhookDeliveries, holdsClaim, othersClaimEndsInMs, type Claimed } from './claim.ts';
import type { DeliveryEngine } from './engine.ts';
import { BATCH_SIZE } from './fan-out.ts';

/**
 * Maximum number of concurrent attempts of a shared batch. Attempts that hang are not counted here; the limit per
 * endpoint bounds their number.
 */
const AT_ONCE = 100;
/** Interval (ms) at which an idle batch is checked for new deliveries, in case a notification was lost. */
const IDLE_CHECK_MS = 2_000;
/** Maximum duration (ms) of one activity on a batch. */
const ITERATION_MS = 60_000;
/** Interval (ms) at which a batch is checked for more deliveries while its requests hang. */
const HANGING_CHECK_MS = 500;
/** Maximum delay (ms) before a batch is checked again because other attempts have claimed its deliveries. */
const OTHERS_CHECK_MS = 1_000;

interface BatchIteration {
  /** True for the batch of a single endpoint. Such a batch has the endpoint's id. */
  lane: boolean;
  /** Aborted when the worker stops: open attempts are finished, and no new ones begin. */
  signal: AbortSignal;
}

/**
 * Attempts the unfinished deliveries of a batch in parallel, and writes each result as it arrives. A retry of the
 * activity therefore repeats only deliveries that were in flight, and only after their claims end, because the earlier
 * attempt may still be running. Closes an open batch before it claims the last deliveries, so that none is added
 * afterwards. Deliveries to an endpoint that turns out to be slow or failing move to that endpoint's batch. A request
 * that hangs is not counted in the number of parallel deliveries. The batch of a failing endpoint makes one attempt at
 * a time, at growing intervals (breaker.ts), until one succeeds. A batch that fails is closed, so that it delays no new
 * deliveries.
 */
export async function runBatch(
  engine: DeliveryEngine,
  batchId: string,
  iteration: BatchIteration,
): Promise<BatchReport> {
  try {
    const report = await attemptDeliveries(engine, batchId, iteration);
    // Closes the batch, because its workflow may have been cancelled and would not attempt further deliveries. New
    // deliveries then get another batch.
    if (iteration.signal.aborted && !iteration.lane) await close(engine.deps, batchId);
    return report;
  } catch (error) {
    await close(engine.deps, batchId).catch(() => {});
    throw error;
  }
}

/** Attempts the deliveries of a batch until it is closed and none is left, or until the time limit of one activity. */
async function attemptDeliveries(
  engine: DeliveryEngine,
  batchId: string,
  { lane, signal }: BatchIteration,
): Promise<BatchReport> {
  const { deps, lanes } = engine;
  const report: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: false };
  /** Attempts with the times (ms of `performance.now()`) at which they began. */
  const underWay = new Map<Promise<void>, number>();
  const inFlight = new Set<string>();
  const began = performance.now();
  let failure: unknown;
  let open = true;
  /**
   * True after a claim has found no waiting delivery. The loop then waits for new deliveries until the batch is closed.
   */
  let waits = false;
  let taken = 0;
  let takenAt = began;

  const begin = (claimed: readonly Claimed[]): void => {
    for (const delivery of claimed) {
      inFlight.add(delivery.id);
      const work = deliver(engine, delivery, { lane, signal }, report)
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => {
          underWay.delete(work);
          inFlight.delete(delivery.id);
        });
      underWay.set(work, performance.now());
    }
    taken += claimed.length;
    if (claimed.length > 0) takenAt = performance.now();
  };

  /** End (ms of `performance.now()`) of the first claim of another attempt; undefined if there is none. */
  let othersUntil: number | undefined;
  const readOthers = async (): Promise<void> => {
    const inMs = await othersClaimEndsInMs(deps, batchId, inFlight);
    othersUntil = inMs === undefined ? undefined : performance.now() + inMs;
  };

  const watch = engine.watch(batchId);
  try {
    await readOthers();
    while (!signal.aborted && failure === undefined) {
      if (performance.now() - began > ITERATION_MS) {
        report.more = true;
        break;
      }
      if (othersUntil !== undefined && othersUntil <= performance.now()) {
        begin(await claimWebhookDeliveries(deps, { batchId, limit: BATCH_SIZE, takeOver: true }));
        await readOthers();
      }
      const { room, waitMs } = lane ? await roomOf(engine, batchId) : { room: AT_ONCE, waitMs: 0 };
      if (waitMs > 0 && underWay.size === 0) {
        report.waitMs = waitMs;
        break;
      }
      const limit = room - (lane ? underWay.size : recent(underWay, lanes.slowMs));
      const look = () => claimWebhookDeliveries(deps, { batchId, limit, takeOver: false, lane });
      const claimed = limit <= 0 ? [] : waits ? await withCostPath(BY_CLOCK, look) : await look();
      begin(claimed);
      if (limit <= 0 || claimed.length === limit || (lane && underWay.size > 0)) {
        // Claims again after a pause, because more deliveries may wait than one claim could take.
        await Promise.race([...underWay.keys(), sleep(HANGING_CHECK_MS)]);
      } else if (open) {
        waits = true;
        const left = lane || taken >= BATCH_SIZE ? 0 : takenAt + engine.idleMs() - performance.now();
        open = left > 0;
        if (open) await watch.more(Math.min(left, IDLE_CHECK_MS));
        else await close(deps, batchId);
      } else if (othersUntil !== undefined) {
        const pauseMs = Math.min(OTHERS_CHECK_MS, Math.max(0, othersUntil - performance.now()));
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        await readOthers();
      } else {
        break;
      }
    }
  } finally {
    watch.close();
    // Waits for the open attempts even when the database is unreachable. Otherwise the next activity would take over
    // their deliveries and resend them.
    await Promise.all(underWay.keys());
  }
  if (failure !== undefined) throw failure;
  if (signal.aborted) report.more = true;
  return lane && !report.more ? { ...(await nextRetry(deps, batchId)), ...report } : report;
}

/** Closes a batch: no further delivery can be added. */
async function close({ db }: DeliveryEngine['deps'], batchId: string): Promise<void> {
  await across(db, 'engine').table('webhook_batches').where({ id: batchId }).delete();
}

/** Returns the number of attempts that began within the last `ms`. */
function recent(underWay: ReadonlyMap<unknown, number>, ms: number): number {
  const since = performance.now() - ms;
  let count = 0;
  for (const began of underWay.values()) if (began > since) count += 1;
  return count;
}

/**
 * Returns the number of attempts that the batch of an endpoint may have open now. For a failing endpoint, also returns
 * the time (ms) until its next probe.
 */
async function roomOf({ deps, lanes }: DeliveryEngine, endpointId: string): Promise<{ room: number; waitMs: number }> {
  const probeMs = await probeInMs(deps, endpointId);
  if (probeMs === undefined) return { room: lanes.limit, waitMs: 0 };
  return { room: probeMs > 0 ? 0 : 1, waitMs: probeMs };
}

/**
 * Attempts one delivery and counts it in the report. In a shared batch, moves the delivery to the endpoint's own batch
 * if the endpoint has no free permit or is failing.
 */
async function deliver(
  engine: DeliveryEngine,
  delivery: Claimed,
  { lane }: BatchIteration,
  report: BatchReport,
): Promise<void> {
  const { endpointId } = delivery;
  const permit = await engine.lanes.acquire(endpointId, lane ? 'patient' : 'shared');
  if (!permit || (!lane && engine.failures.isFailing(endpointId))) {
    permit?.release();
    report.diverted += 1;
    await engine.settler.settle(releasedResult(delivery, engine.deps.clock.now()), 'lane');
    return;
  }
  try {
    if (!(await holdsClaim(engine.deps, delivery))) return;
    const result = await attempt(engine, delivery);
    report[result.outcome === 'delivered' ? 'delivered' : 'failed'] += 1;
    if (result.outcome !== 'refused') engine.failures.record(endpointId, result.outcome === 'delivered');
    permit.release();
    await engine.settler.settle(result, lane || engine.failures.isFailing(endpointId) ? 'lane' : 'new run');
  } finally {
    permit.release();
  }
}
