import { defineWorkflow, type ArgsOf, type Sentence } from '../contract.ts';

/** Connects to a mailbox's servers from a worker, because its network will send and read. */
export const mailboxCheckWorkflow = defineWorkflow()({
  type: 'mailboxCheck',
  kind: 'mailbox-check',
  parts: ['checkId'],
  work: 'interactive',
  summary: ({ checkId }) => `Check of mailbox credentials ${checkId}`,
  cancel: 'Ends the check; the person who waits for it gets an error.',
  terminate: 'Ends the check; the person who waits for it gets an error.',
});

/** Arguments of a mailbox check. The credentials are sealed in the row that the id names. */
export type MailboxCheckArgs = ArgsOf<typeof mailboxCheckWorkflow>;

/** Stage at which a check failed. At `reading` the server lacks a required capability. */
export type CheckStage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'session' | 'reading';

/**
 * Result of one server; null if it was not contacted. Its message contains no secret. `lacks` are optional abilities
 * that an IMAP server does not have, by their names in the protocol. `maxBytes` is the largest message that an SMTP
 * server takes.
 */
export type SideResult =
  | { ok: true; lacks?: string[]; maxBytes?: number }
  | { ok: false; stage: CheckStage; message: Sentence }
  | null;

export interface MailboxCheckResult {
  smtp: SideResult;
  imap: SideResult;
}

/** Activities of this family for the workflow. */
export interface MailboxCheckActivities {
  /** Signs in to SMTP and IMAP in parallel and returns both results. */
  checkMailbox(args: MailboxCheckArgs): Promise<MailboxCheckResult>;
}
