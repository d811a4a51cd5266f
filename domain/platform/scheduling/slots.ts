import { LRUCache } from 'lru-cache';
import { meetingSpan, openSpan, weekSpans } from './pattern.ts';
import type { Span, WeekPattern } from './pattern.ts';
import { compileSchedule } from './windows.ts';
import type { CompiledSchedule, Schedule } from './windows.ts';
import { DAY, HOUR, MINUTE, zoneClock } from './zone.ts';

/** Send-time optimization for one recipient (`send_time_optimization`). */
interface SendTimePreference {
  /** Hours of the recipient's day, 0 to 23; none means any hour. */
  readonly hours: readonly number[];
  /** The recipient's IANA zone. */
  readonly timezone: string;
  /** The share of sends that may go out on the recipient's weekend: 1 or more all, 0 none. */
  readonly weekendWeight: number;
}

export interface SlotRequest {
  readonly now: Date;
  /** The mailbox's latest send or reserved slot; null where {@link SlotRequest.freeFrom} decides instead. */
  readonly lastSentAt: Date | null;
  readonly minGapSeconds: number;
  /** The most (ms) a gap or an opening is lengthened by; a fifth of the gap unless given, and never more. */
  readonly maxSpreadMs?: number;
  /**
   * The first moment from one on (epoch ms) at which the mailbox may send, by its other slots and its caps; Infinity when
   * there is none. With the spread (ms) a wait for another slot may be lengthened by.
   */
  readonly freeFrom?: (at: number, spreadMs: number) => number;
  readonly schedule: Schedule;
  /** How far ahead of `now` a slot may be reserved. */
  readonly horizonMs: number;
  /** A hold of the contact: entry delay, step wait, away message. */
  readonly notBefore: Date | null;
  readonly optimize?: SendTimePreference;
  /**
   * Uniform in 0 to 1; drawn once for the spread, and once more where there is a preference. Seed it by the
   * send, so that asking again about the same send draws the same.
   */
  readonly jitter: () => number;
}

/** A time to reserve, a time at which to ask again, or the reason why this schedule has no more time. */
export type Slot = { at: Date } | { later: Date } | { never: 'ended' | 'no_window' };

const SPREAD = 0.2;
// Two weekly patterns that meet at all do so within a week; a day more covers changes of the clocks.
const SEARCH = 8 * DAY;
const MAX_PREFERENCES = 2000;
/** Rounds in which schedule and mailbox may each name a later time. */
const MAX_TRIES = 500;
/** The last moment a Date can hold (epoch ms). */
const FOREVER = 8.64e15;

/**
 * The next time at which one mailbox may send to one contact: inside the campaign window and dates, not before
 * `notBefore`, and the mailbox's gap, lengthened at random by up to a fifth, after its last send. An opening is
 * shifted by as much, so that mail does not go out at the exact minute. Beyond the horizon the answer is `later`.
 *
 * Optimization only delays: the send waits for the first moment at which the campaign is open and the
 * recipient's clock shows a preferred hour, even if the campaign ends before (`ended`). Where the two never meet
 * in a week the preference is ignored, because otherwise the contact would never get the email. Throws RangeError on an
 * unknown zone.
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
    // The exact time is not needed beyond the horizon.
    if (free > now.getTime() + request.horizonMs || tries === MAX_TRIES)
      return { later: new Date(Math.min(Math.max(at, free), FOREVER)) };
    if (free <= at) return { at: new Date(at) };
    earliest = free;
  }
}

/** The first moment from `earliest` on that suits campaign and recipient; null when the campaign ends before. */
function openFrom(
  { optimize }: SlotRequest,
  { pattern, from, until }: CompiledSchedule,
  earliest: number,
  spread: number,
  weekend: number,
): number | null {
  const plain = openSpan(pattern, earliest)!;
  // Searched from the plain slot, so that asking again at that slot searches the same days.
  const met = optimize && preferredSpan(pattern, optimize, weekend, Math.max(earliest, plain.from));
  const { span, preference } = met ?? { span: plain, preference: null };
  const opens = Math.max(span.from, from);
  if (opens >= until) return null;

  const at = Math.max(earliest, opens);
  const shifted = Math.min(opens + spread, Math.min(span.to, until) - 1);
  // A span can also begin where an open one was only split; only a real opening is shifted.
  const openBefore = (): boolean => opens > from && openAt(pattern, opens - 1) && openAt(preference, opens - 1);
  return at < shifted && !openBefore() ? shifted : at;
}

/**
 * When a contact's first email may go out: entry_delay_minutes after it entered the campaign. Contacts without
 * a recorded entry count from the campaign's creation (`entry_delay_minutes`).
 */
export function entryDelayEnds(enteredAt: Date | null, campaignCreatedAt: Date, delayMinutes: number): Date {
  return new Date((enteredAt ?? campaignCreatedAt).getTime() + delayMinutes * MINUTE);
}

function openAt(pattern: WeekPattern | null, utc: number): boolean {
  return pattern === null || openSpan(pattern, utc)!.from <= utc;
}

function unit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/**
 * The first stretch from `from` (epoch ms) on that suits campaign and recipient, without weekends if the draw says so
 * and there is such a stretch; null when the two never meet. Asked again at a weekend that it gave for want of a
 * weekday, it can still find one, where the clocks have changed since: one more delay, never a second.
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
