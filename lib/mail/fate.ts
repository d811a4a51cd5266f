/**
 * Outcome of an email that failed. `later`: it was not accepted and may be sent again. `never`: its recipient or
 * content was permanently refused. `unknown`: it may have been accepted, because the server's answer was lost.
 */
export type MailFate = 'later' | 'never' | 'unknown';
