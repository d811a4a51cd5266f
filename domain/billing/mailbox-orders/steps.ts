import type { OrgScope } from '../../../db/tenancy.ts';
import type { Config } from '../../../lib/config/index.ts';
import { CALL_IS_FREE, callClaimMs, CLAIM_CALL } from '../../platform/kernel/call-claim.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, type Tx } from '../../platform/kernel/transact.ts';
import type { OrderRow, StepRow } from './states.ts';

/** Stores every step of a paid order, in order of execution: domains, mailboxes, DNS, warmup. */
export async function planSteps(tx: Tx, { id, domains, count, warmup }: OrderRow): Promise<void> {
  const positions = Array.from({ length: count }, (_unused, position) => position);
  const steps = [
    ...domains.flatMap(({ registration }, index) => (registration ? [`domain:${index}`] : [])),
    ...positions.map((position) => `mailbox:${position}`),
    ...domains.map((_domain, index) => `dns:${index}`),
    ...(warmup ? positions.map((position) => `warmup:${position}`) : []),
  ];
  await tx.org.insert(
    'order_steps',
    steps.map((step, seq) => ({ order_id: id, step, seq })),
  );
}

/** Returns the steps of an order, in order of execution. */
export function readSteps(org: OrgScope, orderId: string): Promise<StepRow[]> {
  return org.sql<StepRow>('select * from order_steps where organization_id = :org and order_id = :order order by seq', {
    order: orderId,
  });
}

/** Returns one step of an order; undefined if the order has no such step. */
export async function readStep(org: OrgScope, orderId: string, step: string): Promise<StepRow | undefined> {
  return org.table('order_steps').where({ order_id: orderId, step }).first();
}

/**
 * Claims a step, so that no other attempt calls the provider, and counts the attempt. The order must be locked.
 * @param move states in which the step may be called, and the SQL assignments of its new state
 * @returns `under_way` if another attempt's call may be in progress; undefined if the step is in another state
 */
export async function claimStep(
  tx: Tx,
  orderId: string,
  step: string,
  { PROVISIONING_TIMEOUT_MS: timeoutMs }: Config,
  move: { from: readonly StepRow['state'][]; to: string },
): Promise<StepRow | 'under_way' | undefined> {
  const [row] = await tx.org.sql<StepRow>(
    `update order_steps set ${move.to}, attempts = attempts + 1, ${CLAIM_CALL}
     where organization_id = :org and order_id = :order and step = :step and state = any(:from)
       and ${CALL_IS_FREE} returning *`,
    { order: orderId, step, from: [...move.from], now: tx.now, claimMs: callClaimMs(timeoutMs) },
  );
  if (row) return row;
  const left = await readStep(tx.org, orderId, step);
  return left && move.from.includes(left.state) ? 'under_way' : undefined;
}

/** Releases the claim of a step whose call got no response, so that the call can be repeated. */
export async function releaseStep(
  ctx: Ctx,
  { order_id: orderId, step }: Pick<StepRow, 'order_id' | 'step'>,
): Promise<void> {
  await singleStatement(ctx).table('order_steps').where({ order_id: orderId, step }).update({ call_until: null });
}
