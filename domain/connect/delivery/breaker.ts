import { LRUCache } from 'lru-cache';
import type { Deps } from '../../platform/kernel/context.ts';
import { engineSql } from './sql.ts';

/**
 * Number of consecutive failures from which an endpoint is treated as failing. Its deliveries are then attempted one at
 * a time.
 */
export const FAILING_FROM = 5;
/** Maximum time (ms) between two probes of a failing endpoint. */
const MAX_PROBE_PAUSE_MS = 60_000;
/** Time (ms) for which a process remembers failures that it has seen itself. */
const REMEMBERED_MS = 10_000;
const REMEMBERED = 10_000;

/**
 * Counts the consecutive failures of endpoints in this process. The endpoints' rows are updated later, when the results
 * are stored.
 */
export class SeenFailures {
  readonly #seen = new LRUCache<string, number>({ max: REMEMBERED, ttl: REMEMBERED_MS });

  /** Records the result of a request. */
  record(endpointId: string, succeeded: boolean): void {
    if (succeeded) this.#seen.delete(endpointId);
    else this.#seen.set(endpointId, (this.#seen.get(endpointId) ?? 0) + 1);
  }

  /** Returns true if the endpoint has failed {@link FAILING_FROM} times in a row. */
  isFailing(endpointId: string): boolean {
    return (this.#seen.get(endpointId) ?? 0) >= FAILING_FROM;
  }
}

/**
 * Returns the time (ms) until the next probe of a failing endpoint; undefined if the endpoint is disabled or not
 * failing.
 */
export async function probeInMs(
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  endpointId: string,
): Promise<number | undefined> {
  const [endpoint] = await engineSql<{ failures: number; last_failure_at: Date | null }>(
    db,
    'read_breaker',
    `select consecutive_failures as failures, last_failure_at from webhook_endpoints
     where id = :id::uuid and enabled and consecutive_failures >= ${FAILING_FROM}`,
    { id: endpointId },
  );
  if (!endpoint) return undefined;
  const pauseMs = Math.min(
    config.WEBHOOK_RETRY_BASE_MS * 2 ** Math.min(endpoint.failures - FAILING_FROM, 40),
    config.WEBHOOK_RETRY_CAP_MS,
    MAX_PROBE_PAUSE_MS,
  );
  return Math.max(0, (endpoint.last_failure_at?.getTime() ?? 0) + pauseMs - clock.now().getTime());
}

/**
 * Returns the time (ms) until the next retry of a failed delivery in an endpoint's batch. Undefined if no failed
 * delivery waits.
 */
export async function nextRetry(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  endpointId: string,
): Promise<{ waitMs?: number }> {
  const [next] = await engineSql<{ at: Date | null }>(
    db,
    'read_next_retry',
    `select min(next_attempt_at) as at from webhook_deliveries where batch_id = :id::uuid and status = 'failed'`,
    { id: endpointId },
  );
  return next!.at === null ? {} : { waitMs: Math.max(0, next!.at.getTime() - clock.now().getTime()) };
}
