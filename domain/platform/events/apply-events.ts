import { isDatabaseUnavailable } from '../../../db/errors.ts';
import { systemCtx, type Ctx, type Deps } from '../kernel/context.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import { newId } from '../../../lib/ids.ts';
import { withTimeout } from '../../../lib/with-timeout.ts';
import { sortedTypes, type ReactionEvent, type Subscriber } from './subscriber.ts';

/** Maximum number of events applied in one transaction. */
const BATCH_SIZE = 500;
/** Time (ms) after which a transaction stops applying events and commits, to release its locks. */
const ENOUGH_MS = 500;
/**
 * Timeout (ms) of a statement. APPLY_TIMEOUT_MS limits all work of a transaction. Exceeding one of the two limits is
 * treated as a failure.
 */
const STATEMENT_TIMEOUT_MS = 15_000;
const APPLY_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 10;
/** First delay (ms) after a failure. The delay doubles up to the cap; ten attempts take about nine minutes. */
const RETRY_BASE_MS = 1_000;
const RETRY_CAP_MS = 300_000;
/**
 * Number of hops from which an event is treated as part of a loop and parked. A subscriber that reacts to an event
 * emits events with one hop more.
 */
export const MAX_HOPS = 16;

/** Result of one iteration on a stream. */
interface StreamIteration {
  /** `busy`: no event is due, or another process works on the stream. */
  outcome: 'applied' | 'failed' | 'parked' | 'busy';
  applied: number;
  /** True if further events can be applied immediately. */
  more: boolean;
}

const BUSY: StreamIteration = { outcome: 'busy', applied: 0, more: false };

/** The events of one iteration, read from the subscriber's position. */
interface Claim {
  position: number;
  head: number;
  attempts: number;
  events: ReactionEvent[];
  /** True if `events` contains all events of the stream up to the position `head`. */
  all: boolean;
}

/** Thrown when another process has advanced the subscriber's position. The transaction is then rolled back. */
class StaleClaim extends Error {}

class ReactionLoop extends Error {}

/**
 * Passes the next events of an organization to a subscriber. The subscriber's effects and its position commit in one
 * transaction. An advisory lock allows one process at a time, and the position is updated only if it is unchanged since
 * it was read. The events before a failing one are committed first. The failing event is retried later and parked after
 * its last attempt.
 */
export async function applyNextEvents(
  deps: Deps,
  subscriber: Subscriber,
  organizationId: string,
): Promise<StreamIteration> {
  for (let limit = BATCH_SIZE; ;) {
    let claim: Claim | undefined;
    let begun = 0;
    try {
      const ctx = systemCtx(deps, organizationId, `reaction/${subscriber.name}`);
      return await transact(ctx, async (tx) => {
        claim = await claimEvents(tx, subscriber, limit);
        if (!claim) return BUSY;
        const applied = await applyEvents(tx, ctx, subscriber, claim.events, (index) => void (begun = index));
        const done = applied === claim.events.length && claim.all;
        const more = await storePosition(
          tx,
          subscriber,
          claim,
          done ? claim.head : claim.events[applied - 1]!.position,
        );
        return { outcome: 'applied', applied, more };
      });
    } catch (error) {
      if (error instanceof StaleClaim) return BUSY;
      if (!claim || isDatabaseUnavailable(error)) throw error;
      const { events } = claim;
      const isFirst = subscriber.apply !== undefined && begun === 0;
      if (events.length > 1 && !isFirst) {
        // Retries with only the events before the failed one. If the failed one is unknown, retries with half of the
        // events.
        limit = subscriber.apply && begun < events.length ? begun : Math.ceil(events.length / 2);
        continue;
      }
      return recordFailure(deps, subscriber, organizationId, claim, error as Error);
    }
  }
}

/**
 * Locks the stream for this transaction and reads its next events. Returns undefined if no event is due or another
 * process has the lock.
 */
async function claimEvents(tx: Tx, subscriber: Subscriber, limit: number): Promise<Claim | undefined> {
  const types = sortedTypes(subscriber);
  const rows = await tx.org.sql<{
    stream_position: number;
    head: number;
    attempts: number;
    id: string | null;
    type: ReactionEvent['type'];
    position: number;
    created_at: Date;
    data: ReactionEvent['data'];
    hops: number | null;
  }>(
    `with stream as materialized (
       select s.position, s.head, s.attempts from reaction_streams s
       join reaction_subscribers r on r.name = s.subscriber and r.types = :types::text[]
       where s.organization_id = :org and s.subscriber = :name and s.head > s.position
         and s.waits_for is null and (s.next_attempt_at is null or s.next_attempt_at <= :now)
     ), claimed as materialized (
       select * from stream where pg_try_advisory_xact_lock(${STREAM_LOCK})
         and set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true) is not null
     )
     select c.position as stream_position, c.head, c.attempts, e.id, e.type, e.position, e.created_at, e.data, e.hops
     from claimed c left join lateral (
       select id, type, position, created_at, data, hops from domain_events
       where organization_id = :org and position > c.position and position <= c.head and type = any(:types::text[])
       order by position limit :limit
     ) e on true order by e.position`,
    { name: subscriber.name, types, now: tx.now, limit },
  );
  const [first] = rows;
  if (!first) return undefined;
  const events = rows.flatMap((row) => (row.id === null ? [] : [toEvent({ ...row, id: row.id }, tx)]));
  return {
    position: first.stream_position,
    head: first.head,
    attempts: first.attempts,
    events,
    all: events.length < limit,
  };
}

/**
 * SQL for the key of the advisory lock for one subscriber and organization. If two streams have the same hash, they
 * wait for each other, which does no harm.
 */
export const STREAM_LOCK = `hashtextextended('reaction/' || :name || '/' || :org, 0)`;

/** Converts a row of `domain_events` to an event of the transaction's organization. */
export function toEvent(
  row: Pick<ReactionEvent, 'id' | 'type' | 'position' | 'data'> & { created_at: Date; hops: number | null },
  tx: Tx,
): ReactionEvent {
  const { id, type, position, data } = row;
  return {
    id,
    type,
    position,
    data,
    createdAt: row.created_at,
    organizationId: tx.org.organizationId,
    hops: row.hops ?? 0,
  } as ReactionEvent;
}

/**
 * Calls the subscriber with the events in order.
 * @param onBegin called with the index of the next event
 * @returns the number of applied events, which is lower than given when the time is up
 * @throws ReactionLoop, and every error of the subscriber
 */
async function applyEvents(
  tx: Tx,
  ctx: Ctx,
  subscriber: Subscriber,
  events: readonly ReactionEvent[],
  onBegin: (index: number) => void,
): Promise<number> {
  const startedAt = performance.now();
  onBegin(0);
  if (events.length === 0) return 0;
  const work = async (): Promise<number> => {
    if (subscriber.applyBatch) {
      for (const event of events) refuseLoop(event);
      await applyWithin(tx, ctx, subscriber, events);
      return events.length;
    }
    for (const [index, event] of events.entries()) {
      onBegin(index);
      refuseLoop(event);
      await applyWithin(tx, ctx, subscriber, [event]);
      if (performance.now() - startedAt > ENOUGH_MS) return index + 1;
    }
    onBegin(events.length);
    return events.length;
  };
  // After a timeout the transaction is rolled back. A subscriber that is still running then fails at its next query.
  return withTimeout(work(), APPLY_TIMEOUT_MS, () => {
    throw new Error(`The reaction took longer than ${APPLY_TIMEOUT_MS} ms`);
  });
}

/** Applies events with a subscriber inside a transaction. Events emitted by the subscriber get one hop more. */
export async function applyWithin(
  tx: Tx,
  ctx: Ctx,
  subscriber: Subscriber,
  events: readonly ReactionEvent[],
): Promise<void> {
  tx.hops = Math.max(tx.hops, ...events.map(({ hops }) => hops + 1));
  const joined = { ...ctx, trx: tx.trx, hops: tx.hops };
  if (subscriber.applyBatch) await subscriber.applyBatch(tx, events, joined);
  else for (const event of events) await subscriber.apply(tx, event, joined);
}

/** @throws ReactionLoop for an event after {@link MAX_HOPS} successive reactions */
function refuseLoop({ hops, type }: ReactionEvent): void {
  if (hops >= MAX_HOPS)
    throw new ReactionLoop(
      `A loop: this ${type} came from ${hops} reactions in a row, each to an event of the one before`,
    );
}

/**
 * Stores the new position in the transaction of the effects. All events up to this position have been applied.
 * @returns true if there are more events to apply
 * @throws StaleClaim
 */
async function storePosition(tx: Tx, subscriber: Subscriber, claim: Claim, to: number): Promise<boolean> {
  const [moved] = await tx.org.sql<{ more: boolean }>(
    `update reaction_streams set position = :to, attempts = 0, next_attempt_at = null, last_error = null
     where organization_id = :org and subscriber = :name and position = :from and waits_for is null
     returning head > position as more`,
    { name: subscriber.name, from: claim.position, to },
  );
  if (!moved) throw new StaleClaim();
  return moved.more;
}

/** Counts a failure of the next event. Parks the event after its last attempt. */
async function recordFailure(
  deps: Deps,
  subscriber: Subscriber,
  organizationId: string,
  { position, attempts: before, events }: Claim,
  error: Error,
): Promise<StreamIteration> {
  // Without an event, the failure belongs to the whole stream, for example because a transaction could not commit.
  const event = events[0];
  if (!event) throw error;
  const attempts = before + 1;
  const isParked = error instanceof ReactionLoop || attempts >= (subscriber.maxAttempts ?? MAX_ATTEMPTS);
  const now = deps.clock.now();
  const parkedId = newId();
  const waits = isParked && subscriber.afterParking === 'wait';
  const wrote = await inTransaction(deps.db, async (trx) => {
    const org = new OrgScope(trx, organizationId);
    const changed = await org
      .table('reaction_streams')
      .where({ subscriber: subscriber.name, position, attempts: before })
      .whereNull('waits_for')
      .update({
        attempts: isParked ? 0 : attempts,
        next_attempt_at: isParked ? null : new Date(now.getTime() + retryDelayMs(attempts)),
        last_error: isParked ? null : errorSummary(error),
        waits_for: waits ? parkedId : null,
        ...(isParked && !waits ? { position: event.position } : {}),
      });
    if (changed === 0 || !isParked) return changed > 0;
    await org.insert('reaction_parked_events', {
      id: parkedId,
      subscriber: subscriber.name,
      event_id: event.id,
      event_type: event.type,
      position: event.position,
      attempts,
      last_error: errorSummary(error),
      state: 'parked',
      parked_at: now,
    });
    return true;
  });
  if (!wrote) return BUSY;
  const facts = {
    err: error,
    subscriber: subscriber.name,
    organizationId,
    eventId: event.id,
    type: event.type,
    attempts,
  };
  if (isParked) deps.log.error({ ...facts, parkedId }, 'reaction: an event was parked');
  else deps.log.warn(facts, 'reaction: an event failed, will try again');
  return { outcome: isParked ? 'parked' : 'failed', applied: 0, more: isParked && !waits };
}

function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_BASE_MS * 2 ** (attempts - 1), RETRY_CAP_MS);
}
