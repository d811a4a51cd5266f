import type { Row } from '../../../db/rows.ts';
import type { Config } from '../../../lib/config/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { refreshLeaseMs } from './account.ts';
import type { Provider } from './providers/provider.ts';

export type Delivery = Row<'integration_deliveries'>;

/** Deliveries that this worker must make now. Each is the first one of its lane (the ordered queue of one contact). */
export interface Claimed {
  kind: 'claimed';
  lease: string;
  deliveries: Delivery[];
}

/** No delivery is due. `wakeAt` (epoch ms) is the time of the next delivery; `empty` means that no delivery waits. */
type NothingDue = { kind: 'wait'; wakeAt: number; why: string } | { kind: 'empty' };

/**
 * Maximum number of requests of one delivery: preparatory requests, a repeated request after a rejected token, and the
 * action itself.
 */
const MAX_REQUESTS = 6;
/** Minimum duration (ms) of a lease. It covers the time that a delivery spends in this process and in PostgreSQL. */
const SHORTEST_LEASE_MS = 20_000;
/**
 * Number of consecutive calls without a response after which a provider is treated as unreachable. From then on, one
 * delivery at a time is tried, at growing intervals.
 */
export const UNREACHABLE_AFTER = 3;

/**
 * Returns the lease (ms) of claimed deliveries. The lease is longer than all requests of a delivery plus the wait for
 * another process's token refresh. An expired lease therefore means that the worker has crashed.
 */
export function leaseMs(config: Pick<Config, 'INTEGRATION_TIMEOUT_MS'>): number {
  return Math.max(SHORTEST_LEASE_MS, MAX_REQUESTS * config.INTEGRATION_TIMEOUT_MS + refreshLeaseMs(config));
}

/**
 * Claims due deliveries of a connection, at most one per lane and as many as the provider's rate limit allows now. All
 * workers share the rate counter of the connection (`integration_pace`). The claimed lanes are leased, so that no other
 * worker claims them. Lanes of a crashed worker are due again when their lease ends.
 * @param rate limit of the provider for one connection
 */
export async function claimDeliveries(
  ctx: Ctx,
  connectionId: string,
  rate: Provider['rate'],
  most: number,
): Promise<Claimed | NothingDue> {
  return transact(ctx, async (tx) => {
    const pace = await lockPace(tx, connectionId, rate);
    if (!pace) return { kind: 'empty' };
    const now = tx.now.getTime();
    const wait = waitOf(pace, rate, now);
    if (wait) return (await hasLanes(tx, connectionId)) ? { kind: 'wait', ...wait } : { kind: 'empty' };
    const allowed = Math.min(Math.floor(pace.tokens), pace.failures >= UNREACHABLE_AFTER ? 1 : most);
    const lease = newId();
    const deliveries = await tx.org.sql<Delivery>(CLAIM_SQL, {
      connection: connectionId,
      now: tx.now,
      until: new Date(now + leaseMs(ctx.config)),
      lease,
      most: allowed,
    });
    await spend(tx, connectionId, pace.tokens - deliveries.length);
    if (deliveries.length > 0) return { kind: 'claimed', lease, deliveries };
    const [next] = await tx.org.sql<{ due: Date | null }>(
      'select min(due_at) as due from integration_lanes where organization_id = :org and connection_id = :connection',
      { connection: connectionId },
    );
    return next?.due
      ? { kind: 'wait', wakeAt: next.due.getTime(), why: 'the next delivery is due later' }
      : { kind: 'empty' };
  });
}

/**
 * Selects the due lanes of a connection, longest due first, with the first pending delivery of each. Deletes lanes
 * without a pending delivery.
 */
const CLAIM_SQL = `with due as (
    select lane_id from integration_lanes
    where organization_id = :org and connection_id = :connection and due_at <= :now
    order by due_at limit :most for update skip locked
  ), heads as (
    select d.lane_id, h.* from due d left join lateral (
      select i.id as delivery_id from integration_deliveries i
      where i.connection_id = :connection and i.lane_id = d.lane_id and i.state = 'pending' order by i.position limit 1
    ) h on true
  ), leased as (
    update integration_lanes l set due_at = :until, lease = :lease
    from heads h where l.connection_id = :connection and l.lane_id = h.lane_id and h.delivery_id is not null
  ), over as (
    delete from integration_lanes l using heads h where l.connection_id = :connection and l.lane_id = h.lane_id and h.delivery_id is null
  )
  select i.* from heads h join integration_deliveries i on i.id = h.delivery_id order by i.position`;

interface Pace {
  tokens: number;
  pausedUntil: number | null;
  failures: number;
}

/**
 * Locks the rate counter of a connection and computes the number of calls that it allows now. Undefined if the
 * connection was deleted.
 */
async function lockPace(tx: Tx, connectionId: string, rate: Provider['rate']): Promise<Pace | undefined> {
  const [row] = await tx.org.sql<{ tokens: number; paused_until: Date | null; failures: number }>(
    `select least(cast(:capacity as float8), tokens + greatest(0, extract(epoch from cast(:now as timestamptz) - counted_at)) * :rate) as tokens,
       paused_until, failures
     from integration_pace where organization_id = :org and connection_id = :connection for update`,
    { connection: connectionId, capacity: rate.capacity, rate: rate.perSecond, now: tx.now },
  );
  return row && { tokens: row.tokens, pausedUntil: row.paused_until?.getTime() ?? null, failures: row.failures };
}

/**
 * Returns the earliest time (epoch ms) of the next call and the reason for the wait, or undefined if a call is allowed
 * now.
 */
function waitOf(
  { pausedUntil, tokens }: Pace,
  { perSecond }: Provider['rate'],
  now: number,
): { wakeAt: number; why: string } | undefined {
  if (pausedUntil !== null && pausedUntil > now)
    return { wakeAt: pausedUntil, why: 'the provider is away or asks to wait' };
  if (tokens < 1) return { wakeAt: now + Math.ceil(((1 - tokens) / perSecond) * 1000), why: "the provider's limit" };
  return undefined;
}

async function spend(tx: Tx, connectionId: string, tokens: number): Promise<void> {
  await tx.org.sql(
    'update integration_pace set tokens = :tokens, counted_at = :now where organization_id = :org and connection_id = :connection',
    { connection: connectionId, tokens, now: tx.now },
  );
}

async function hasLanes(tx: Tx, connectionId: string): Promise<boolean> {
  const [row] = await tx.org.sql(
    'select 1 from integration_lanes where organization_id = :org and connection_id = :connection limit 1',
    { connection: connectionId },
  );
  return row !== undefined;
}

/**
 * Counts one call against a connection's rate limit, for work outside its delivery queue.
 * @returns 0 if the call is allowed, otherwise the time (ms) until the next attempt
 */
export async function acquireCall(ctx: Ctx, connectionId: string, rate: Provider['rate']): Promise<number> {
  return transact(ctx, async (tx) => {
    const pace = await lockPace(tx, connectionId, rate);
    if (!pace) return 0;
    const now = tx.now.getTime();
    const wait = waitOf(pace, rate, now);
    if (wait) return wait.wakeAt - now;
    await spend(tx, connectionId, pace.tokens - 1);
    return 0;
  });
}

/**
 * Pauses all calls to a provider that answered 429: deliveries, pushes and health checks. The provider did answer, so
 * its failure count is reset.
 * @returns false for a deleted connection
 */
export async function pauseCalls(tx: Tx, connectionId: string, forMs: number): Promise<boolean> {
  const rows = await tx.org.sql(
    `update integration_pace set failures = 0, paused_until = greatest(paused_until, cast(:now as timestamptz) + :forMs * interval '1 millisecond')
     where organization_id = :org and connection_id = :connection returning 1`,
    { connection: connectionId, now: tx.now, forMs },
  );
  return rows.length > 0;
}
