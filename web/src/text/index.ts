import { language, usePreferences, type Preferences } from '../app/preferences.ts';
import { en } from './en.ts';

/** Every text of the dashboard by its key. */
export type TextKey = keyof typeof en;
export type Values = Record<string, string | number>;

/** English texts are part of the first page, those of another language come when somebody reads it. */
const CATALOGUES: Partial<Record<Preferences['language'], Record<TextKey, string>>> = { en };

/** Loads the texts of a language; before that, English ones are shown. */
export async function loadTexts(wanted: Preferences['language']): Promise<void> {
  if (wanted === 'de') CATALOGUES.de ??= (await import('./de.ts')).de;
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
  return (CATALOGUES[language()] ?? en)[key].replace(
    /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const value = values[name] ?? '';
      if (one === undefined) return typeof value === 'number' ? toNumber(value) : value;
      return (value === 1 ? one : many!).replace('#', toNumber(Number(value)));
    },
  );
}

/** A text whose key is put together from a part that the API gives; `otherwise` where the catalogue does not know it. */
export function textOf(prefix: string, part: string, otherwise = part): string {
  const key = `${prefix}.${part}`;
  return key in en ? text(key as TextKey) : otherwise;
}

/** A number as the language writes it. */
export function toNumber(value: number, options?: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(language(), options).format(value);
}

/** A share between 0 and 1 as a percentage. */
export function toPercent(share: number): string {
  return toNumber(share, { style: 'percent', maximumFractionDigits: 1 });
}
