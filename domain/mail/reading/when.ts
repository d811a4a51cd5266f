import { DateTime } from 'luxon';
import { foldForDates } from './date-fold.ts';
import { writtenDates, type WrittenCue, type WrittenDate } from './written-dates.ts';
import type { Cue } from './date-words.ts';

/** A time named by a text. */
export interface NamedTime {
  /** Start of the day in the writer's time zone. */
  day: Date;
  /** Text of the date. */
  words: string;
}

const MAX_READ = 2_000;
/** Maximum distance (characters) between a word such as "until" and its date. */
const REACH = 26;
/** Maximum distance (characters) to the next date within which a word between two dates belongs to the next one. */
const NEXT_DATE = 14;
/** Languages that put "until" and "from" after the date. */
const POSTPOSITIONAL: ReadonlySet<string> = new Set(['fi', 'hi', 'hu', 'ja', 'ko', 'tr']);
/** Languages whose word for "until" includes the whole day. */
const WHOLE_DAY: ReadonlySet<string> = new Set(['hu', 'ja', 'ko']);
const NOT =
  /(?<!\p{L})(?:not?|nicht|kein\p{L}*|pas|non|nao|niet|nie|nem|ikke|inte|не|limited|kaum|schwer|degil)\s(?:\p{L}+\s)?$/u;
/** Words of a sentence that states the beginning of an absence. */
const ABSENT = /(?<!\p{L})(?:not|nicht|kein\p{L}*|niet|away|out of|closed|unavailable|leave)(?!\p{L})/u;
/** Maximum number of days ahead for a date in an away note that has no word about returning. */
const NEAR_DAYS = 60;
const MAX_NOTE = 400;

/**
 * Returns the day on which the writer of an away message is back, at its start in their time zone. Null if the text
 * names none. Reads 31 languages.
 *
 * A date is used if it is next to words about a return ("back on", "zurück am") or an end ("until", "jusqu'au"). Words
 * about a return take precedence. For the end of a range and an inclusive end, the result is the day after. The only
 * date of a short note is used without such words if it is near.
 * @param receivedAt time of arrival; the result is never earlier, and at most a year later
 * @param timezone IANA name; UTC if absent or unknown
 */
export function returnDate(text: string, receivedAt: Date, timezone = 'utc'): Date | null {
  return returnTime(text, receivedAt, timezone)?.day ?? null;
}

/** Variant of {@link returnDate} that also returns the text of the date. */
export function returnTime(text: string, receivedAt: Date, timezone = 'utc'): NamedTime | null {
  const note = noteOf(text, receivedAt, timezone);
  const meanings = note.dates.flatMap((date, at) => {
    const meaning = date.day && date.precision !== 'bare' ? returnMeaning(note, at) : null;
    return meaning ? [{ ...meaning, date }] : [];
  });
  const best = meanings.toSorted((a, b) => b.rank - a.rank)[0] ?? onlyDate(note);
  return (
    best &&
    named(note, best.date, best.dayAfter ? (best.date.last ?? best.date.day!).plus({ days: 1 }) : best.date.day!)
  );
}

/**
 * Returns the time from which the writer of "not now" may be contacted again, at the start of their day. Null if the
 * text names none. "After" a day or period means the following day.
 */
export function laterTime(text: string, receivedAt: Date, timezone = 'utc'): NamedTime | null {
  const note = noteOf(text, receivedAt, timezone);
  const ranked = note.dates.flatMap((date, at) => {
    const isAfter = has(note, at, 'after');
    const day =
      isAfter && (date.precision === 'day' || date.precision === 'period')
        ? (date.last ?? date.day)?.plus({ days: 1 })
        : date.day;
    if (!day || day <= note.today) return [];
    const isCued = isAfter || (['from', 'back_on', 'until', 'before_next'] as const).some((cue) => has(note, at, cue));
    const rank = (date.precision === 'bare' ? 0 : 2) + (isCued ? 2 : 0);
    return [{ date, day, rank }];
  });
  // "We are busy in August. Try us in September" names the time last.
  const best = ranked.toReversed().toSorted((a, b) => b.rank - a.rank)[0];
  return best ? named(note, best.date, best.day) : null;
}

/** A text with the dates found in it. */
interface Note {
  original: string;
  text: string;
  places: readonly number[];
  received: DateTime;
  today: DateTime;
  language: string;
  dates: readonly WrittenDate[];
  cues: readonly WrittenCue[];
  /** Positions of sentence ends. Dots inside dates do not count. */
  breaks: readonly number[];
}

function noteOf(original: string, receivedAt: Date, timezone: string): Note {
  const local = DateTime.fromJSDate(receivedAt, { zone: timezone });
  const received = local.isValid ? local : DateTime.fromJSDate(receivedAt, { zone: 'utc' });
  const today = received.startOf('day');
  const { text, places } = foldForDates(original.slice(0, MAX_READ));
  const { language, dates, cues } = writtenDates(text, today);
  const breaks = Array.from(text.matchAll(/\n\s*\n|[.!?;](?=\s|$)|[。！？]/g), ({ index }) => index).filter(
    (at) => ![...dates, ...cues].some(({ start, end }) => at >= start && at < end),
  );
  return { original, text, places, received, today, language, dates, cues, breaks };
}

function named({ original, places, received }: Note, { start, end }: WrittenDate, day: DateTime): NamedTime {
  const kept = DateTime.min(DateTime.max(day, received), received.plus({ years: 1 }));
  return { day: kept.toJSDate(), words: original.slice(places[start]!, places[end]!).trim().replace(/\.$/, '') };
}

/** Returns the range of the sentence that contains a date. */
function sentenceOf({ text, breaks }: Note, { start, end }: WrittenDate): { from: number; to: number } {
  return {
    from: (breaks.findLast((at) => at < start) ?? -1) + 1,
    to: breaks.find((at) => at >= end) ?? text.length,
  };
}

/**
 * Returns true if a word such as "until" is directly before or inside a date, or directly after it in languages with
 * that word order.
 */
function has(note: Note, at: number, cue: Cue): boolean {
  const { dates, cues, text, language } = note;
  const { start, end } = dates[at]!;
  const { from } = sentenceOf(note, dates[at]!);
  const previousEnd = Math.max(from, dates[at - 1]?.end ?? 0);
  const isBehind = POSTPOSITIONAL.has(language);
  return cues.some((one) => {
    if (one.cue !== cue || one.end < start - REACH || one.start > end + REACH) return false;
    // "2 de mayo" has the Spanish word for "from".
    if (one.start >= start && one.end <= end) return cue !== 'from';
    if (one.start >= end) {
      // In "from 23 November until 4 December", the word "until" belongs to the date after it.
      if (!isBehind && (dates[at + 1]?.start ?? Infinity) - one.end < NEXT_DATE) return false;
      if (!isBehind && cue !== 'until_inclusive' && cue !== 'before_next' && language !== 'zh') return false;
      return one.start - end <= (cue === 'until_inclusive' ? 12 : 3) && !/[.!?;\n]/.test(text.slice(end, one.start));
    }
    if (isBehind && cue !== 'before_next' && cue !== 'back_on') return false;
    const between = text.slice(one.end, start);
    const isNear =
      cue === 'back_on' ? between.length <= REACH : between.trim().split(/\s+/).length <= 2 && between.length <= 14;
    return one.start >= previousEnd && isNear && !/[!?;\n]/.test(between);
  });
}

function returnMeaning(note: Note, at: number): { rank: number; dayAfter: boolean } | null {
  const { text, dates, cues, language } = note;
  const date = dates[at]!;
  const { from, to } = sentenceOf(note, date);
  const endsRange = isRangeEnd(note, at);
  const isIncluded = has(note, at, 'until_inclusive');
  const backs = cues.filter(
    (one) =>
      one.cue === 'back_on' &&
      one.start >= from &&
      one.end <= to &&
      !NOT.test(text.slice(Math.max(from, one.start - 24), one.start)),
  );
  // "Away from 25 to 27 November, I will answer when I am back."
  const isBack = backs.some(
    (one) =>
      nearestDate(note, one, from, to) === date &&
      !(endsRange && /,/.test(text.slice(date.end, Math.max(date.end, one.start)))),
  );
  if (isIncluded) return { rank: 2, dayAfter: true };
  if (has(note, at, 'until') && !(isBack && has(note, at, 'back_on')))
    return { rank: 2, dayAfter: endsRange || WHOLE_DAY.has(language) };
  if (isBack) return { rank: 3, dayAfter: false };
  if (has(note, at, 'after')) return { rank: 2, dayAfter: true };
  if (endsRange) return { rank: 1, dayAfter: true };
  // The writer is away now, so "from Monday" is the return.
  return has(note, at, 'from') && !ABSENT.test(text.slice(from, to)) ? { rank: 0, dayAfter: false } : null;
}

/** Returns the date of a sentence to which a word of return belongs: the nearer of the two around it. */
function nearestDate({ text, dates }: Note, cue: WrittenCue, from: number, to: number): WrittenDate | undefined {
  const before = dates.findLast(({ start, end }) => start >= from && end <= cue.start);
  const behind = dates.find(({ start, end }) => start >= cue.end && end <= to);
  if (!before || !behind) return before ?? behind;
  const isOther = /,|\p{L}{4}/u.test(text.slice(before.end, cue.start));
  return !isOther && cue.start - before.end < behind.start - cue.end ? before : behind;
}

/** Returns true if a date ends a range: "24 November to 3 December", "23-27 November". */
function isRangeEnd(note: Note, at: number): boolean {
  const { dates, text } = note;
  const date = dates[at]!;
  const previous = dates[at - 1];
  const { from } = sentenceOf(note, date);
  if (previous?.precision === date.precision && previous.end > from) {
    const between = text.slice(previous.end, date.start);
    if (/^[\s.,]{0,2}(?:[-~〜～/]|\p{L}{1,8}(?:\s\p{L}{1,8}){0,2}|から)[\s.]{0,2}$/u.test(between)) return true;
  }
  const before = text.slice(Math.max(from, date.start - 24), date.start);
  if (/(?<![\d.:/])\d{1,2}\.?\s?[-~]\s?$/u.test(before)) return true;
  const isFrom = note.cues.some(
    (one) =>
      (one.cue === 'from' || one.cue === 'until') &&
      one.start >= from &&
      one.end <= date.start &&
      date.start - one.end < 30 &&
      one.cue === 'from',
  );
  return isFrom && /(?<![\d.:/])\d{1,2}(?:\.|\p{L}{1,3})?\s\p{L}{1,6}(?:\s\p{L}{1,6})?\s$/u.test(before);
}

/**
 * Returns the date of a short note without words such as "until", if it is near and does not mark a beginning. The last
 * of several dates counts: "We are closed on Monday. See you on Tuesday." A time that is named less exactly counts only
 * without a day.
 */
function onlyDate(note: Note): { date: WrittenDate; dayAfter: boolean } | null {
  const { original, dates, today } = note;
  if (original.length > MAX_NOTE) return null;
  const near = dates.filter(({ day }) => day && day > today && day <= today.plus({ days: NEAR_DAYS }));
  const free = near.filter((date) =>
    (['from', 'back_on'] as const).every((cue) => !has(note, dates.indexOf(date), cue)),
  );
  for (const precision of ['day', 'length', 'period', 'bare'] as const) {
    const date = free.findLast((one) => one.precision === precision);
    if (date) return { date, dayAfter: false };
  }
  // An absence today or this week.
  const current = dates.find(
    ({ day, last = day, precision }) =>
      last && (day ?? today) <= today && last >= today && last < today.plus({ weeks: 1 }) && precision !== 'bare',
  );
  return current ? { date: current, dayAfter: true } : null;
}
