import { setTimeout as sleep } from 'node:timers/promises';
import { json, type Db, type Trx } from '../../../db/connection.ts';
import type { Message } from '../../../messages/index.ts';
import { isDatabaseUnavailable, isForeignKeyViolation, isOverTime } from '../../../db/errors.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Metrics } from '../../../lib/metrics.ts';
import { start, writeIntents, type Intent } from '../../../temporal/dispatch.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { retryUntilStored } from '../../platform/kernel/retry-until-stored.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Outcome, Result } from './result.ts';
import { endpointBatchIntents } from './endpoint-batch.ts';
import { switchOffFailing } from './health.ts';
import { engineSql } from './sql.ts';

const MAX_GROUP = 200;
/** Time (ms) during which results are gathered into one write. */
const GATHER_MS = 5;
const TRIES = 3;
/** Maximum time (ms) that results wait for an unreachable database. A failover takes seconds. */
const OUTAGE_RETRY_MS = 20_000;

/** Status stored in a delivery's row, by the outcome of an attempt. */
const STATUS: Record<Outcome, string> = {
  delivered: 'delivered',
  failed: 'failed',
  abandoned: 'abandoned',
  refused: 'abandoned',
  released: 'pending',
};

/**
 * Continuation of a delivery after a failed attempt. `own run`: the delivery's own workflow continues. `new run`: a
 * workflow is started for it. `lane`: the delivery waits in the batch of its endpoint, because the endpoint fails or is
 * slow.
 */
type Continuation = 'own run' | 'new run' | 'lane';

/** Writes the results of deliveries in groups, as they arrive. */
export interface Settler {
  /**
   * Stores a result. Resolves after the commit: true if this result ended the delivery, false if the delivery was taken
   * over, redelivered or deleted in the meantime.
   */
  settle(result: Result, next: Continuation): Promise<boolean>;
}

interface Waiting {
  result: Result;
  next: Continuation;
  resolve(decided: boolean): void;
  reject(error: unknown): void;
}

/**
 * Creates the settler of one process. It writes one group at a time, so that its groups cannot deadlock. A delivery
 * without a stored result would be sent again. Therefore the settler waits for an unreachable database. If a group
 * cannot be written, it writes the valid results separately.
 */
export function createSettler(deps: Deps, metrics: Metrics): Settler {
  const queue: Waiting[] = [];
  let running = false;

  const settleTogether = async (group: readonly Waiting[], { bare }: Extent): Promise<void> => {
    const decided = await settleGroup(deps, group, { bare });
    for (const { result, resolve } of group) {
      if (result.outcome !== 'released') metrics.webhookAttempts.inc({ result: result.outcome });
      if (wasSent(result)) metrics.webhookDuration.observe(result.durationMs / 1000);
      resolve(decided.has(result.delivery.id));
    }
  };

  const settleAll = async (group: readonly Waiting[]): Promise<void> => {
    try {
      await settleTogether(group, { bare: false });
    } catch (error) {
      if (isDatabaseUnavailable(error)) for (const { reject } of group) reject(error);
      // A group that timed out is not split, because each part would wait as long.
      else if (group.length > 1 && !isOverTime(error)) for (const part of halves(group)) await settleAll(part);
      else await settleBare(group, error);
    }
  };

  /** Writes the storable results of a group that failed, without attempt records and endpoint health. */
  const settleBare = async (group: readonly Waiting[], cause: unknown): Promise<void> => {
    const attempts = group.map(({ result: { delivery } }) => ({ deliveryId: delivery.id, attempt: delivery.attempt }));
    deps.log.error(
      { err: cause, attempts },
      'webhook attempts cannot be recorded; their deliveries are settled without',
    );
    await settleTogether(group, { bare: true }).catch((error: unknown) => {
      for (const { reject } of group) reject(error);
    });
  };

  const drain = async (): Promise<void> => {
    await sleep(GATHER_MS);
    while (queue.length > 0) await settleAll(queue.splice(0, MAX_GROUP));
    running = false;
  };

  return {
    settle: (result, next) =>
      new Promise((resolve, reject) => {
        queue.push({ result, next, resolve, reject });
        if (running) return;
        running = true;
        void drain();
      }),
  };
}

/**
 * Splits a group in two. Keeps results of one endpoint together, so that few statements find an endpoint whose row
 * causes the failure.
 */
function halves(group: readonly Waiting[]): [Waiting[], Waiting[]] {
  const ordered = group.toSorted((a, b) => (a.result.delivery.endpointId < b.result.delivery.endpointId ? -1 : 1));
  const middle = ordered.length >> 1;
  return [ordered.slice(0, middle), ordered.slice(middle)];
}

/** Selects which parts of the results are written. */
interface Extent {
  /** True to write only the deliveries, without the attempt records and the health of the endpoints. */
  readonly bare: boolean;
}

/**
 * Writes results, and waits while the database is unreachable.
 * @returns ids of the deliveries that ended with these results
 */
async function settleGroup(deps: Deps, group: readonly Waiting[], extent: Extent): Promise<Set<string>> {
  for (let tries = 1; ; tries += 1) {
    try {
      const settled = await retryUntilStored(deps, () => writeWithRuns(deps, group, extent), {
        forMs: OUTAGE_RETRY_MS,
      });
      await switchOffFailing(deps, settled.failing).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'a failing webhook endpoint could not be switched off yet'),
      );
      return new Set(settled.decided);
    } catch (error) {
      // The violation means that an endpoint was deleted with its deliveries. The retry does not find these deliveries.
      if (tries === TRIES || !isForeignKeyViolation(error)) throw error;
    }
  }
}

/** Writes results together with the intents for the workflows that continue their deliveries, in one transaction. */
async function writeWithRuns(deps: Deps, group: readonly Waiting[], extent: Extent): Promise<Written> {
  const needsIntents = group.some(
    ({ result, next }) => result.outcome === 'released' || (result.outcome === 'failed' && next !== 'own run'),
  );
  if (!needsIntents) return write(deps.db, group, extent);
  return inTransaction(deps.db, async (trx) => {
    const written = await write(trx, group, extent);
    const decided = new Set(written.decided);
    const released = group
      .filter((one) => movesToLane(one) && decided.has(one.result.delivery.id))
      .map(({ result }) => result);
    await writeIntents(trx, runsFor(group, decided), { withinMs: spreadMs(deps.config) });
    await writeIntents(
      trx,
      await endpointBatchIntents(
        trx,
        [...new Set(released.map(({ delivery }) => delivery.endpointId))],
        deps.clock.now(),
      ),
    );
    return written;
  });
}

/** Returns true if the delivery waits in the batch of its endpoint from now on. */
function movesToLane({ result: { outcome }, next }: Pick<Waiting, 'result' | 'next'>): boolean {
  return outcome === 'released' || (outcome === 'failed' && next === 'lane');
}

/** Minimum retry wait (ms) from which the starts of workflows are distributed over time. */
const SPREAD_FROM_MS = 10_000;

/**
 * Returns the time (ms) over which workflow starts for failed deliveries are spread, so that many simultaneous failures
 * do not delay first attempts.
 */
function spreadMs({ WEBHOOK_RETRY_BASE_MS: wait }: Pick<Config, 'WEBHOOK_RETRY_BASE_MS'>): number {
  return wait >= SPREAD_FROM_MS ? wait * 0.8 : 0;
}

function runsFor(group: readonly Waiting[], decided: ReadonlySet<string>): Intent[] {
  return group
    .filter(
      ({ result: { outcome, delivery }, next }) =>
        outcome === 'failed' && next === 'new run' && decided.has(delivery.id),
    )
    .map(({ result: { delivery } }) =>
      start(
        webhookDeliveryWorkflow,
        { organizationId: delivery.organizationId, deliveryId: delivery.id },
        { attributes: { EndpointId: delivery.endpointId } },
      ),
    );
}

function wasSent({ outcome }: Result): boolean {
  return outcome === 'delivered' || outcome === 'failed' || outcome === 'abandoned';
}

interface Written {
  /** Ids of the deliveries whose rows were updated with their result. */
  decided: string[];
  /** Endpoints whose latest deliveries all failed. */
  failing: { id: string; organization_id: string; since: string; failures: number }[];
}

/**
 * Writes deliveries, attempts and endpoint health in one statement. A result ends its delivery only while its claim is
 * valid. The attempt is recorded in any case, unless `bare` is true.
 */
async function write(
  db: Db | Trx,
  group: readonly Pick<Waiting, 'result' | 'next'>[],
  { bare }: Extent,
): Promise<Written> {
  const results = group.map(({ result }) => result);
  const health = bare ? [] : healthOf(results);
  const [written] = await engineSql<Written>(
    db,
    'settle',
    `with results as materialized (
       select * from unnest(:ids::uuid[], :attempts::int[], :statuses::text[], :sent::boolean[], :lanes::boolean[], :nexts::timestamptz[], :starts::timestamptz[],
         :durations::int[], :responses::int[], :excerpts::text[], :reasons::text[], :finishes::timestamptz[])
         as r(id, attempt, status, sent, lane, next, started_at, duration_ms, response_status, excerpt, reason, finished_at)
     ), decided as (
       update webhook_deliveries d
       set status = r.status, next_attempt_at = r.next, updated_at = r.finished_at,
         batch_id = case when r.lane then d.endpoint_id end,
         attempt_count = d.attempt_count - case when r.sent then 0 else 1 end,
         response_status = case when r.sent then r.response_status else d.response_status end,
         response_body_excerpt = case when r.sent then r.excerpt else d.response_body_excerpt end,
         error_reason = r.reason::jsonb
       from results r where d.id = r.id and d.status = 'in_flight' and d.attempt_count = r.attempt
       returning d.id
     ), recorded as (
       -- An attempt that was recorded as dead may still report its outcome; the outcome replaces it.
       insert into webhook_attempts as a (delivery_id, attempt, organization_id, started_at, duration_ms, response_status, error_reason, batch_id)
       select d.id, r.attempt, d.organization_id, r.started_at, r.duration_ms, r.response_status, r.reason::jsonb, d.batch_id
       from results r join webhook_deliveries d on d.id = r.id where r.sent and not :bare::boolean
       on conflict (delivery_id, attempt) do update
         set started_at = excluded.started_at, duration_ms = excluded.duration_ms, response_status = excluded.response_status, error_reason = excluded.error_reason
     ), health as materialized (
       select * from unnest(:endpoints::uuid[], :successes::timestamptz[], :failures::timestamptz[], :lastReasons::text[], :counts::int[], :sinces::timestamptz[])
         as h(id, success_at, failure_at, reason, failures, since)
     ), held as materialized (
       select e.id from webhook_endpoints e join health h on h.id = e.id
       where h.failure_at is not null or e.consecutive_failures > 0 or e.last_success_at is null or e.last_success_at < h.success_at - interval '1 second'
       order by e.id for no key update of e
     ), touched as (
       update webhook_endpoints e
       set last_success_at = greatest(e.last_success_at, h.success_at), last_failure_at = greatest(e.last_failure_at, h.failure_at),
         last_failure_reason = case when h.failure_at is null then e.last_failure_reason else h.reason::jsonb end,
         consecutive_failures = h.failures + case when h.success_at is null then e.consecutive_failures else 0 end,
         failing_since = case when h.failures = 0 then null when h.success_at is null then coalesce(e.failing_since, h.since) else h.since end
       from health h join held on held.id = h.id where e.id = h.id
       returning e.id, e.organization_id, e.enabled, e.failing_since as since, e.consecutive_failures as failures
     )
     select (select coalesce(json_agg(id), '[]') from decided) as decided,
       (select coalesce(json_agg(t), '[]') from touched t where enabled and since is not null) as failing`,
    {
      bare,
      ids: results.map(({ delivery }) => delivery.id),
      attempts: results.map(({ delivery }) => delivery.attempt),
      statuses: results.map(({ outcome }) => STATUS[outcome]),
      sent: results.map(wasSent),
      lanes: group.map(movesToLane),
      nexts: results.map(({ nextAttemptAt, outcome, startedAt }) =>
        outcome === 'released' ? startedAt : nextAttemptAt,
      ),
      starts: results.map(({ startedAt }) => startedAt),
      durations: results.map(({ durationMs }) => durationMs),
      responses: results.map(({ responseStatus }) => responseStatus),
      // Leaves out the excerpts if `bare` is true, because a receiver's text may be the value that cannot be stored.
      excerpts: results.map(({ excerpt }) => (bare ? null : excerpt)),
      reasons: results.map(({ errorReason }) => errorReason && json(errorReason)),
      finishes: results.map(({ finishedAt }) => finishedAt),
      endpoints: health.map(({ id }) => id),
      successes: health.map(({ successAt }) => successAt),
      failures: health.map(({ failureAt }) => failureAt),
      lastReasons: health.map(({ reason }) => reason && json(reason)),
      counts: health.map((one) => one.failures),
      sinces: health.map(({ since }) => since),
    },
  );
  return written!;
}

interface Health {
  id: string;
  successAt: Date | null;
  failureAt: Date | null;
  reason: Message | null;
  /** Number of failures since the last success in the group, or all failures if there was no success. */
  failures: number;
  /** Time of the first failure that `failures` counts. */
  since: Date | null;
}

/** Computes the endpoints' health from the results of a group, in the order in which the requests ended. */
function healthOf(results: readonly Result[]): Health[] {
  const byEndpoint = new Map<string, Health>();
  const sent = results.filter(wasSent).sort((a, b) => a.finishedAt.getTime() - b.finishedAt.getTime());
  for (const { delivery, outcome, finishedAt, errorReason } of sent) {
    const health = byEndpoint.get(delivery.endpointId) ?? {
      id: delivery.endpointId,
      successAt: null,
      failureAt: null,
      reason: null,
      failures: 0,
      since: null,
    };
    byEndpoint.set(
      delivery.endpointId,
      outcome === 'delivered'
        ? { ...health, successAt: finishedAt, failures: 0, since: null }
        : {
            ...health,
            failureAt: finishedAt,
            reason: errorReason,
            failures: health.failures + 1,
            since: health.since ?? finishedAt,
          },
    );
  }
  return [...byEndpoint.values()];
}
