import type { WorkflowContract } from '../contract.ts';

/** Arguments of a mailbox check: ids only. The credentials wait, sealed, in the row the id names. */
export interface MailboxCheckArgs {
  organizationId: string;
  checkId: string;
}

/** Dials a mailbox's servers from a worker, whose network is the one that will send and read. */
export const mailboxCheckWorkflow: WorkflowContract<MailboxCheckArgs> = {
  type: 'mailboxCheck',
  kind: 'mailbox-check',
  id: ({ checkId }) => `mailbox-check/${checkId}`,
  summary: ({ checkId }) => `Check of mailbox credentials ${checkId}`,
  searchAttributes: ({ organizationId }) => ({ OrganizationId: organizationId }),
};

/** How far a conversation came before it failed. */
export type CheckStage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'session';

/** What one server said; null when it was not asked. The message is for people and holds no secret. */
export type SideResult = { ok: true } | { ok: false; stage: CheckStage; message: string } | null;

export interface MailboxCheckResult {
  smtp: SideResult;
  imap: SideResult;
}

/** Activities of this family, as the workflow sees them. */
export interface MailboxCheckActivities {
  /** Signs in to SMTP and IMAP side by side and says what came of it. */
  checkMailbox(args: MailboxCheckArgs): Promise<MailboxCheckResult>;
}
