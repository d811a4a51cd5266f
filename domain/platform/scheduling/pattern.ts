import { DAY, WEEK } from './zone.ts';
import type { ZoneClock, ZoneSegment } from './zone.ts';

/** A half-open interval [from, to) in milliseconds: since Sunday 00:00 in a week pattern, otherwise in epoch time. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Open times of a week on a zone's wall clock, sorted and disjoint. */
export interface WeekPattern {
  readonly clock: ZoneClock;
  readonly spans: readonly Span[];
}

// Time (ms) from the start of a week to the Unix epoch. 1970-01-01 was a Thursday, four days after the start of its
// week.
const EPOCH_IN_WEEK = 4 * DAY;

/** Sorts and merges intervals of the week. An interval past Saturday midnight continues at the start of the week. */
export function weekSpans(raw: readonly Span[]): Span[] {
  const wrapped = raw.flatMap(({ from, to }) =>
    to <= WEEK
      ? [{ from, to }]
      : [
          { from, to: WEEK },
          { from: 0, to: to - WEEK },
        ],
  );
  wrapped.sort((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const span of wrapped) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return merged;
}

/**
 * Returns the first open interval of UTC time that ends after `utc`, or null for an empty pattern. Intervals are cut at
 * zone transitions, so the next one may follow without a pause.
 */
export function openSpan(pattern: WeekPattern, utc: number): Span | null {
  if (pattern.spans.length === 0) return null;
  let segment = pattern.clock.segmentAt(utc);
  for (let at = utc; ; at = segment.to, segment = pattern.clock.segmentAt(at)) {
    const span = skippedSpan(pattern, segment, at) ?? spanIn(pattern, segment, at);
    if (span !== null) return span;
  }
}

/**
 * Returns the first interval ending after `utc` in which both patterns are open. Null if none begins by `limit` (epoch
 * ms).
 */
export function meetingSpan(first: WeekPattern, second: WeekPattern, utc: number, limit: number): Span | null {
  for (let at = utc; at <= limit;) {
    const a = openSpan(first, at);
    const b = a && openSpan(second, Math.max(at, a.from));
    if (a === null || b === null) return null;
    const from = Math.max(a.from, b.from);
    if (b.from < a.to) return from <= limit ? { from, to: Math.min(a.to, b.to) } : null;
    at = b.from;
  }
  return null;
}

function spanIn(pattern: WeekPattern, segment: ZoneSegment, utc: number): Span | null {
  const local = utc + segment.offset + EPOCH_IN_WEEK;
  let week = Math.floor(local / WEEK) * WEEK;
  let span = pattern.spans.find(({ to }) => to > local - week);
  if (span === undefined) {
    week += WEEK;
    span = pattern.spans[0]!;
  }
  const toUtc = week - EPOCH_IN_WEEK - segment.offset;
  const from = Math.max(toUtc + span.from, segment.from);
  return from < segment.to ? { from, to: Math.min(toUtc + span.to, segment.to) } : null;
}

/**
 * Moves an interval that a clock change skips entirely to the end of the gap, and keeps its length. Otherwise a window
 * from 02:15 to 02:45 would not open on that day. An interval on a day that the calendar skips is dropped.
 */
function skippedSpan(pattern: WeekPattern, segment: ZoneSegment, utc: number): Span | null {
  if (segment.gap === 0 || segment.gap >= DAY || utc >= segment.from + segment.gap) return null;
  const gapStart = segment.from + segment.offset - segment.gap + EPOCH_IN_WEEK;
  const { spans } = pattern;
  const first = spans[0]!;
  const last = spans.at(-1)!;
  const joined = first.from === 0 && last.to === WEEK;
  let longest = 0;
  for (const span of spans) {
    // An interval that ends at midnight on Saturday and one that begins at that time are one interval. Skips the second
    // part.
    if (joined && span === first) continue;
    const length = span.to - span.from + (joined && span === last ? first.to : 0);
    const into = (((span.from - gapStart) % WEEK) + WEEK) % WEEK;
    if (into + length <= segment.gap) longest = Math.max(longest, length);
  }
  const end = segment.from + longest;
  return utc < end ? { from: segment.from, to: end } : null;
}
