import { LRUCache } from 'lru-cache';
import { IANAZone } from 'luxon';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

/** An interval of UTC time [from, to) in which a zone keeps one offset. All values in milliseconds. */
export interface ZoneSegment {
  readonly from: number;
  readonly to: number;
  /** Local wall clock minus UTC (ms). */
  readonly offset: number;
  /** Length (ms) of the wall-clock time skipped at the start of the segment. 0 unless the clock jumped forward. */
  readonly gap: number;
}

const BLOCK = 32 * DAY;
// Distance (ms) between two looked-up offsets. No zone changes its offset and returns to it within eight days, so equal
// offsets mean no transition in between.
const PROBE = 8 * DAY;
const MAX_BLOCKS = 64;
const MAX_ZONES = 1000;

// IANA names without a slash. ICU also accepts abbreviations of its own, some with unexpected meanings (BST is Dhaka,
// IST is India, CST is Chicago). Such abbreviations are not IANA names, and no campaign should use them.
const PLAIN_NAMES = new Set(
  [
    'CET',
    'CST6CDT',
    'Cuba',
    'EET',
    'EST',
    'EST5EDT',
    'Egypt',
    'Eire',
    'GB',
    'GB-Eire',
    'GMT',
    'Greenwich',
    'HST',
    'Hongkong',
    'Iceland',
    'Iran',
    'Israel',
    'Jamaica',
    'Japan',
    'Kwajalein',
    'Libya',
    'MET',
    'MST',
    'MST7MDT',
    'NZ',
    'NZ-CHAT',
    'Navajo',
    'PRC',
    'PST8PDT',
    'Poland',
    'Portugal',
    'ROC',
    'ROK',
    'Singapore',
    'Turkey',
    'UCT',
    'UTC',
    'Universal',
    'W-SU',
    'WET',
    'Zulu',
  ].map((name) => name.toLowerCase()),
);

const MAX_NAMES = 5_000;
/**
 * Cache of valid and invalid zone names. luxon checks a name by creating a formatter, and the allocator checks several
 * names per email.
 */
const known = new LRUCache<string, boolean>({ max: MAX_NAMES });

/**
 * Returns true if `name` is a time zone of the IANA database, in any letter case. Returns false for offsets and
 * abbreviations.
 */
export function isIanaZone(name: string): boolean {
  if (!name.includes('/') && !PLAIN_NAMES.has(name.toLowerCase())) return false;
  let valid = known.get(name);
  if (valid === undefined) known.set(name, (valid = IANAZone.isValidZone(name)));
  return valid;
}

/**
 * Offsets of one zone, found by luxon once and then cached. A luxon lookup costs microseconds, and the allocator needs
 * several per email. Segments are cached in blocks of 32 days, cut at every transition.
 */
export class ZoneClock {
  readonly name: string;
  readonly #zone: IANAZone;
  readonly #blocks = new LRUCache<number, readonly ZoneSegment[]>({ max: MAX_BLOCKS });
  #last: ZoneSegment | undefined;

  constructor(name: string) {
    this.name = name;
    this.#zone = IANAZone.create(name);
  }

  /** Returns the segment that contains the instant `utc` (epoch ms). Throws RangeError for an invalid value. */
  segmentAt(utc: number): ZoneSegment {
    const last = this.#last;
    if (last !== undefined && utc >= last.from && utc < last.to) return last;
    const index = Math.floor(utc / BLOCK);
    let block = this.#blocks.get(index);
    if (block === undefined) {
      block = this.#cut(index * BLOCK);
      this.#blocks.set(index, block);
    }
    for (const segment of block) {
      if (utc < segment.to) {
        this.#last = segment;
        return segment;
      }
    }
    throw new RangeError('not an instant');
  }

  #offset(utc: number): number {
    const minutes = this.#zone.offset(utc);
    if (Number.isNaN(minutes)) throw new RangeError('not an instant');
    return Math.round(minutes * MINUTE);
  }

  #cut(start: number): ZoneSegment[] {
    const segments: ZoneSegment[] = [];
    let from = start;
    let offset = this.#offset(start);
    let gap = Math.max(0, offset - this.#offset(start - 1000));
    for (let probe = start + PROBE; probe <= start + BLOCK; probe += PROBE) {
      const next = this.#offset(probe);
      if (next === offset) continue;
      const transition = this.#transition(probe - PROBE, probe, next);
      segments.push({ from, to: transition, offset, gap });
      from = transition;
      gap = Math.max(0, next - offset);
      offset = next;
    }
    // If the block ends at a transition, this segment is empty, and the next block begins with the transition.
    segments.push({ from, to: start + BLOCK, offset, gap });
    return segments;
  }

  /** Returns the first second in (low, high] at which `offset` applies. */
  #transition(low: number, high: number, offset: number): number {
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000;
      if (this.#offset(middle) === offset) high = middle;
      else low = middle;
    }
    return high;
  }
}

/** Bounded cache, because names also come from contacts' fields, in any letter case. */
const clocks = new LRUCache<string, ZoneClock>({ max: MAX_ZONES });

/** Returns the shared clock of a zone. Throws RangeError when `name` is not an IANA time zone. */
export function zoneClock(name: string): ZoneClock {
  let clock = clocks.get(name);
  if (clock === undefined) {
    if (!isIanaZone(name)) throw new RangeError(`unknown time zone: ${name}`);
    clock = new ZoneClock(name);
    clocks.set(name, clock);
  }
  return clock;
}

/** Returns the calendar day of an instant on a zone's wall clock, in days since 1970-01-01. */
export function localDay(clock: ZoneClock, utc: number): number {
  return Math.floor((utc + clock.segmentAt(utc).offset) / DAY);
}

/**
 * Returns the first instant after `utc` on a later calendar day of the zone. This is 01:00 if midnight is skipped, and
 * the day after next if a whole day is skipped (Pacific/Apia, 2011-12-30).
 */
export function nextLocalDay(clock: ZoneClock, utc: number): number {
  const today = localDay(clock, utc);
  for (let segment = clock.segmentAt(utc); ; segment = clock.segmentAt(segment.to)) {
    const start = Math.max(segment.from, (today + 1) * DAY - segment.offset);
    if (start < segment.to) return start;
  }
}
