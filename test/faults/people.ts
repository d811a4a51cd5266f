/**
 * Action of a contact, independent of the mail server's handling of its emails:
 * - `event`: its product reports the event that the campaign waits for;
 * - `timeout`: no event arrives, and the wait times out;
 * - `reply`: the contact replies to the first email;
 * - `bounce`: its server refuses its emails permanently.
 */
export type Behaviour = 'event' | 'timeout' | 'reply' | 'bounce';

/**
 * Handling of a contact's emails by the mail server. It accepts an email at once (`plain`) or late (`delay`), or
 * refuses it temporarily (`defer`). `drop` cuts the connection after accepting it, `lose` before.
 */
export type Transport = 'plain' | 'delay' | 'defer' | 'drop' | 'lose';

export interface Person {
  contactId: string;
  enrollmentId: string;
  email: string;
  behaviour: Behaviour;
  transport: Transport;
  /** Number of 503 responses of the app to this contact's call before it succeeds. */
  appFailures: number;
  /** Response time of the app (ms). */
  appDelayMs: number;
  /** Time (ms) from the app's answer to the report of its event. */
  eventDelayMs: number;
  /** Code in the app's answer, which the follow-up email must contain. */
  code: string;
}

export const EVENT_NAME = 'order.paid';
/** Texts that identify the step of an email in the mail server's own record, independently of the database. */
export const MARKS = ['mark-of-the-first-email', 'mark-of-the-follow-up'] as const;
