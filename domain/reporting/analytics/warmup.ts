import { utcDay } from '../../../lib/clock.ts';
import { Mailboxes } from '../../../db/models/mailbox.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { dailyTarget, type Ramp } from '../../mailboxes/warmup/ramp.ts';
import { daysOf, hoursOf, percent, type DayRange } from './period.ts';

/** Warmup emails of one mailbox, or of all together. */
export interface WarmupReport {
  mailbox: { id: string; email: string } | null;
  days: WarmupDay[];
  totalSent: number;
  totalReplied: number;
  /** Average number of sent emails per day. Days without sent emails are not included. */
  averageDaily: number;
  /** Replies as a percentage of sent emails. */
  replyRate: number;
  /** Sent emails as a percentage of the warmup ramps' targets. May exceed 100. */
  targetProgress: number;
  daysActive: number;
}

/** Warmup emails of a UTC day. `emails_replied` is the number of replies received on this day. */
interface WarmupDay {
  date: string;
  emails_sent: number;
  emails_replied: number;
  target_volume: number;
}

/**
 * Returns the warmup emails for every day of a range (GET /analytics/warmup). The target of each day is that of the
 * current ramp, and 0 before the ramp began and after it was paused. A key restricted to mailboxes sees only emails of
 * these mailboxes.
 * @param mailboxId one mailbox; all mailboxes if undefined or not a UUID
 * @throws AppError not_found for a mailbox of another organization; forbidden for one that the key may not use
 */
export async function readWarmup(ctx: Ctx, range: DayRange, mailboxId: string | undefined): Promise<WarmupReport> {
  const org = reader(ctx);
  const one = mailboxId !== undefined && isUuid(mailboxId) ? mailboxId : null;
  if (one) assertMailboxAllowed(ctx.actor, one.toLowerCase());
  const only = one ? [one] : ctx.actor.allowedMailboxes;
  const query = org.query(Mailboxes);
  if (only) void query.whereIn('id', [...only]);
  const mailboxes = await (one ? query : query.whereNotNull('warmup'));
  if (one && mailboxes.length === 0) throw notFound('mailbox');
  const rows = await org.sql<{ day: string; sent: number; replied: number }>(
    `select to_char(w.sent_at at time zone 'UTC', 'YYYY-MM-DD') as day,
       (count(*) filter (where cast(:only as uuid[]) is null or w.mailbox_id = any(:only)))::int as sent,
       (count(*) filter (where a.id is not null and (cast(:only as uuid[]) is null or a.mailbox_id = any(:only))))::int as replied
     from warmup_mails w left join warmup_mails a on a.id = w.answers
     where w.organization_id = :org and w.sent_at >= :from and w.sent_at < :to
       and (cast(:only as uuid[]) is null or w.mailbox_id = any(:only) or w.partner_id = any(:only))
     group by 1`,
    { only, ...hoursOf(range) },
  );
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const ramps = mailboxes.flatMap((mailbox): RampDays[] =>
    mailbox.warmup
      ? [
          {
            ramp: { ...mailbox, warmup_paused_at: null },
            first: utcDay(mailbox.warmup),
            last: mailbox.warmup_paused_at ? utcDay(mailbox.warmup_paused_at) : undefined,
          },
        ]
      : [],
  );
  const days = daysOf(range).map((date) => ({
    date,
    emails_sent: byDay.get(date)?.sent ?? 0,
    emails_replied: byDay.get(date)?.replied ?? 0,
    target_volume: targetOn(ramps, date),
  }));
  const sum = (of: (day: WarmupDay) => number) => days.reduce((total, day) => total + of(day), 0);
  const totalSent = sum((day) => day.emails_sent);
  const totalReplied = sum((day) => day.emails_replied);
  const daysActive = days.filter((day) => day.emails_sent > 0).length;
  return {
    mailbox: one ? { id: mailboxes[0]!.id, email: mailboxes[0]!.email } : null,
    days,
    totalSent,
    totalReplied,
    averageDaily: daysActive === 0 ? 0 : Math.round((totalSent / daysActive) * 100) / 100,
    replyRate: percent(totalReplied, totalSent),
    targetProgress: percent(
      totalSent,
      sum((day) => day.target_volume),
    ),
    daysActive,
  };
}

/** The warmup ramp of a mailbox. `first` is the UTC day of its start, `last` the UTC day of its pause. */
interface RampDays {
  ramp: Ramp;
  first: string;
  last: string | undefined;
}

/** Returns the sum of the ramps' targets on a UTC day. */
function targetOn(ramps: readonly RampDays[], date: string): number {
  const noon = new Date(`${date}T12:00:00Z`);
  let target = 0;
  for (const { ramp, first, last } of ramps)
    if (first <= date && (last === undefined || date <= last)) target += dailyTarget(ramp, 'healthy', noon);
  return target;
}
