import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { toLanguage } from '../../../messages/index.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader } from '../../platform/kernel/transact.ts';
import { sendClaimedMail } from '../../platform/claimed-mail.ts';
import { readWeeklyFigures, type WeeklyFigures } from './figures.ts';
import { weeklyReportMail } from './mail.ts';
import { unsubscribeUrl } from './opt-out.ts';
import { weekBefore } from './plan.ts';

interface Report {
  id: string;
  week: string;
  from_at: Date;
  to_at: Date;
  name: string;
  timezone: string;
  weekly_report: boolean;
  language: string | null;
}

/** A member who receives the report. */
type Member = Columns<'users', 'id' | 'email' | 'language'>;

/** Number of days after which an unsent report is skipped, because the next one will soon be sent. */
const LATEST_DAYS = 6;

/**
 * Mails a report to every member who may see analytics and has not opted out. Nobody is mailed twice about one week. A
 * mail with an unknown result (lost response or crashed worker) is not sent again. A mail that is permanently refused
 * is not retried and does not affect the others.
 * @returns the result of the workflow; `why` contains the number of mails sent now
 * @throws MailFailure when the mail server temporarily refused a mail, which is sent at the next attempt
 */
export async function mailWeeklyReport(ctx: Ctx, reportId: string): Promise<{ kind: 'done'; why: string }> {
  const report = await findReport(ctx, reportId);
  if (!report) return { kind: 'done', why: 'the report is gone' };
  const late = ctx.clock.now().getTime() - report.to_at.getTime() > LATEST_DAYS * DAY_MS;
  if (late || !report.weekly_report) return finish(ctx, reportId, late ? 'out of time' : 'switched off');
  await reader(ctx)
    .table('weekly_report_mails')
    .where({ report_id: reportId, state: 'sending' })
    .update({ state: 'uncertain', settled_at: ctx.clock.now() });
  const members = await membersToMail(ctx, reportId);
  if (members.length === 0) return finish(ctx, reportId, 'mailed 0');
  const figures = await figuresOf(ctx, report);
  let mailed = 0;
  let failure: unknown;
  for (const member of members) {
    const failed = await sendTo(ctx, report, figures, member);
    if (failed === undefined) mailed += 1;
    failure ??= failed;
  }
  if (failure !== undefined) throw failure;
  return finish(ctx, reportId, `mailed ${mailed}`);
}

async function findReport(ctx: Ctx, reportId: string): Promise<Report | undefined> {
  const [report] = await across(ctx.trx ?? ctx.db, 'maintenance').sql<Report>(
    `select r.id, r.week::text as week, r.from_at, r.to_at, o.name, o.timezone, o.weekly_report, o.language
     from weekly_reports r join organizations o on o.id = r.organization_id where r.id = :reportId and o.id = :organization`,
    { reportId, organization: organizationOf(ctx) },
  );
  return report;
}

async function finish(ctx: Ctx, reportId: string, why: string): Promise<{ kind: 'done'; why: string }> {
  await reader(ctx).table('weekly_reports').where({ id: reportId }).update({ state: 'done', blocked_reason: null });
  return { kind: 'done', why };
}

function membersToMail(ctx: Ctx, reportId: string): Promise<Member[]> {
  return reader(ctx).sql<Member>(
    `select u.id, u.email, u.language from memberships m join roles r on r.id = m.role_id join users u on u.id = m.user_id
     where m.organization_id = :org and (r.is_owner or r.permissions @> array['view_analytics'])
       and not exists (select from weekly_report_opt_outs x where x.organization_id = :org and x.user_id = m.user_id)
       and not exists (select from weekly_report_mails s where s.report_id = :report and s.user_id = m.user_id)
     order by u.id`,
    { report: reportId },
  );
}

function figuresOf(ctx: Ctx, { from_at: from, to_at: to, timezone }: Report): Promise<WeeklyFigures> {
  return readWeeklyFigures(ctx, { from, to }, weekBefore(from, timezone));
}

/**
 * Claims and sends one email, and stores its result. Returns the error of a temporary failure, after which the email
 * can be claimed again.
 */
async function sendTo(ctx: Ctx, report: Report, figures: WeeklyFigures, member: Member): Promise<unknown> {
  const id = newId();
  const claimed = await singleStatement(ctx).sql(
    `insert into weekly_report_mails (id, report_id, user_id, organization_id, state, claimed_at)
     values (:id, :report, :user, :org, 'sending', :now) on conflict (report_id, user_id) do nothing returning id`,
    { id, report: report.id, user: member.id, now: ctx.clock.now() },
  );
  if (claimed.length === 0) return undefined;
  const mail = reader(ctx).table('weekly_report_mails').where({ id });
  const message = weeklyReportMail(ctx.config, figures, {
    email: member.email,
    workspace: report.name,
    week: report.week,
    timezone: report.timezone,
    language: toLanguage(member.language ?? report.language) ?? 'en',
    unsubscribeUrl: unsubscribeUrl(ctx, id),
  });
  return sendClaimedMail(ctx, message, mail, { reportId: report.id, userId: member.id });
}
