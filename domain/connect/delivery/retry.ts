import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import type { DeliveryReport } from '../../../workflows/webhook-delivery/contract.ts';
import { attempt } from './attempt.ts';
import { claimWebhookDeliveries } from './claim.ts';
import type { DeliveryEngine } from './engine.ts';

type DeliveryState = Columns<
  'webhook_deliveries',
  'endpoint_id' | 'status' | 'attempt_count' | 'max_attempts' | 'next_attempt_at' | 'response_status' | 'batch_id'
>;

/** Time (ms) between two checks while another attempt has claimed the delivery. */
const RECHECK_MS = 1_000;
/** Delay (ms) before a delivery is retried because its endpoint has the maximum number of open requests. */
const BUSY_MS = 15_000;

/**
 * Makes the next attempt of a delivery if it is due, and returns the time of the one after it. Repeated calls are safe:
 * a delivery with a final result is not changed, and the attempt of a crashed worker is taken over when its claim ends.
 */
export async function attemptDelivery(
  engine: DeliveryEngine,
  { organizationId, deliveryId }: { organizationId: string; deliveryId: string },
): Promise<DeliveryReport> {
  const { deps, lanes, settler } = engine;
  const { db, clock } = deps;
  const look = () =>
    across(db, 'engine')
      .table('webhook_deliveries')
      .where({ id: deliveryId, organization_id: organizationId })
      .first(
        'endpoint_id',
        'status',
        'attempt_count',
        'max_attempts',
        'next_attempt_at',
        'response_status',
        'batch_id',
      ) as Promise<DeliveryState | undefined>;
  const before = await look();
  const early = before?.status === 'failed' && before.next_attempt_at !== null && before.next_attempt_at > clock.now();
  if (!before || isSettled(before) || early) return reportOf(before, clock.now());
  // Acquires the permit before the claim, because waiting for a permit must not be counted as an attempt.
  const permit = await lanes.acquire(before.endpoint_id, 'retry');
  if (!permit)
    return { state: 'waiting', at: clock.now().getTime() + BUSY_MS, why: 'the endpoint is busy with other deliveries' };
  try {
    const [delivery] = await claimWebhookDeliveries(deps, { deliveryId, organizationId });
    if (delivery) {
      const result = await attempt(engine, delivery);
      permit.release();
      await settler.settle(result, 'own run');
    }
  } finally {
    permit.release();
  }
  return reportOf(await look(), clock.now());
}

function isSettled({ status, batch_id: batchId }: DeliveryState): boolean {
  return status === 'delivered' || status === 'abandoned' || batchId !== null;
}

function reportOf(state: DeliveryState | undefined, now: Date): DeliveryReport {
  if (!state) return { state: 'settled', why: 'the delivery was deleted' };
  const attempts = `attempt ${state.attempt_count} of ${state.max_attempts}${state.response_status === null ? '' : `, status ${state.response_status}`}`;
  if (state.status === 'delivered' || state.status === 'abandoned')
    return { state: 'settled', why: `${state.status}, ${attempts}` };
  if (state.batch_id !== null) return { state: 'settled', why: 'a batch has the delivery' };
  return {
    state: 'waiting',
    at: state.next_attempt_at?.getTime() ?? now.getTime() + RECHECK_MS,
    why: `${state.status}, ${attempts}`,
  };
}
