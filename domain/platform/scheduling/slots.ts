import { LRUCache } from 'lru-cache';
import { meetingSpan, openSpan, weekSpans } from './pattern.ts';
import type { Span, WeekPattern } from './pattern.ts';
import { compileSchedule } from './windows.ts';
import type { CompiledSchedule, Schedule } from './windows.ts';
import { DAY, HOUR, MINUTE, zoneClock } from './zone.ts';

/** Send-time optimization for one recipient (`send_time_optimization`). */
interface SendTimePreference {
  /** Preferred hours of the recipient's day, 0 to 23. Empty for any hour. */
  readonly hours: readonly number[];
  /** The recipient's IANA zone. */
  readonly timezone: string;
  /** Share (0 to 1) of emails that may be sent on the recipient's weekend. Values above 1 are treated as 1. */
  readonly weekendWeight: number;
}

export interface SlotRequest {
  readonly now: Date;
  /** Time of the mailbox's latest email or reserved slot. Null when {@link SlotRequest.freeFrom} is used instead. */
  readonly lastSentAt: Date | null;
  readonly minGapSeconds: number;
  /**
   * Maximum time (ms) by which a gap is lengthened or the start of a window is delayed. The default and upper limit is
   * a fifth of the gap.
   */
  readonly maxSpreadMs?: number;
  /**
   * Returns the first time from `at` on (epoch ms) at which other slots and caps allow the mailbox to send, or
   * Infinity. If that time is later than `at`, it may be delayed by up to `spreadMs`.
   */
  readonly freeFrom?: (at: number, spreadMs: number) => number;
  readonly schedule: Schedule;
  /** Maximum distance (ms) of a reserved slot from `now`. */
  readonly horizonMs: number;
  /** Earliest time for the contact: entry delay, step wait or away message. */
  readonly notBefore: Date | null;
  readonly optimize?: SendTimePreference;
  /**
   * Returns a uniform number from 0 to 1. Called once for the random part of the gap, and once more with a send-time
   * preference. It must be seeded with lead and step, so that a repeated request gets the same numbers.
   */
  readonly jitter: () => number;
}

/**
 * Result of a search: a time to reserve, the time of the next search, or the reason why the schedule has no more time.
 */
export type Slot = { at: Date } | { later: Date } | { never: 'ended' | 'no_window' };

const SPREAD = 0.2;
// Length (ms) of the period that is searched. Two weekly patterns that overlap at all do so within a week. One more day
// covers clock changes.
const SEARCH = 8 * DAY;
const MAX_PREFERENCES = 2000;
/**
 * Maximum number of rounds of a search. A further round is needed when the schedule or the mailbox requires a later
 * time.
 */
const MAX_TRIES = 500;
/** Maximum time that a Date can represent (epoch ms). */
const FOREVER = 8.64e15;

/**
 * Returns the next time at which one mailbox may send to one contact. The time is inside the campaign's window and
 * dates, not before `notBefore`, and one gap after the mailbox's last send. The gap is lengthened at random by up to a
 * fifth. The start of a window is shifted by the same amount, so that emails are not sent at the exact minute. For a
 * time after the horizon the result is `later`.
 *
 * Optimization only delays. The send waits for the first time at which the campaign is open and the recipient's clock
 * shows a preferred hour, even if the campaign ends before (`ended`). If the two never overlap in a week, the
 * preference is ignored, because the contact would otherwise get no email. Throws RangeError for an unknown zone.
 */
export function nextSlot(request: SlotRequest): Slot {
  const { now, lastSentAt, schedule, notBefore, optimize } = request;
  const { pattern, from, until } = compileSchedule(schedule);
  if (pattern.spans.length === 0) return { never: 'no_window' };

  const gap = Math.ceil(request.minGapSeconds * 1000);
  const spread = Math.floor(Math.min(SPREAD * gap, request.maxSpreadMs ?? Infinity) * unit(request.jitter()));
  const weekend = optimize ? request.jitter() : 0;
  const gapEnds = lastSentAt === null ? -Infinity : lastSentAt.getTime() + gap + spread;
  let earliest = Math.max(now.getTime(), notBefore?.getTime() ?? -Infinity, gapEnds, from);
  for (let tries = 0; ; tries += 1) {
    if (earliest >= until) return { never: 'ended' };
    const at = openFrom(request, { pattern, from, until }, earliest, spread, weekend);
    if (at === null) return { never: 'ended' };
    const free = request.freeFrom?.(at, spread) ?? at;
    // Stops the search, because a time after the horizon need not be exact.
    if (free > now.getTime() + request.horizonMs || tries === MAX_TRIES)
      return { later: new Date(Math.min(Math.max(at, free), FOREVER)) };
    if (free <= at) return { at: new Date(at) };
    earliest = free;
  }
}

/**
 * Returns the first time from `earliest` on that suits campaign and recipient. Null when the campaign ends before.
 */
function openFrom(
  { optimize }: SlotRequest,
  { pattern, from, until }: CompiledSchedule,
  earliest: number,
  spread: number,
  weekend: number,
): number | null {
  const plain = openSpan(pattern, earliest)!;
  // Begins at the first time that suits the campaign, so that a request repeated at that time searches the same days.
  const met = optimize && preferredSpan(pattern, optimize, weekend, Math.max(earliest, plain.from));
  const { span, preference } = met ?? { span: plain, preference: null };
  const opens = Math.max(span.from, from);
  if (opens >= until) return null;

  const at = Math.max(earliest, opens);
  const shifted = Math.min(opens + spread, Math.min(span.to, until) - 1);
  // The interval may begin in the middle of an open period. The time is shifted only if the schedule was closed just
  // before.
  const openBefore = (): boolean => opens > from && openAt(pattern, opens - 1) && openAt(preference, opens - 1);
  return at < shifted && !openBefore() ? shifted : at;
}

/**
 * Returns when a contact's first email may be sent: `entry_delay_minutes` after the contact entered the campaign.
 * Without a recorded entry, the delay is counted from the campaign's creation.
 */
export function entryDelayEnd(enteredAt: Date | null, campaignCreatedAt: Date, delayMinutes: number): Date {
  return new Date((enteredAt ?? campaignCreatedAt).getTime() + delayMinutes * MINUTE);
}

function openAt(pattern: WeekPattern | null, utc: number): boolean {
  return pattern === null || openSpan(pattern, utc)!.from <= utc;
}

function unit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/**
 * Returns the first interval from `from` (epoch ms) on that suits campaign and recipient, or null if the two never
 * overlap. Excludes weekends if the random draw excludes them and there is a weekday. After a clock change, a request
 * repeated for a weekend slot may find a weekday, which delays the email once more but never twice.
 */
function preferredSpan(
  pattern: WeekPattern,
  { hours, timezone, weekendWeight }: SendTimePreference,
  draw: number,
  from: number,
): { span: Span; preference: WeekPattern } | null {
  const weekends = weekendWeight >= 1 || draw < weekendWeight;
  for (const withWeekends of weekends ? [true] : [false, true]) {
    const preference = preferencePattern(timezone, hours, withWeekends);
    const span = meetingSpan(pattern, preference, from, from + SEARCH);
    if (span !== null) return { span, preference };
  }
  return null;
}

const preferences = new LRUCache<string, WeekPattern>({ max: MAX_PREFERENCES });

function preferencePattern(timezone: string, hours: readonly number[], weekends: boolean): WeekPattern {
  const key = `${timezone} ${weekends ? 7 : 5} ${hours.join()}`;
  let pattern = preferences.get(key);
  if (pattern === undefined) {
    const wanted = hours.length === 0 ? Array.from({ length: 24 }, (_, hour) => hour) : hours;
    const weekdays = weekends ? [0, 1, 2, 3, 4, 5, 6] : [1, 2, 3, 4, 5];
    const spans: Span[] = weekdays.flatMap((day) =>
      wanted.map((hour) => ({ from: day * DAY + hour * HOUR, to: day * DAY + (hour + 1) * HOUR })),
    );
    pattern = { clock: zoneClock(timezone), spans: weekSpans(spans) };
    preferences.set(key, pattern);
  }
  return pattern;
}
