/**
 * Outcome of a failed email. `later`: not accepted, may be resent. `never`: recipient or content permanently refused.
 * `unknown`: possibly accepted, because the server's answer was lost.
 */
export type MailFate = 'later' | 'never' | 'unknown';
