import { useSyncExternalStore } from 'react';
import type { Reader } from '../../../messages/format.ts';
import { LANGUAGES, type Language } from '../../../messages/languages.ts';

/** Display preferences of one person, stored in this browser. Mantine stores the colour scheme. */
export interface Preferences {
  language: Language;
  density: 'comfortable' | 'dense';
}

const KEY = 'heron-preferences';
const listeners = new Set<() => void>();
let current = stored();

/** Returns the preferences and rerenders the component when they change. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

/** Changes preferences and stores them. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  localStorage.setItem(KEY, JSON.stringify(current));
  document.documentElement.lang = current.language;
  for (const listener of listeners) listener();
}

/** Returns the current language, for code outside of components. */
export function language(): Language {
  return current.language;
}

/** Returns the locale for dates and numbers: the language with the browser's region, such as en-GB. */
export function region(): string {
  return navigator.languages.find((one) => isOf(one, current.language) && isLocale(one)) ?? current.language;
}

/**
 * Returns true for a tag that Intl accepts. A browser under the POSIX locale reports `en-US@posix`, which Intl refuses.
 */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** Returns the reader's language and locale, for messages with numbers and times. */
export function reader(): Reader {
  return { language: region(), timeZone };
}

/** Returns true if a locale such as `de-AT` belongs to a language such as `de`. */
function isOf(tag: string, one: Language): boolean {
  return tag.toLowerCase() === one || tag.toLowerCase().startsWith(`${one}-`);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function stored(): Preferences {
  const usual: Preferences = {
    language: LANGUAGES.find((one) => isOf(navigator.language, one)) ?? 'en',
    density: 'comfortable',
  };
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>;
    return {
      language: LANGUAGES.find((one) => one === kept.language) ?? usual.language,
      density: kept.density === 'dense' ? 'dense' : usual.density,
    };
  } catch {
    return usual;
  }
}
