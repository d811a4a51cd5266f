import { defineWorkflow, type ArgsOf, type Sentence } from '../contract.ts';

/**
 * Check of a mailbox's servers. A worker makes the check, so that it uses the network from which mail is sent and read.
 */
export const mailboxCheckWorkflow = defineWorkflow()({
  type: 'mailboxCheck',
  kind: 'mailbox-check',
  parts: ['checkId'],
  work: 'interactive',
  summary: ({ checkId }) => `Check of mailbox credentials ${checkId}`,
  cancel: 'Ends the check; the person who waits for it gets an error.',
  terminate: 'Ends the check; the person who waits for it gets an error.',
});

/** Arguments of a mailbox check. The credentials are in the row with this id, encrypted. */
export type MailboxCheckArgs = ArgsOf<typeof mailboxCheckWorkflow>;

/** Stage at which a check failed. At the stage `reading`, the server lacks a required capability. */
export type CheckStage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'session' | 'reading';

/**
 * Result for one server; null if the server was not contacted. Its message contains no secret. `lacks` lists optional
 * capabilities that the IMAP server does not have, by their protocol names. `maxBytes` is the size of the largest
 * message that the SMTP server accepts.
 */
export type SideResult =
  | { ok: true; lacks?: string[]; maxBytes?: number }
  | { ok: false; stage: CheckStage; message: Sentence }
  | null;

export interface MailboxCheckResult {
  smtp: SideResult;
  imap: SideResult;
}

/** Activities that the workflow calls. */
export interface MailboxCheckActivities {
  /** Signs in to SMTP and IMAP in parallel and returns both results. */
  checkMailbox(args: MailboxCheckArgs): Promise<MailboxCheckResult>;
}
