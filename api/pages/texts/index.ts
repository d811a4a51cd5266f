import { preferredLanguage } from '../../http/language.ts';
import { de } from './de.ts';
import { en, type PageTexts } from './en.ts';

export type { PageTexts };

/** The texts in the language that a reader's browser prefers; see {@link preferredLanguage}. */
export function textsFor(acceptLanguage: string | undefined): PageTexts {
  return preferredLanguage(acceptLanguage) === 'de' ? de : en;
}
