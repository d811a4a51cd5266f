import { DateTime } from 'luxon';
import { across } from '../../../db/across.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { weeklyReportWorkflow } from '../../../workflows/weekly-report/contract.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { transact } from '../../platform/kernel/transact.ts';

/**
 * Hour on Monday, in the workspace's time zone, at which a report is sent. `LATE_HOURS` is the time after that within
 * which a late report is still sent.
 */
const LEAVES_AT_HOUR = 8;
const LATE_HOURS = 48;

/** A week that has ended: from Monday 00:00 to the next Monday in a time zone. */
interface Week {
  /** Date of the Monday of the reported week, YYYY-MM-DD. */
  week: string;
  from: Date;
  to: Date;
}

/** Returns the week for which a report is due now. Undefined before Monday 8:00, and from two days later on. */
export function weekDue(now: Date, timezone: string): Week | undefined {
  const local = DateTime.fromJSDate(now, { zone: timezone });
  const monday = local.startOf('week');
  const leaves = monday.set({ hour: LEAVES_AT_HOUR });
  if (local < leaves || local >= leaves.plus({ hours: LATE_HOURS })) return undefined;
  const from = monday.minus({ weeks: 1 });
  return { week: from.toISODate()!, from: from.toJSDate(), to: monday.toJSDate() };
}

/** Returns the seven local days before `from`. The range is an hour longer or shorter at a clock change. */
export function weekBefore(from: Date, timezone: string): { from: Date; to: Date } {
  return { from: DateTime.fromJSDate(from, { zone: timezone }).minus({ weeks: 1 }).toJSDate(), to: from };
}

/**
 * Creates the due reports of all workspaces with reports enabled, and starts their workflows in the same transaction.
 * Creates one report per week, even if several processes call this function repeatedly.
 * @returns the number of created reports
 * @throws AggregateError at the end if some workspaces failed
 */
export async function planWeeklyReports(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  const wanting = await across(deps.db, 'maintenance').sql<{ id: string; timezone: string }>(
    `select o.id, o.timezone from organizations o
     where o.weekly_report and not exists (select from weekly_reports r where r.organization_id = o.id and r.created_at > :since) order by o.id`,
    { since: new Date(now.getTime() - 4 * DAY_MS) },
  );
  let made = 0;
  await forEachIsolated(deps, wanting, async ({ id, timezone }) => {
    const due = weekDue(now, timezone);
    if (!due) return;
    made += await transact(systemCtx(deps, id, 'weekly-reports/plan'), async (tx) => {
      const rows = await tx.org.sql<{ id: string }>(
        `insert into weekly_reports (id, organization_id, week, from_at, to_at, created_at)
         values (:id, :org, :week, :from, :to, :now) on conflict (organization_id, week) do nothing returning id`,
        { id: newId(), ...due, now },
      );
      for (const { id: reportId } of rows) tx.intend(start(weeklyReportWorkflow, { organizationId: id, reportId }));
      return rows.length;
    });
  });
  return made;
}
