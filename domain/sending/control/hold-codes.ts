import { message, type Message, type MessageCode } from '../../../messages/index.ts';

/**
 * Reason why a mailbox is held. The sign-in was refused, the OAuth consent has ended, a mail server objects to the
 * mailbox or its settings, or the mailbox cannot be synchronized. Ordered mailboxes are also held while the order is
 * unpaid or after their domain has lapsed.
 */
export type HoldCode =
  | 'auth_failed'
  | 'consent_ended'
  | ReadingHoldCode
  | 'sender_refused'
  | 'sending_limit'
  | 'sending_suspended'
  | 'sender_not_verified'
  | 'sender_reputation'
  | 'server_refused'
  | OrderHoldCode;

/**
 * Holds of a mailbox that cannot be read, during which nothing is sent, because replies and bounces would not be
 * noticed. The IMAP server refuses the sign-in or lacks a required capability, or the INBOX has not been read for an
 * hour.
 */
export const READING_HOLDS = ['imap_auth_failed', 'imap_unsupported', 'imap_unread'] as const;
type ReadingHoldCode = (typeof READING_HOLDS)[number];

/**
 * Holds caused by a purchase of mailboxes. They end only when the order is paid or the domain renewed, not by enabling
 * the mailbox, new credentials or another hold.
 */
export const ORDER_HOLDS = ['order_unpaid', 'domain_lapsed'] as const;
export type OrderHoldCode = (typeof ORDER_HOLDS)[number];

/** Returns true if a purchase of mailboxes caused the hold. */
export function isOrderHold(code: string | null): code is OrderHoldCode {
  return (ORDER_HOLDS as readonly (string | null)[]).includes(code);
}

/** Returns the title of a hold, for people. */
export function holdTitle(code: string): Message {
  return message(`hold.${code as HoldCode}`);
}

const FIXES: Partial<Record<HoldCode, MessageCode>> = {
  auth_failed: 'hold.sign_in.fix',
  imap_auth_failed: 'hold.sign_in.fix',
  imap_unsupported: 'hold.imap_unsupported.fix',
  imap_unread: 'hold.imap_unread.fix',
  consent_ended: 'hold.consent_ended.fix',
  sending_limit: 'hold.sending_limit.fix',
  order_unpaid: 'hold.order_unpaid.fix',
  domain_lapsed: 'hold.domain_lapsed.fix',
};

/** Returns the instruction for people on how to end a hold. */
export function fixOfHold(code: string): Message {
  return { code: FIXES[code as HoldCode] ?? 'hold.lift.fix', values: {} };
}
