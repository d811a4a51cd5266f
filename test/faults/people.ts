/**
 * What one contact does, apart from what the mail server does to its mail:
 * - `event`: its product reports the event the campaign waits for;
 * - `timeout`: nothing happens, the wait runs out;
 * - `reply`: it answers the first email;
 * - `bounce`: its server refuses it for good.
 */
export type Behaviour = 'event' | 'timeout' | 'reply' | 'bounce';

/** How the mail server treats the mail of one contact: at once, late, later, or with a cut connection. */
export type Transport = 'plain' | 'delay' | 'defer' | 'drop' | 'lose';

export interface Person {
  contactId: string;
  enrollmentId: string;
  email: string;
  behaviour: Behaviour;
  transport: Transport;
  /** Times the app answers this contact's call with 503 first. */
  appFailures: number;
  /** How long (ms) the app takes. */
  appDelayMs: number;
  /** What the app answers; it must appear in the follow-up. */
  code: string;
}

export const EVENT_NAME = 'order.paid';
/** Marks an email of a step in the mail server's own record, whatever the database says. */
export const MARKS = ['mark-of-the-first-email', 'mark-of-the-follow-up'] as const;
