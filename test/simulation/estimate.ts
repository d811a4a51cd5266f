import { DateTime } from 'luxon';
import { projectedMailboxes } from '../../domain/campaigns/estimate.ts';
import { scheduleOf, type CampaignView } from '../../domain/sending/campaign/campaign-view.ts';
import { reader } from '../../domain/platform/kernel/transact.ts';
import { estimateSending, type Estimate } from '../../domain/platform/scheduling/estimate.ts';
import type { TestDeps } from '../harness/database.ts';
import type { WorldSpec } from './draw.ts';
import { dayOf, isOpenAt, type Email } from './ledger.ts';
import { playWorld } from './run.ts';

const MINUTE = 60_000;
/**
 * Tolerance (ms) for the last email in addition to lengthened gaps. The engine requests some slots up to a minute after
 * they are free.
 */
const LATE_MS = 2 * MINUTE;

/**
 * Plays a world of one campaign and returns the differences between the estimate and the sent emails. Compares the
 * exact number on every campaign-local day, and the time of the last email.
 */
export async function compareEstimate(base: TestDeps, spec: WorldSpec): Promise<{ emails: number; faults: string[] }> {
  const [rules] = spec.campaigns;
  let estimate: ((recipients: number) => Promise<Estimate>) | undefined;
  const { emails, faults } = await playWorld(base, spec, async (ctx, { campaigns }) => {
    const org = reader(ctx);
    const [campaign] = (await org.sql(`select * from campaigns where organization_id = :org and id = :id`, {
      id: campaigns[0]!.id,
    })) as CampaignView[];
    const now = ctx.clock.now();
    const mailboxes = await projectedMailboxes(org, campaign!, now);
    const { dailyLimit, ramp } = rules!;
    estimate = (recipients) =>
      estimateSending({ recipients, mailboxes, dailyLimit, ramp, schedule: scheduleOf(campaign!), now });
  });
  const found = faults.map(({ rule, detail }) => `${rule}: ${detail}`);
  const differs = (what: string, estimated: unknown, sent: unknown): void => {
    if (estimated !== sent) found.push(`${what}: estimated ${String(estimated)}, sent ${String(sent)}`);
  };

  const days = emailsByDay(spec, emails);
  const today = dayOf(rules!, spec.from);
  const lastDay = dayOf(rules!, spec.until);
  const whole = await estimate!(spec.leads.length);
  const finished = emails.length === spec.leads.length;
  if (!finished || [...days.keys()].some((day) => day !== today) || emails.length === 0)
    differs('emails of the present day', Math.min(whole.remaining_today, spec.leads.length), days.get(today) ?? 0);
  let sent = 0;
  let count = 0;
  for (const [day, emails] of days) {
    sent += emails;
    count += 1;
    if (emails > whole.daily_capacity) found.push(`${day}: ${emails} emails, more than a whole day's capacity`);
    differs(`days for ${sent} emails`, (await estimate!(sent)).sending_days, count);
    // The estimate must put the next lead's email on a later day, unless the world ended on this one.
    if (day !== lastDay && sent < spec.leads.length && (await estimate!(sent + 1)).sending_days !== count + 1)
      found.push(`${day}: the estimate has more than ${emails} emails on it`);
  }
  if (finished) found.push(...finishFaults(spec, emails, whole.estimated_finish_at));
  else if (whole.estimated_finish_at && whole.estimated_finish_at.getTime() < spec.until - LATE_MS)
    if (dayOf(rules!, whole.estimated_finish_at.getTime()) !== lastDay)
      found.push(`estimated to end ${whole.estimated_finish_at.toISOString()}, and did not`);
  return { emails: emails.length, faults: found };
}

function emailsByDay({ campaigns: [rules] }: WorldSpec, emails: readonly Email[]): Map<string, number> {
  const days = new Map<string, number>();
  for (const { at } of emails) days.set(dayOf(rules!, at), (days.get(dayOf(rules!, at)) ?? 0) + 1);
  return days;
}

/**
 * Checks that the last email is sent on the estimated day and not before the estimated time. Lengthened gaps may delay
 * it: by a fifth of the open time until then, and by one more gap, which can shift the start of a window.
 */
function finishFaults(spec: WorldSpec, emails: readonly Email[], estimated: Date | null): string[] {
  const [rules] = spec.campaigns;
  const last = emails.at(-1)?.at;
  if (last === undefined || !estimated) return [`estimated end ${String(estimated)}, last email ${String(last)}`];
  const zone = { zone: rules!.timezone };
  const dayBegins = DateTime.fromJSDate(estimated, zone).startOf('day').toMillis();
  let open = 0;
  for (let at = Math.max(dayBegins, spec.from); at < last; at += MINUTE) if (isOpenAt(rules!, at)) open += MINUTE;
  const gap = Math.max(...spec.mailboxes.map(({ gapSeconds }) => gapSeconds * 1000));
  const late = last - estimated.getTime();
  if (late >= 0 && late <= (open + gap) / 5 + LATE_MS && dayOf(rules!, last) === dayOf(rules!, estimated.getTime()))
    return [];
  return [`estimated end ${estimated.toISOString()}, last email ${new Date(last).toISOString()}`];
}
