import type { Message } from '../../../messages/index.ts';
import { accountHealth, readHealthRows } from '../analytics/account-health.ts';
import { INTENTS, readDeliverability, type Intent } from '../analytics/deliverability.ts';
import { percent } from '../analytics/period.ts';
import { sumBy, wholeHours, type HourRange } from '../aggregates/read.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/** Names of the counts in a weekly report. */
export const FIGURES = ['sent', 'delivered', 'replies', 'positive', 'bounces', 'complaints', 'opt_outs'] as const;
type Figures = Record<(typeof FIGURES)[number], number>;

/** Figures of a weekly report. */
export interface WeeklyFigures {
  now: Figures;
  before: Figures;
  /** Number of replies received in connected mailboxes, by intent. */
  intents: { intent: Intent; count: number }[];
  /**
   * The campaign with the most positive replies. If several have equally many, the one with the most replies. Null if
   * there are no replies.
   */
  best: { name: string; sent: number; replies: number; positive: number; reply_rate: number } | null;
  /** Mailboxes that have problems at the time of the report. */
  troubled: { email: string; issues: Message[] }[];
}

/**
 * Returns the figures of a week and of the week before. The figures equal those of GET /analytics/deliverability and
 * /analytics/campaigns. Counts are stored by the hour, so in a time zone with a fractional offset the start is rounded
 * down and the end up.
 */
export async function readWeeklyFigures(ctx: Ctx, range: HourRange, before: HourRange): Promise<WeeklyFigures> {
  const org = reader(ctx);
  const [now, earlier, campaigns, names, health, mailboxes] = await Promise.all([
    readDeliverability(ctx, range),
    readDeliverability(ctx, before),
    sumBy(org, 'campaign', wholeHours(range)),
    org.table('campaigns').select('id', 'name'),
    readHealthRows(org, ctx.clock.now()),
    org.table('mailboxes').select('id', 'email'),
  ]);
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  const emailOf = new Map(mailboxes.map(({ id, email }) => [id, email]));
  const [best] = campaigns
    .filter(({ id, replied }) => replied > 0 && nameOf.has(id))
    .sort((a, b) => b.replied_positively - a.replied_positively || b.replied - a.replied || (a.id < b.id ? -1 : 1));
  return {
    now: figuresOf(now),
    before: figuresOf(earlier),
    intents: INTENTS.map((intent) => ({ intent, count: now.intents[intent] })),
    best: best
      ? {
          name: nameOf.get(best.id)!,
          sent: best.sent,
          replies: best.replied,
          positive: best.replied_positively,
          reply_rate: percent(best.replied, best.sent),
        }
      : null,
    troubled: health
      .map((row) => ({ email: emailOf.get(row.id)!, ...accountHealth(row) }))
      .filter(({ status }) => status !== 'healthy')
      .sort((a, b) => a.score - b.score || (a.email < b.email ? -1 : 1))
      .map(({ email, issues }) => ({ email, issues })),
  };
}

function figuresOf({ counts, unassigned }: Awaited<ReturnType<typeof readDeliverability>>): Figures {
  return {
    sent: counts.sent,
    // At least 0, because bounces may belong to emails of an earlier week.
    delivered: Math.max(0, counts.sent - counts.bounced),
    replies: counts.replied,
    positive: counts.replied_positively,
    bounces: counts.bounced + unassigned.bounces,
    complaints: counts.complained + unassigned.complaints,
    opt_outs: counts.unsubscribed + unassigned.unsubscribes,
  };
}
