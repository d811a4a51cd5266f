import { once } from '../app/once.ts';
import { language, region, usePreferences, type Preferences } from '../app/preferences.ts';
import { common } from './en/common.ts';
import type { RoomTexts } from './rooms.ts';
import { PLACE, valuesIn, wordsFor, type Values } from './values.ts';

type Language = Preferences['language'];
export type Room = keyof RoomTexts;
/** Every text of the dashboard by its key. */
export type TextKey = keyof typeof common | { [Name in Room]: keyof RoomTexts[Name] }[Room];

/** English texts of no one room are part of the first page; all others come with their room, in the language it is read in. */
const catalogues: Record<Language, Record<string, string>> = { en: { ...common }, de: {} };
const files = import.meta.glob<Record<string, Record<string, string>>>(['./en/*.ts', './de/*.ts', '!./en/common.ts']);
const wanted = new Set<string>(['common']);
/** What the API says without a code, by its English words. */
const words: Partial<Record<Language, Readonly<Record<string, string>>>> = {};
const wordFiles = import.meta.glob<{ words: Readonly<Record<string, string>> }>('./words-*.ts');

/** Rooms that show what the API says of something with a code: its words are loaded with them. */
const SAYING: ReadonlySet<Room> = new Set(['start', 'campaigns', 'mailboxes', 'agents', 'review', 'operator']);

/** Loads the texts of a room in the language of now, and says which room's texts a change of the language brings. */
export async function loadRoom(room: Room): Promise<void> {
  const names = SAYING.has(room) ? [room, 'said'] : [room];
  for (const name of names) wanted.add(name);
  await Promise.all([loadWords(language()), ...names.map((name) => load(language(), name))]);
}

/** Loads the texts of what was opened so far in a language; before that, its keys have no texts. */
export async function loadTexts(inLanguage: Language): Promise<void> {
  await Promise.all([loadWords(inLanguage), ...[...wanted].map((name) => load(inLanguage, name))]);
}

async function loadWords(inLanguage: Language): Promise<void> {
  words[inLanguage] ??= (await wordFiles[`./words-${inLanguage}.ts`]?.())?.words ?? {};
}

async function load(inLanguage: Language, name: string): Promise<void> {
  // What the API says is in English already; its words are found by their English texts.
  const languages: Language[] = name !== 'said' ? [inLanguage] : inLanguage === 'en' ? [] : ['en', inLanguage];
  await Promise.all(
    languages.map(async (one) => {
      const file = files[`./${one}/${name}.ts`];
      if (file) Object.assign(catalogues[one], (await file())[name]);
    }),
  );
}

/** Gives texts in the language of the person, and draws the component again when that changes. */
export function useText(): typeof text {
  usePreferences();
  return text;
}

/**
 * A text with its values put in: `{name}`. `{count|one lead|# leads}` chooses by number.
 */
export function text(key: TextKey, values: Values = {}): string {
  return filled(catalogues[language()][key] ?? key, values);
}

function filled(words: string, values: Values): string {
  return words.replace(PLACE, (_, name: string, one?: string, many?: string) => {
    const value = values[name] ?? '';
    if (one === undefined) return typeof value === 'number' ? toNumber(value) : value;
    return (value === 1 ? one : many!).replace('#', toNumber(Number(value)));
  });
}

/** A text whose key is put together from a part that the API gives; `otherwise` where the catalogue does not know it. */
export function textOf(prefix: string, part: string, otherwise = part): string {
  const key = `${prefix}.${part}`;
  return key in catalogues[language()] ? text(key as TextKey) : otherwise;
}

/**
 * What the API says in English of something with a stable code, in the language of the reader, with the values that are in it; as
 * {@link saidPlainly} says it where the catalogue does not know the words. What was found may be followed by what to do about it.
 */
export function said(code: string, words: string): string {
  if (language() === 'en') return withMoments(words);
  const fix = catalogues.en[`said.${code}.fix`];
  if (fix && words.endsWith(`. ${fix}`)) return `${said(code, words.slice(0, -fix.length - 2))}. ${said(code, fix)}`;
  for (const [key, english] of Object.entries(catalogues.en)) {
    const name = key.slice('said.'.length);
    if (key !== `said.${name}` || (name !== code && !name.startsWith(`${code}.`))) continue;
    const values = valuesIn(words, english);
    if (values) return withMoments(text(`said.${name}` as TextKey, listsIn(values)));
  }
  return saidPlainly(words);
}

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Words with their moments as they are written in the viewer's zone and region. */
function withMoments(words: string): string {
  return words.replace(MOMENT, (at) =>
    new Intl.DateTimeFormat(region(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at)),
  );
}

/** A list such as "a.test, b.test and c.test". */
const LIST = /^\S+(?:, \S+)* and \S+$/;

/** The values with their lists as the language writes them. */
function listsIn(values: Values): Values {
  const format = new Intl.ListFormat(language());
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && LIST.test(value) ? format.format(value.split(/, | and /)) : value,
    ]),
  );
}

/**
 * What the API says in English and without a code, such as what is wrong with a field, in the language of the reader; as it says it where
 * its words are not known. Its words are known with a full stop at their end, too.
 */
export function saidPlainly(english: string): string {
  const known = words[language()] ?? {};
  const found = wordsFor(english, known);
  if (found) {
    const [own, values] = found;
    const { what } = values;
    return withMoments(filled(own, typeof what === 'string' ? { ...values, what: saidPlainly(what) } : values));
  }
  const clause = english.slice(0, -1);
  return english.endsWith('.') && wordsFor(clause, known) ? `${saidPlainly(clause)}.` : withMoments(english);
}

/** Making a format costs far more than using it, and lists of figures use it in every row. */
const numberFormat = once(
  (of: string, options: string) => new Intl.NumberFormat(of, JSON.parse(options) as Intl.NumberFormatOptions),
);

/** A number as the language writes it. */
export function toNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return numberFormat(region(), JSON.stringify(options ?? {})).format(value);
}

/** A share between 0 and 1 as a percentage. */
export function toPercent(share: number): string {
  return toNumber(share, { style: 'percent', maximumFractionDigits: 1 });
}
