import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of this workflow. A signal only wakes the workflow; PostgreSQL stores the recipients. */
export type WeeklyReportSignals = {
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Emails a workspace's report of one week to its members. */
export const weeklyReportWorkflow = defineWorkflow<WeeklyReportSignals>()({
  type: 'weeklyReport',
  kind: 'weekly-report',
  parts: ['reportId'],
  work: 'standard',
  summary: ({ reportId }) => `Weekly report ${reportId}`,
  cancel: 'Ends this run; maintenance opens another one. Members switch the report off for themselves.',
});

/** Arguments of the weekly report workflow. */
export type WeeklyReportArgs = ArgsOf<typeof weeklyReportWorkflow>;

/** Activities that the workflow calls. */
export interface WeeklyReportActivities {
  /** Emails everyone who receives the report and has not been emailed yet, as long as no later week's report is due. */
  mailWeeklyReport(args: WeeklyReportArgs): Promise<Extract<Iteration, { kind: 'done' }>>;
}
