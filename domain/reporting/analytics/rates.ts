import type { Counts } from '../aggregates/metrics.ts';
import { percent } from './period.ts';

/** Shares of emails in percent; of opens and clicks only people's count. */
export interface Rates {
  open_rate: number;
  click_rate: number;
  reply_rate: number;
  bounce_rate: number;
}

/** The rates of counted emails: percent of those that were sent, 0 while none was. */
export function ratesOf(counts: Counts): Rates {
  return {
    open_rate: percent(counts.opened_by_person, counts.sent),
    click_rate: percent(counts.clicked, counts.sent),
    reply_rate: percent(counts.replied, counts.sent),
    bounce_rate: percent(counts.bounced, counts.sent),
  };
}

/** What a trend shows of a day or an hour: emails that were sent, opened and clicked by people, and answered in it. */
export interface TrendPoint {
  sent: number;
  opens: number;
  clicks: number;
  replies: number;
}

/** A point of a trend; nothing happened where there are no counts. */
export function trendPoint(counts: Counts | undefined): TrendPoint {
  return {
    sent: counts?.sent ?? 0,
    opens: counts?.opened_by_person ?? 0,
    clicks: counts?.clicked ?? 0,
    replies: counts?.replied ?? 0,
  };
}
