import type { Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/clock.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, INTEGRATION_DELIVERY } from '../../platform/dead-letters.ts';
import { emitSettled } from '../../directory/integration-deliveries.ts';
import { UNREACHABLE_AFTER, pauseCalls, type Delivery } from './claim.ts';

/** Outcome of one attempt. */
export type Outcome =
  | { kind: 'done' }
  /** Permanent failure: the attempt is not retried. */
  | { kind: 'refused'; said: Message }
  /** The provider requests a pause. The call is not counted as an attempt. */
  | { kind: 'limited'; retryAfterMs: number }
  /** The provider did not answer. */
  | { kind: 'unavailable'; said: Message }
  /** The account must be connected again. The delivery waits until then. */
  | { kind: 'reauth' };

const LONGEST_RETRY_MS = 6 * HOUR_MS;
/** Maximum pause (ms) between two calls to an unreachable provider. */
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;
const MAX_PAUSE_DOUBLINGS = 10;

/**
 * Stores the outcome of an attempt, and frees the lane for its next delivery. After a failure, the lane is due later
 * for the same delivery. If another worker has taken over the lease, only a success is stored.
 */
export function settleDelivery(ctx: Ctx, delivery: Delivery, lease: string, outcome: Outcome): Promise<void> {
  return transact(ctx, async (tx) => {
    const { connection_id: connection, lane_id: lane } = delivery;
    // A transaction that adds a delivery to the lane takes the same lock. Either its delivery is visible below, or it
    // waits and then creates the lane again.
    const [held] = await tx.org.sql(
      `select 1 from integration_lanes where organization_id = :org and connection_id = :connection and lane_id = :lane and lease = :lease for update`,
      { connection, lane, lease },
    );
    if (!held && outcome.kind !== 'done') return;
    await storePace(tx, delivery, outcome, ctx.config);
    const dueInMs = await settleRow(tx, delivery, outcome, ctx.config);
    if (held) await freeLane(tx, delivery, dueInMs);
  });
}

/** Stores the outcome of the delivery. Returns the time (ms) until its lane is due again. */
async function settleRow(tx: Tx, delivery: Delivery, outcome: Outcome, config: Config): Promise<number> {
  switch (outcome.kind) {
    case 'done':
      await endDelivery(tx, delivery, null);
      return 0;
    case 'refused':
      await endDelivery(tx, delivery, outcome.said);
      return 0;
    case 'limited':
      return outcome.retryAfterMs;
    case 'reauth':
      return 0;
    case 'unavailable': {
      const attempts = delivery.attempts + 1;
      if (attempts >= config.INTEGRATION_MAX_ATTEMPTS) {
        await endDelivery(tx, { ...delivery, attempts }, outcome.said);
        return 0;
      }
      await tx.org
        .table('integration_deliveries')
        .where({ id: delivery.id })
        .update({ attempts, last_error: json(outcome.said) });
      return Math.min(config.INTEGRATION_RETRY_BASE_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
    }
  }
}

/** Ends a delivery: deletes it after a success, or marks it as failed and adds a dead letter. */
async function endDelivery(tx: Tx, delivery: Delivery, error: Message | null): Promise<void> {
  const { id, connection_id: connectionId, action } = delivery;
  const ended =
    error === null
      ? await tx.org.table('integration_deliveries').where({ id, state: 'pending' }).delete()
      : await tx.org
          .table('integration_deliveries')
          .where({ id, state: 'pending' })
          .update({ state: 'failed', attempts: delivery.attempts, last_error: json(error), failed_at: tx.now });
  if (Number(ended) === 0) return;
  emitSettled(tx, delivery, error);
  if (error !== null)
    await addDeadLetter(tx, {
      taskId: id,
      taskType: INTEGRATION_DELIVERY,
      payload: { connection_id: connectionId, contact_id: delivery.contact_id, action },
      error,
      attempts: Math.max(1, delivery.attempts),
      maxAttempts: 0,
      nextRetryAt: null,
    });
}

/** Counts unanswered calls. After several in a row, the provider is called at growing intervals. */
async function storePace(
  tx: Tx,
  { connection_id: connection }: Delivery,
  outcome: Outcome,
  config: Config,
): Promise<void> {
  if (outcome.kind === 'reauth') return;
  if (outcome.kind === 'unavailable') {
    await tx.org.sql(
      `update integration_pace set failures = failures + 1,
         paused_until = case when failures + 1 < :away then paused_until
           else greatest(paused_until, cast(:now as timestamptz)
             + least(:first * power(2, least(failures + 1 - :away, :doublings)), :longest) * interval '1 millisecond') end
       where organization_id = :org and connection_id = :connection`,
      {
        connection,
        now: tx.now,
        away: UNREACHABLE_AFTER,
        first: config.INTEGRATION_RETRY_BASE_MS / 4,
        doublings: MAX_PAUSE_DOUBLINGS,
        longest: LONGEST_PAUSE_MS,
      },
    );
    return;
  }
  if (outcome.kind === 'limited') {
    await pauseCalls(tx, connection, outcome.retryAfterMs);
    return;
  }
  // Does not clear `paused_until`, because the provider may have requested a pause in the response to a parallel call.
  await tx.org.sql(
    'update integration_pace set failures = 0 where organization_id = :org and connection_id = :connection and failures > 0',
    { connection },
  );
}

/** Ends the lease of a lane, so that the lane is due again. Deletes the lane if it has no deliveries. */
async function freeLane(
  tx: Tx,
  { connection_id: connection, lane_id: lane }: Delivery,
  dueInMs: number,
): Promise<void> {
  await tx.org.sql(
    `with waiting as (
       select 1 from integration_deliveries where organization_id = :org and connection_id = :connection and lane_id = :lane and state = 'pending' limit 1
     ), over as (
       delete from integration_lanes where organization_id = :org and connection_id = :connection and lane_id = :lane
         and not exists (select from waiting)
     )
     update integration_lanes set due_at = :due, lease = null
     where organization_id = :org and connection_id = :connection and lane_id = :lane and exists (select from waiting)`,
    { connection, lane, due: new Date(tx.now.getTime() + dueInMs) },
  );
}

/**
 * Withdraws queued provider actions of the given automation runs. An action in flight may still be done. The caller has
 * ended the runs, so no action is added concurrently. Lanes that are now empty are deleted at their next claim.
 */
export async function withdrawActions(tx: Tx, automationRunIds: readonly string[]): Promise<void> {
  if (automationRunIds.length === 0) return;
  await tx.org.sql(
    `delete from integration_deliveries where organization_id = :org and source is not null
       and source ->> 'run_id' = any(cast(:runs as text[])) and state = 'pending'`,
    { runs: automationRunIds },
  );
}
