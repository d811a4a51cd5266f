import { DAY_MS } from '../../../lib/clock.ts';

/** Which confirmed sends a report follows, and how long. */
export interface Cohort {
  /** Sent at or after. */
  from: Date;
  /** Sent before. */
  to: Date;
  /** Days of 24 hours after a send in which what a person does counts for it; the end is not in it. */
  windowDays: number;
  campaignId?: string | undefined;
}

/** The rows of send_facts `f` of a cohort, as a condition. */
export const inCohort = (cohort: Cohort): string =>
  `f.organization_id = :org and f.sent_at >= :from and f.sent_at < :to${cohort.campaignId ? ' and f.campaign_id = :campaign' : ''}`;

/** What a person did at a moment counts for the send `f`. */
export const inWindow = (moment: string): string =>
  `${moment} >= f.sent_at and ${moment} < f.sent_at + make_interval(secs => :window)`;

/** The window of the send `f` has closed. */
export const MATURE = 'f.sent_at <= :matured';

/** The bindings of {@link inCohort}, {@link inWindow} and {@link MATURE}. */
export function bindingsOf(now: Date, { from, to, windowDays, campaignId }: Cohort) {
  return {
    from,
    to,
    window: windowDays * (DAY_MS / 1000),
    matured: new Date(now.getTime() - windowDays * DAY_MS),
    // No conversion later than this can count.
    until: new Date(to.getTime() + windowDays * DAY_MS),
    ...(campaignId ? { campaign: campaignId } : {}),
  };
}

/** Confirmed sends of a group, those whose window has closed, and the contacts they went to. */
export type SendCounts = { key: string | null; confirmed: number; mature: number; prospects: number };
