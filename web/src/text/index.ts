import { once } from '../app/once.ts';
import { language, region, usePreferences, type Preferences } from '../app/preferences.ts';
import { common } from './en/common.ts';
import type { RoomTexts } from './rooms.ts';
import { filled, say, sayPlainly, withMoments, type Tongue } from './saying.ts';
import type { Values } from './values.ts';

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
  return filled(catalogues[language()][key] ?? key, values, toNumber);
}

/** A text whose key is put together from a part that the API gives; `otherwise` where the catalogue does not know it. */
export function textOf(prefix: string, part: string, otherwise = part): string {
  const key = `${prefix}.${part}`;
  return key in catalogues[language()] ? text(key as TextKey) : otherwise;
}

/** What the API says in English of something with a stable code, in the language of the reader (`say` in saying.ts). */
export function said(code: string, words: string): string {
  return language() === 'en' ? withMoments(tongue(), words) : say(tongue(), code, words);
}

/** What the API says in English and without a code, such as what is wrong with a field, in the language of the reader. */
export function saidPlainly(english: string): string {
  return sayPlainly(tongue(), english);
}

/** The language of now; of its texts those that are loaded. */
function tongue(): Tongue {
  const tag = language();
  return { tag, english: catalogues.en, own: catalogues[tag], words: words[tag] ?? {}, toNumber, toMoment };
}

/** A moment in the viewer's zone and region. */
function toMoment(at: string): string {
  return new Intl.DateTimeFormat(region(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
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
