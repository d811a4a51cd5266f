import { across } from '../../../db/across.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { BY_CLOCK, onPath } from '../../../lib/cost-paths.ts';
import type { BatchReport } from '../../../workflows/webhook-batch/contract.ts';
import { attempt, released } from './attempt.ts';
import { claim, type Claimed } from './claim.ts';
import type { DeliveryEngine } from './engine.ts';
import { BATCH_SIZE } from './fan-out.ts';

/** Deliveries of one batch that are attempted at once. */
const AT_ONCE = 100;
/** How long (ms) a run waits for more deliveries before it closes its batch. */
const OPEN_MS = 1_500;
/** How long (ms) a batch is worked on before the activity returns. */
const TURN_MS = 60_000;
/** How long (ms) a failing endpoint's permit is kept after a failure, because every failure starts a run. */
const REST_MS = 1_000;
/** How often (ms) the batch of an endpoint is read while its requests hang. */
const LANE_LOOK_MS = 500;

interface BatchTurn {
  /** The batch of one endpoint, named by its id. */
  lane: boolean;
  /** Fires when the worker stops: open attempts are finished, no new ones begun. */
  signal: AbortSignal;
}

/**
 * Attempts the deliveries of a batch that have no outcome, in parallel, and writes the outcomes as they come, so that a retry repeats
 * only those that were in flight. A batch that is still open is closed here: first no more can be added, then the last ones are
 * claimed. Deliveries to an endpoint that turns out to be slow are left to the batch of that endpoint.
 */
export async function runBatch(
  engine: DeliveryEngine,
  batchId: string,
  { lane, signal }: BatchTurn,
): Promise<BatchReport> {
  const {
    deps: { db, clock },
  } = engine;
  const report: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: false };
  const underWay = new Set<Promise<void>>();
  const room = lane ? engine.lanes.limit : AT_ONCE;
  const began = performance.now();
  let failure: unknown;
  let open = true;
  /** True once nothing was left: from then on it looks again until the batch is closed. */
  let waits = false;
  let taken = 0;

  const begin = (claimed: readonly Claimed[]): void => {
    for (const delivery of claimed) {
      const work = deliver(engine, delivery, { lane, signal }, report)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => underWay.delete(work));
      underWay.add(work);
    }
    taken += claimed.length;
  };

  const watch = engine.watch(batchId);
  try {
    begin(await claim(db, { batchId, limit: BATCH_SIZE, takeOver: true }, clock.now()));
    while (!signal.aborted && failure === undefined) {
      if (performance.now() - began > TURN_MS) {
        report.more = true;
        break;
      }
      const limit = room - underWay.size;
      const look = () => claim(db, { batchId, limit, takeOver: false }, clock.now());
      const claimed = limit <= 0 ? [] : waits ? await onPath(BY_CLOCK, look) : await look();
      begin(claimed);
      if (limit <= 0 || claimed.length === limit) {
        // There may be more waiting than there was room for.
        await Promise.race(underWay);
      } else if (lane && underWay.size > 0) {
        await Promise.race([...underWay, sleep(LANE_LOOK_MS)]);
      } else if (open) {
        waits = true;
        const left = lane || taken >= BATCH_SIZE ? 0 : began + OPEN_MS - performance.now();
        if (left > 0) {
          await watch.more(left);
        } else {
          await across(db, 'engine').table('webhook_batches').where({ id: batchId }).delete();
          open = false;
        }
      } else {
        break;
      }
    }
  } finally {
    watch.close();
    // Also where the database went away: the next attempt takes over what is in flight, and would send it again.
    await Promise.all(underWay);
  }
  if (failure !== undefined) throw failure;
  if (signal.aborted) report.more = true;
  return report;
}

/**
 * Attempts one delivery and counts it in the report. Where the endpoint has no free permit and others share the batch, the
 * delivery is released to the batch of that endpoint.
 */
async function deliver(
  engine: DeliveryEngine,
  delivery: Claimed,
  { lane, signal }: BatchTurn,
  report: BatchReport,
): Promise<void> {
  const permit = await engine.lanes.acquire(delivery.endpointId, lane ? 'patient' : 'shared');
  if (!permit) {
    report.diverted += 1;
    await engine.settler.settle(released(delivery, engine.deps.clock.now()), { ownRun: false });
    return;
  }
  let failed = false;
  try {
    const result = await attempt(engine, delivery);
    failed = result.outcome === 'failed' || result.outcome === 'abandoned';
    report[result.outcome === 'delivered' ? 'delivered' : 'failed'] += 1;
    permit.release();
    await engine.settler.settle(result, { ownRun: false });
  } finally {
    permit.release();
  }
  if (lane && failed) await sleep(REST_MS, undefined, { signal }).catch(() => {});
}
