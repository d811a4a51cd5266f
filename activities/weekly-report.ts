import { mailWeeklyReport } from '../domain/reporting/weekly-reports/mail-report.ts';
import { weeklyReportWorkflow, type WeeklyReportActivities } from '../workflows/weekly-report/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** Workflow and activities for weekly reports. */
export const weeklyReport = family<WeeklyReportActivities>({
  contract: weeklyReportWorkflow,
  queue: 'mail',
  activities: ({ deps }) => ({
    mailWeeklyReport: (args) => callVerb(deps, args, (ctx) => mailWeeklyReport(ctx, args.reportId)),
  }),
  mustBeOpen: { table: 'weekly_reports', open: `state = 'due'` },
  blocked: { taskType: 'weekly_report' },
});
