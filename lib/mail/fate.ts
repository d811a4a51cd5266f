/**
 * What became of a message whose sending failed: it was not taken and may be sent `later`, its recipient or content is refused for good
 * (`never`), or it may have been taken, because the answer of the server was lost (`unknown`).
 */
export type MailFate = 'later' | 'never' | 'unknown';
