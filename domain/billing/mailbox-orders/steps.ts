import type { OrgScope } from '../../../db/tenancy.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
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
