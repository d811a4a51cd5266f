import type { Row } from '../../../db/rows.ts';
import type { StepKey } from './ports.ts';

export type QuoteRow = Row<'mailbox_quotes'>;
export type OrderRow = Row<'mailbox_orders'>;
export type StepRow = Row<'order_steps'>;
export type OrderState = OrderRow['state'];

/** All states of an order, in the order in which an order passes through them. */
export const ORDER_STATES = [
  'awaiting_payment',
  'paid',
  'queued',
  'provisioning',
  'configuring',
  'ready',
  'failed',
  'cancelled',
] as const satisfies readonly OrderState[];

/** States of an order that is paid but not ready. */
export const WORKING: readonly OrderState[] = ['paid', 'queued', 'provisioning', 'configuring'];

/** A step of an order: its kind, and the index of its domain or mailbox in the order. */
interface Step {
  kind: 'domain' | 'mailbox' | 'dns' | 'warmup';
  index: number;
}

/**
 * Parses the key of a step, such as `mailbox:3`. The key contains no domain or address, because it appears in workflow
 * histories and requests.
 */
export function parseStep(key: string): Step {
  const [, kind, index] = /^(domain|mailbox|dns|warmup):(\d+)$/.exec(key) ?? [];
  if (!kind) throw new RangeError('no step of an order');
  return { kind: kind as Step['kind'], index: Number(index) };
}

/** Returns the idempotency key of a step's call, the same on every attempt. */
export function stepKey(orderId: string, step: string): StepKey {
  return `${orderId}/${step}`;
}

/** Returns the idempotency key of the call that undoes a step. */
export function undoKey(orderId: string, step: string): StepKey {
  return `${stepKey(orderId, step)}/undo`;
}

/** Returns true if an order has failed or was cancelled. Its steps are not necessarily undone yet. */
export function hasEnded(state: OrderState): boolean {
  return state === 'failed' || state === 'cancelled';
}
