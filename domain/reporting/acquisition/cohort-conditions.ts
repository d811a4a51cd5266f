import { DAY_MS } from '../../../lib/clock.ts';

/** Selects the confirmed sends of a report, and the period after each in which reactions are counted. */
export interface Cohort {
  /** Earliest time of sending, inclusive. */
  from: Date;
  /** Latest time of sending, exclusive. */
  to: Date;
  /**
   * Number of 24-hour days after a send in which actions of the recipient are attributed to it. The end is exclusive.
   */
  windowDays: number;
  campaignId?: string | undefined;
}

/** Returns an SQL condition: the row `f` of `send_facts` belongs to a cohort. */
export const inCohort = (cohort: Cohort): string =>
  `f.organization_id = :org and f.sent_at >= :from and f.sent_at < :to${cohort.campaignId ? ' and f.campaign_id = :campaign' : ''}`;

/** Returns an SQL condition: an action at a time is within the window of the send `f`. */
export const inWindow = (moment: string): string =>
  `${moment} >= f.sent_at and ${moment} < f.sent_at + make_interval(secs => :window)`;

/** SQL condition: the window of the send `f` has closed. */
export const MATURE = 'f.sent_at <= :matured';

/** Returns the bindings of {@link inCohort}, {@link inWindow} and {@link MATURE}. */
export function bindingsOf(now: Date, { from, to, windowDays, campaignId }: Cohort) {
  return {
    from,
    to,
    window: windowDays * (DAY_MS / 1000),
    matured: new Date(now.getTime() - windowDays * DAY_MS),
    // Conversions after this time are not in the window of any send.
    until: new Date(to.getTime() + windowDays * DAY_MS),
    ...(campaignId ? { campaign: campaignId } : {}),
  };
}

/** Numbers of a group: confirmed sends, sends whose window has closed (`mature`), and contacts who got an email. */
export type SendCounts = { key: string | null; confirmed: number; mature: number; prospects: number };
