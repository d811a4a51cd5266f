import type { Deps } from '../domain/kernel/context.ts';
import { mailWeeklyReport } from '../domain/weekly-reports/mail-report.ts';
import type { WeeklyReportActivities } from '../workflows/weekly-report/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** Activities of the weekly report. */
export function createWeeklyReportActivities(deps: Deps): WeeklyReportActivities {
  return {
    mailWeeklyReport: ({ organizationId, reportId }) =>
      orBlock(deps, organizationId, () => withPulse(() => mailWeeklyReport(contextOf(deps, organizationId), reportId))),
  };
}
