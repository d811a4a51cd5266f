import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of this workflow. They carry no data: PostgreSQL stores the recipients. */
export type ApprovalMailSignals = {
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Emails the people who may decide on an approval. */
export const approvalMailWorkflow = defineWorkflow<ApprovalMailSignals>()({
  type: 'approvalMail',
  kind: 'approval-mail',
  parts: ['approvalId'],
  // `interactive`, because people must decide within half an hour.
  work: 'interactive',
  summary: ({ approvalId }) => `Mail about approval ${approvalId}`,
  cancel: 'Ends this run; maintenance opens another one. Decide or withdraw the approval to stop its mails.',
});

/** Arguments of the approval mail workflow. */
export type ApprovalMailArgs = ArgsOf<typeof approvalMailWorkflow>;

/** Activities that the workflow calls. */
export interface ApprovalMailActivities {
  /** Emails everyone who may decide and has not been emailed yet, as long as the approval is pending. */
  mailApprovers(args: ApprovalMailArgs): Promise<Extract<Iteration, { kind: 'done' }>>;
}
