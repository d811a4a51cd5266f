import { common } from '../../../messages/en/dashboard/common.ts';
import type { dashboard } from '../../../messages/en/dashboard/index.ts';
import { formatSentence, type ParsedSentence } from '../../../messages/format.ts';
import { LANGUAGES, type Language } from '../../../messages/languages.ts';
import type { Values } from '../../../messages/values.ts';
import { memoize } from '../app/memoize.ts';
import { language, reader, region, usePreferences } from '../app/preferences.ts';
import { loadServerTexts } from './server.ts';

type Areas = typeof dashboard;
/** Area of the dashboard, whose messages are loaded with its pages. */
export type Area = Exclude<keyof Areas, 'common'>;

type AllOf<Union> = (Union extends Union ? (one: Union) => void : never) extends (one: infer All) => void ? All : never;
type Sentences = AllOf<Areas[keyof Areas]>;
type Key = keyof Sentences;
type ValuesOf<One extends Key> = One extends One ? Values<Sentences[One], never> : never;
/** Key of a message without values. */
export type TextKey = { [One in Key]: keyof ValuesOf<One> extends never ? One : never }[Key];

/**
 * Messages by language. The English messages that belong to no area are part of the first page. All others are loaded
 * by area, in the current language.
 */
const catalogues = Object.fromEntries(LANGUAGES.map((one) => [one, {}])) as Record<
  Language,
  Record<string, ParsedSentence>
>;
Object.assign(catalogues.en, common);
const files = import.meta.glob<Record<string, Record<string, ParsedSentence>>>([
  '../../../messages/*/dashboard/*.ts',
  '!../../../messages/*/dashboard/index.ts',
  '!../../../messages/en/dashboard/common.ts',
]);
const wanted = new Set<string>(['common']);

/** Loads the messages of an area in the current language, and remembers the area for {@link loadTexts}. */
export async function loadArea(area: Area): Promise<void> {
  wanted.add(area);
  await load(language(), area);
}

/**
 * Loads the messages of all areas opened so far in a language. Until the returned promise settles, `text` does not have
 * these messages.
 */
export async function loadTexts(inLanguage: Language): Promise<void> {
  await Promise.all([...[...wanted].map((area) => load(inLanguage, area)), loadServerTexts(inLanguage)]);
}

async function load(inLanguage: Language, area: string): Promise<void> {
  const file = files[`../../../messages/${inLanguage}/dashboard/${area}.ts`];
  Object.assign(catalogues[inLanguage], (await file?.())?.[area]);
}

/** Returns the text function in the person's language, and rerenders the component when the language changes. */
export function useText(): typeof text {
  usePreferences();
  return text;
}

/** Returns a message with its values. The compiler checks the values of each key. */
export function text<One extends Key>(
  key: One,
  ...[values]: keyof AllOf<ValuesOf<One>> extends never ? [] : [values: AllOf<ValuesOf<One>>]
): string {
  const sentence = catalogues[language()][key as string];
  if (sentence === undefined) return key;
  return formatSentence(sentence, (values ?? {}) as Readonly<Record<string, string | number>>, reader());
}

/**
 * Returns a message without values whose key is the prefix and a name from the API. Returns `otherwise` if there is no
 * such message.
 */
export function textOf(prefix: string, part: string, otherwise = part): string {
  const sentence = catalogues[language()][`${prefix}.${part}`];
  return typeof sentence === 'string' ? sentence : otherwise;
}

/** Cached, because creating a format takes far longer than using it, and lists format a number in every row. */
const numberFormat = memoize(
  (of: string, options: string) => new Intl.NumberFormat(of, JSON.parse(options) as Intl.NumberFormatOptions),
);

/** Formats a number in the current language. */
export function toNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return numberFormat(region(), JSON.stringify(options ?? {})).format(value);
}

/** Formats a share between 0 and 1 as a percentage. */
export function toPercent(share: number): string {
  return toNumber(share, { style: 'percent', maximumFractionDigits: 1 });
}
