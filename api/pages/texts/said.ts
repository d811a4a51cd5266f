import { said as inGerman } from '../../../web/src/text/de/said.ts';
import { said as inEnglish } from '../../../web/src/text/en/said.ts';
import { inWords, type Said } from '../../../lib/errors.ts';
import { say, sayPlainly, type Tongue } from '../../../web/src/text/saying.ts';
import { words } from '../../../web/src/text/words-de.ts';
import { pageWords } from './said-de.ts';

const momentFormat = new Intl.DateTimeFormat('de', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A moment as people read it in German; the pages run no script that could know their time zone. */
export function germanMoment(date: Date): string {
  return `${momentFormat.format(date)} UTC`;
}

/** German, with the words that the dashboard says, and those that only the pages do. */
const german: Tongue = {
  tag: 'de',
  english: inEnglish,
  own: inGerman,
  words: { ...pageWords, ...words },
  toNumber: (value) => value.toLocaleString('de'),
  toMoment: (at) => germanMoment(new Date(at)),
};

/** What the domain says in English, of something with a stable code, in German. */
export function saidInGerman(code: string, english: string): string {
  return say(german, code, english);
}

/** What the domain says in English and without a code, in German; as it says it where its words are not known. */
export function plainlyInGerman(said: Said): string {
  return typeof said === 'string' ? sayPlainly(german, said) : inWords(said, 'de');
}
