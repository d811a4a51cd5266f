import { message, type Message, type MessageCode } from '../../../messages/index.ts';

/**
 * What a mailbox is held for: a refused sign-in, a consent that has ended, what a mail server holds against the mailbox or its settings, or an
 * order of mailboxes that is not paid or whose domain has lapsed.
 */
export type HoldCode =
  | 'auth_failed'
  | 'consent_ended'
  | 'imap_auth_failed'
  | 'sender_refused'
  | 'sending_limit'
  | 'sending_suspended'
  | 'sender_not_verified'
  | 'sender_reputation'
  | 'server_refused'
  | OrderHoldCode;

/**
 * Holds of ordered mailboxes. They last until what they wait for has come: neither a person who switches the mailbox on, nor new credentials,
 * nor a hold for another reason ends them.
 */
export const ORDER_HOLDS = ['order_unpaid', 'domain_lapsed'] as const;
export type OrderHoldCode = (typeof ORDER_HOLDS)[number];

/** Whether a hold is that of an order. */
export function isOrderHold(code: string | null): code is OrderHoldCode {
  return (ORDER_HOLDS as readonly (string | null)[]).includes(code);
}

/** The title of a hold, where a person reads of it. */
export function holdTitle(code: string): Message {
  return message(`hold.${code as HoldCode}`);
}

const FIXES: Partial<Record<HoldCode, MessageCode>> = {
  auth_failed: 'hold.sign_in.fix',
  imap_auth_failed: 'hold.sign_in.fix',
  consent_ended: 'hold.consent_ended.fix',
  sending_limit: 'hold.sending_limit.fix',
  order_unpaid: 'hold.order_unpaid.fix',
  domain_lapsed: 'hold.domain_lapsed.fix',
};

/** What a person does about a hold. */
export function fixOfHold(code: string): Message {
  return { code: FIXES[code as HoldCode] ?? 'hold.lift.fix', values: {} };
}
