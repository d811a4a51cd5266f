import { compileSchedule, nextSpan, spansBetween } from './windows.ts';
import type { Schedule } from './windows.ts';
import { localDay, nextLocalDay } from './zone.ts';

export interface EstimateInput {
  readonly recipients: number;
  /** Each mailbox's own daily cap, and what it has sent on the present day of the schedule's zone. */
  readonly mailboxes: readonly { readonly cap: number; readonly sentToday: number }[];
  /** The campaign's limit per mailbox per day. */
  readonly dailyLimit: number;
  readonly schedule: Schedule;
  readonly now: Date;
}

/** The answer of POST /campaigns-estimate, under the API's names. */
export interface Estimate {
  recipients: number;
  mailboxes: number;
  daily_capacity: number;
  /** What the pool has left for the present day, also when the schedule does not send on it. */
  remaining_today: number;
  /** Days on which mail goes out. */
  sending_days: number | null;
  estimated_finish_at: Date | null;
}

/**
 * Projects when the last of `recipients` first emails goes out: day by day of the schedule, the present day with what
 * the pool has left and every other with its full capacity, each day's mail spread evenly over the open time. Both
 * projections are null when there is no recipient, no capacity, no sending day, an end date too soon, or more
 * than two years of sending.
 */
export function estimateSending({ recipients, mailboxes, dailyLimit, schedule, now }: EstimateInput): Estimate {
  const caps = mailboxes.map(({ cap }) => Math.max(0, Math.min(cap, dailyLimit)));
  const daily = sum(caps);
  const remaining = sum(mailboxes.map(({ sentToday }, index) => Math.max(0, caps[index]! - sentToday)));
  const finish = recipients > 0 && daily > 0 ? project(recipients, daily, remaining, schedule, now) : null;
  return {
    recipients,
    mailboxes: mailboxes.length,
    daily_capacity: daily,
    remaining_today: remaining,
    sending_days: finish?.days ?? null,
    estimated_finish_at: finish?.at ?? null,
  };
}

function project(recipients: number, daily: number, remaining: number, schedule: Schedule, now: Date) {
  const plan = compileSchedule(schedule);
  const { clock } = plan.pattern;
  const begin = Math.max(now.getTime(), plan.from);
  const deadline = new Date(begin);
  deadline.setUTCFullYear(deadline.getUTCFullYear() + 2);
  const today = localDay(clock, now.getTime());

  let left = recipients;
  let days = 0;
  for (let cursor = begin; ;) {
    const span = nextSpan(plan, cursor);
    if (span === null || span.from > deadline.getTime()) return null;
    const opens = Math.max(span.from, cursor);
    const midnight = nextLocalDay(clock, opens);
    const capacity = localDay(clock, opens) === today ? remaining : daily;
    if (capacity > 0) {
      days += 1;
      if (left <= capacity) {
        const at = new Date(pointIn([...spansBetween(plan, opens, midnight)], (left - 1) / capacity));
        return at > deadline ? null : { days, at };
      }
      left -= capacity;
    }
    cursor = midnight;
  }
}

/** The instant at which `share` (0 to below 1) of the spans' open time has passed. */
function pointIn(spans: readonly { from: number; to: number }[], share: number): number {
  let into = share * sum(spans.map(({ from, to }) => to - from));
  for (const { from, to } of spans) {
    if (into < to - from) return Math.floor(from + into);
    into -= to - from;
  }
  return spans.at(-1)!.to - 1;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
