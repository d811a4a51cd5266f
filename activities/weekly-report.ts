import type { Deps } from '../domain/platform/kernel/context.ts';
import { mailWeeklyReport } from '../domain/reporting/weekly-reports/mail-report.ts';
import type { WeeklyReportActivities } from '../workflows/weekly-report/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of the weekly report. */
export function createWeeklyReportActivities(deps: Deps): WeeklyReportActivities {
  return {
    mailWeeklyReport: (args) => callVerb(deps, args, (ctx) => mailWeeklyReport(ctx, args.reportId)),
  };
}
