import { readdirSync, readFileSync } from 'node:fs';
import { foldForDates } from './date-fold.ts';

/** Date words of a language, as listed in `dates/<language>.json`: every inflected form, with and without accents. */
export interface DateFile {
  months: string[][];
  weekdays: string[][];
  seasons: Record<string, string[]>;
  holidays: Record<string, string[]>;
  /** Names of the quarters and halves of a year. */
  parts?: Partial<Record<YearPart, string[]>>;
  units: Record<string, string[]>;
  numbers: Record<string, string[]>;
  /** Single words that mean a number and a unit, such as "fortnight" for two weeks. */
  duals?: Record<string, [string, string]>;
  /** Phrases for a length of time, with `{n}` and `{unit}`. */
  in_n: string[];
  /** Order of day, month and year in numeric dates. */
  order: 'dmy' | 'mdy' | 'ymd';
  /** Regular expression for the text that may follow the number of a day. */
  ordinal: string;
}

/** Keys in the files of date words whose phrases name a time relative to today. */
const RELATIVE = [
  'today',
  'tomorrow',
  'day_after_tomorrow',
  'this_week',
  'after_weekend',
  'next_week',
  'week_after_next',
  'next_month',
  'next_year',
  'next_quarter',
  'end_of_week',
  'end_of_month',
  'end_of_quarter',
  'end_of_year',
  'new_year',
] as const;
const CUES = [
  'until',
  'until_inclusive',
  'from',
  'on',
  'back_on',
  'after',
  'before_next',
  'early',
  'middle',
  'late',
  'second_week',
  'third_week',
  'no_date',
] as const;

export type YearPart = 'q1' | 'q2' | 'q3' | 'q4' | 'h1' | 'h2';
export type Relative = (typeof RELATIVE)[number];
export type Cue = (typeof CUES)[number];

/** A meaning that a date phrase has in one language. */
export type Sense =
  | { is: 'month' | 'weekday' | 'season'; value: number; isAbbreviation?: boolean }
  | { is: 'holiday'; value: string }
  | { is: 'part'; value: YearPart }
  | { is: 'relative'; value: Relative }
  | { is: 'cue'; value: Cue }
  /** A unit or number within a length of time, such as "two weeks". */
  | { is: 'unit' | 'number'; value: string };

/** A phrase of the language in a folded text. */
export interface Phrase {
  start: number;
  end: number;
  senses: readonly Sense[];
}

interface Node {
  next: Map<string, Node>;
  /** Meanings of the phrase, by language. */
  senses: Map<string, Sense[]>;
}

const FOLDER = new URL('dates/', import.meta.url);
/** File of words that identify a language, written by `npm run train-reading`. */
export const LANGUAGES_FILE = new URL('languages.json', import.meta.url);
/** Matches the words of a folded text. */
export const WORD_PATTERN = /[\p{L}\p{N}']+/gu;
/**
 * Weight (in characters) of a word that identifies a language. It is added to the number of characters in the
 * language's date phrases.
 */
const TELLING = 2;
/** First months of the seasons in the northern hemisphere. */
const SEASONS: Readonly<Record<string, number>> = { spring: 3, summer: 6, autumn: 9, winter: 12 };
const LONGEST_PHRASE = 40;
/** Maximum number of phrases read in a text. */
const MAX_PHRASES = 60;
/** Characters that a phrase must add to the covered ones. */
const ONE_MORE = 0.1;
/**
 * Maximum length (characters) of an abbreviated month or weekday. It is accepted only beside a number or another date
 * word.
 */
const SHORT = 4;
/** Scripts without spaces between words, and Korean, whose particles directly follow a word. */
const NO_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const HANGUL = /\p{Script=Hangul}/u;
const WORD = /[\p{L}\p{N}]/u;
/** Prefixes of Hebrew and Arabic words: in, to, from, the, and. */
const PREFIXED = /(?<![\p{L}\p{N}])[ובלמהשכوفبلكا]{1,3}$/u;
let loaded: { files: ReadonlyMap<string, DateFile>; root: Node } | undefined;

/** Returns the date words of all languages. Reads the files on the first call. */
function words(): { files: ReadonlyMap<string, DateFile>; root: Node } {
  if (loaded) return loaded;
  const root = emptyNode();
  const files = new Map<string, DateFile>();
  for (const name of readdirSync(FOLDER).toSorted()) {
    const language = name.slice(0, 2);
    const file = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as DateFile & Record<string, string[]>;
    files.set(language, file);
    const add = (phrases: readonly string[] | undefined, sense: Sense) => {
      for (const phrase of phrases ?? []) addPhrase(root, language, foldForDates(phrase).text.trim(), sense);
    };
    for (const is of ['month', 'weekday'] as const)
      for (const [index, names] of (is === 'month' ? file.months : file.weekdays).entries())
        for (const one of names) add([one], { is, value: index + 1, isAbbreviation: isAbbreviation(one, names) });
    for (const [season, names] of Object.entries(file.seasons)) add(names, { is: 'season', value: SEASONS[season]! });
    for (const [holiday, names] of Object.entries(file.holidays)) add(names, { is: 'holiday', value: holiday });
    for (const [part, names] of Object.entries(file.parts ?? {})) add(names, { is: 'part', value: part as YearPart });
    for (const [unit, names] of Object.entries(file.units)) add(names, { is: 'unit', value: unit });
    for (const [number, names] of Object.entries(file.numbers)) add(names, { is: 'number', value: number });
    for (const word of Object.keys(file.duals ?? {})) add([word], { is: 'unit', value: 'dual' });
    for (const value of RELATIVE) add(file[value], { is: 'relative', value });
    for (const value of CUES) add(file[value], { is: 'cue', value });
  }
  loaded = { files, root };
  return loaded;
}

function isAbbreviation(name: string, names: readonly string[]): boolean {
  if (NO_SPACES.test(name) || HANGUL.test(name)) return false;
  const plain = name.replace(/\.$/, '');
  // The first name of each list is written in full, so a name of the same length or longer is not an abbreviation.
  if (plain.length >= names[0]!.length) return false;
  return plain.length <= SHORT && names.some((other) => other.length > plain.length + 1 && other !== name);
}

function emptyNode(): Node {
  return { next: new Map(), senses: new Map() };
}

function addPhrase(root: Node, language: string, phrase: string, sense: Sense): void {
  if (!/\D/.test(phrase) || phrase.length > LONGEST_PHRASE) return;
  let node = root;
  for (let at = 0; at < phrase.length; at += 1) {
    let next = node.next.get(phrase[at]!);
    if (!next) node.next.set(phrase[at]!, (next = emptyNode()));
    node = next;
  }
  const senses = node.senses.get(language);
  if (!senses) node.senses.set(language, [sense]);
  else if (!senses.some((one) => one.is === sense.is && one.value === sense.value)) senses.push(sense);
}

/** Returns the date phrases in a folded text, in the language that matches best. */
export function phrasesIn(text: string): { language: string; phrases: Phrase[] } {
  const { root } = words();
  const matches = new Map<string, Phrase[]>();
  for (let start = 0; start < text.length; start += 1) {
    if (!isStart(text, start)) continue;
    let node = root;
    for (let end = start; end < text.length;) {
      const next = node.next.get(text[end]!);
      if (!next) break;
      node = next;
      end += 1;
      if (node.senses.size === 0 || !isEnd(text, end)) continue;
      for (const [language, senses] of node.senses) {
        const list = matches.get(language);
        if (list) list.push({ start, end, senses });
        else matches.set(language, [{ start, end, senses }]);
      }
    }
  }
  const found = Array.from(matches, ([language, list]) => [language, widest(list).slice(0, MAX_PHRASES)] as const);
  const told = languageCounts(text);
  let best = { language: 'en', phrases: [] as Phrase[], letters: 0 };
  for (const [language, phrases] of found) {
    const dates = phrases.reduce((sum, { start, end }) => sum + (end - start > 2 ? end - start : 0.5), 0);
    const letters = dates + TELLING * (told.get(language) ?? 0);
    // Prefers English on a tie, because many people also write English.
    if (letters > best.letters || (letters === best.letters && language === 'en'))
      best = { language, phrases, letters };
  }
  return best;
}

/**
 * Returns the phrases without overlaps that cover the most characters, and the fewest of those. "until the end of the
 * month" has "the end of" and "end of the month", of which the second covers more.
 * @param matches in the order of their starts
 */
function widest(matches: readonly Phrase[]): Phrase[] {
  const covered: number[] = [];
  const following: number[] = [];
  covered[matches.length] = 0;
  for (let at = matches.length - 1; at >= 0; at -= 1) {
    const { start, end } = matches[at]!;
    const next = firstFrom(matches, end, at + 1);
    const taken = end - start - ONE_MORE + covered[next]!;
    covered[at] = Math.max(taken, covered[at + 1]!);
    following[at] = taken > covered[at + 1]! ? next : -1;
  }
  const chosen: Phrase[] = [];
  for (let at = 0; at < matches.length; at = following[at]! < 0 ? at + 1 : following[at]!)
    if (following[at]! >= 0) chosen.push(matches[at]!);
  return chosen;
}

/** Returns the index of the first phrase at or after a position of the text. */
function firstFrom(matches: readonly Phrase[], place: number, from: number): number {
  let [low, high] = [from, matches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (matches[middle]!.start < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

let languageOf: ReadonlyMap<string, string> | undefined;

/** Counts the words of a text that identify each language. */
function languageCounts(text: string): ReadonlyMap<string, number> {
  languageOf ??= new Map(
    Object.entries(JSON.parse(readFileSync(LANGUAGES_FILE, 'utf8')) as Record<string, string>).flatMap(
      ([language, list]) => list.split(' ').map((word) => [word, language] as const),
    ),
  );
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(WORD_PATTERN)) {
    const language = languageOf.get(word);
    if (language) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return counts;
}

/** Returns true if a phrase may begin at a position of a text. */
export function isStart(text: string, at: number): boolean {
  const [before, first] = [text[at - 1], text[at]!];
  if (first === ' ' || first === '\n') return false;
  if (before === undefined || !WORD.test(before) || !WORD.test(first)) return true;
  if (HANGUL.test(first) && HANGUL.test(before)) return true;
  if (NO_SPACES.test(first) || NO_SPACES.test(before)) return !(isDigit(first) && isDigit(before));
  if (isDigit(before) !== isDigit(first)) return true;
  return PREFIXED.test(text.slice(Math.max(0, at - 4), at));
}

/** Returns true if a phrase may end at a position of a text. */
export function isEnd(text: string, end: number): boolean {
  const [last, after] = [text[end - 1]!, text[end]];
  if (after === undefined || !WORD.test(after) || !WORD.test(last)) return true;
  if (NO_SPACES.test(last) || NO_SPACES.test(after) || HANGUL.test(last)) return true;
  return isDigit(last) !== isDigit(after);
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

/** Returns the date words of a language. */
export function dateFile(language: string): DateFile {
  return words().files.get(language)!;
}

/**
 * Returns the order of a language's numeric dates, and a pattern for the text after the number of a day. The pattern is
 * sticky, so it matches only at its `lastIndex`.
 */
export function numericDates(language: string): { order: DateFile['order']; ordinal: RegExp } {
  const { order, ordinal } = dateFile(language);
  let pattern = ordinals.get(language);
  if (!pattern) ordinals.set(language, (pattern = new RegExp(`(?:${foldForDates(ordinal).text})`, 'uy')));
  return { order, ordinal: pattern };
}

const ordinals = new Map<string, RegExp>();

let weeks: readonly string[] | undefined;

/**
 * Returns the words that precede the number of a week, of all languages. A text with a week number often has no other
 * word that shows its language.
 */
export function weekWords(): readonly string[] {
  weeks ??= [
    ...new Set(
      [...words().files.values()].flatMap(({ units }) => (units.week ?? []).map((word) => foldForDates(word).text)),
    ),
  ].toSorted((a, b) => b.length - a.length);
  return weeks;
}
