import type { Row } from '../../../db/rows.ts';
import type { StepKey } from './ports.ts';

export type QuoteRow = Row<'mailbox_quotes'>;
export type OrderRow = Row<'mailbox_orders'>;
export type StepRow = Row<'order_steps'>;
export type OrderState = OrderRow['state'];

/** Every state of an order, in the order of its life. */
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

/** Paid, and not ready yet. */
export const WORKING: readonly OrderState[] = ['paid', 'queued', 'provisioning', 'configuring'];

/** A step of the saga: of the domain, or of the mailbox, with this place in the order. */
interface Step {
  kind: 'domain' | 'mailbox' | 'dns' | 'warmup';
  index: number;
}

/** Reads the key of a step, such as `mailbox:3`. It names no domain and no address: it stands in histories and in requests. */
export function parseStep(key: string): Step {
  const [, kind, index] = /^(domain|mailbox|dns|warmup):(\d+)$/.exec(key) ?? [];
  if (!kind) throw new RangeError('no step of an order');
  return { kind: kind as Step['kind'], index: Number(index) };
}

/** The idempotency key of a step's call: the same on every attempt. */
export function stepKey(orderId: string, step: string): StepKey {
  return `${orderId}/${step}`;
}

/** The idempotency key of the call that undoes a step. */
export function undoKey(orderId: string, step: string): StepKey {
  return `${stepKey(orderId, step)}/undo`;
}

/** Whether an order came to nothing. What it has made may still be under way of being undone. */
export function hasEnded(state: OrderState): boolean {
  return state === 'failed' || state === 'cancelled';
}
