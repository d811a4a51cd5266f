import { dashboard as de } from './de/dashboard/index.ts';
import { dashboard as en } from './en/dashboard/index.ts';
import type { Language } from './languages.ts';

type Areas = typeof en;

/**
 * All messages of the dashboard by language, area and key. A missing message is a compile error. The browser does not
 * load this object. It loads one area of one language at a time.
 */
export const DASHBOARD: Readonly<
  Record<Language, { readonly [Area in keyof Areas]: Readonly<Record<keyof Areas[Area], string>> }>
> = { en, de };
