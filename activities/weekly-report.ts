import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { mailWeeklyReport } from '../domain/weekly-reports/mail-report.ts';
import { weeklyReportWorkflow, type WeeklyReportActivities } from '../workflows/weekly-report/contract.ts';
import { orBlock } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** Activities of the weekly report. */
export function createWeeklyReportActivities(deps: Deps): WeeklyReportActivities {
  return {
    mailWeeklyReport(args) {
      const { organizationId, reportId } = args;
      const ctx = systemCtx(deps, organizationId, weeklyReportWorkflow.id(args));
      return orBlock(deps, organizationId, () => withPulse(() => mailWeeklyReport(ctx, reportId)));
    },
  };
}
