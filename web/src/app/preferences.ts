import { useSyncExternalStore } from 'react';
import type { Reader } from '../../../messages/format.ts';
import { LANGUAGES, type Language } from '../../../messages/languages.ts';

/** How one person likes the dashboard; kept in this browser. The colour scheme is Mantine's. */
export interface Preferences {
  language: Language;
  density: 'comfortable' | 'dense';
}

const KEY = 'heron-preferences';
const listeners = new Set<() => void>();
let current = stored();

/** The preferences; the component is drawn again when they change. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

/** Changes preferences, here and for the next visit. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  localStorage.setItem(KEY, JSON.stringify(current));
  document.documentElement.lang = current.language;
  for (const listener of listeners) listener();
}

/** The language of now, for what is no component. */
export function language(): Language {
  return current.language;
}

/** How dates and numbers are written: the language, as it is used where the browser says one is, such as en-GB. */
export function region(): string {
  return navigator.languages.find((one) => isOf(one, current.language)) ?? current.language;
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

/** The person who reads, for sentences with numbers and moments. */
export function reader(): Reader {
  return { language: region(), timeZone };
}

/** A tag such as `de-AT` is of the language `de`. */
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
