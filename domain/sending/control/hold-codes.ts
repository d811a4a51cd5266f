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

/** What each hold is called where a person reads of it. */
export const HOLD_TITLES: Readonly<Record<HoldCode, string>> = {
  auth_failed: 'The SMTP server refuses the sign-in',
  consent_ended: 'The provider has ended the consent to use the mailbox',
  imap_auth_failed: 'The IMAP server refuses the sign-in',
  sender_refused: 'The SMTP server refuses the mailbox as sender',
  sending_limit: 'The mailbox has reached a sending limit of its provider',
  sending_suspended: 'The provider has suspended sending from the mailbox',
  sender_not_verified: 'The provider has not verified the mailbox as sender',
  sender_reputation: 'The reputation of the mailbox, its domain or its network is refused',
  server_refused: 'The SMTP server does not take the mail in',
  order_unpaid: 'The mailbox was ordered, and its last month is not paid',
  domain_lapsed: 'The registration of the domain of the mailbox has ended',
};

const LIFT = 'Settle it with the mail provider, then lift the hold with PATCH /v1/emails/:id {"status": "active"}.';
const SIGN_IN = 'Send the right credentials with PATCH /v1/emails/:id (smtp, imap), or connect the mailbox again.';
const FIXES: Partial<Record<HoldCode, string>> = {
  auth_failed: SIGN_IN,
  imap_auth_failed: SIGN_IN,
  consent_ended: 'Connect the mailbox again.',
  sending_limit:
    'It sends again by itself; lower campaign_limit with PATCH /v1/emails/:id so that the limit is not reached.',
  order_unpaid:
    'Pay the open invoice that the payment provider has mailed; the mailbox sends again then. GET /v1/mailbox-provisioning shows the order.',
  domain_lapsed:
    'Pay the renewal at its checkout_url within 30 days (GET /v1/mailboxes/domains/renewals); the mailbox sends again once the domain is renewed.',
};

/** What a person does about a hold. */
export function fixOfHold(code: string): string {
  return FIXES[code as HoldCode] ?? LIFT;
}
