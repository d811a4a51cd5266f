import type { Counts } from '../aggregates/metrics.ts';
import { percent } from './period.ts';

/** Shares of emails in percent. Only opens and clicks by people count. */
export interface Rates {
  open_rate: number;
  click_rate: number;
  reply_rate: number;
  bounce_rate: number;
}

/** Returns the rates of counts, as percentages of sent emails. 0 if no email was sent. */
export function ratesOf(counts: Counts): Rates {
  return {
    open_rate: percent(counts.opened_by_person, counts.sent),
    click_rate: percent(counts.clicked, counts.sent),
    reply_rate: percent(counts.replied, counts.sent),
    bounce_rate: percent(counts.bounced, counts.sent),
  };
}

/** Numbers of a day or hour of a trend: emails that were sent, opened or clicked by people, and answered. */
export interface TrendPoint {
  sent: number;
  opens: number;
  clicks: number;
  replies: number;
}

/** Returns a point of a trend. Without counts all values are 0. */
export function trendPoint(counts: Counts | undefined): TrendPoint {
  return {
    sent: counts?.sent ?? 0,
    opens: counts?.opened_by_person ?? 0,
    clicks: counts?.clicked ?? 0,
    replies: counts?.replied ?? 0,
  };
}
