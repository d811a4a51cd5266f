import { foldForDates } from '../domain/mail/reading/date-fold.ts';
import { WORD_PATTERN } from '../domain/mail/reading/date-words.ts';
import type { Sentence } from './corpus.ts';

const MOST_WORDS = 150;
/** Share of a word's sentences that must be of the language. */
const OWN = 0.5;

/** Returns words that identify a language, from the sentences of its writers: frequent there, and rare elsewhere. */
export function wordsOfLanguages(sentences: readonly Sentence[]): Record<string, string> {
  const counts = new Map<string, Map<string, number>>();
  for (const { text, language } of sentences)
    for (const word of new Set(foldForDates(text).text.match(WORD_PATTERN))) {
      const row = counts.get(word) ?? new Map<string, number>();
      counts.set(word, row.set(language, (row.get(language) ?? 0) + 1));
    }
  const found = new Map<string, { word: string; count: number }[]>();
  for (const [word, row] of counts) {
    const all = [...row.values()].reduce((sum, count) => sum + count, 0);
    for (const [language, count] of row) {
      if (count < OWN * all || count < 5) continue;
      const list = found.get(language) ?? [];
      found.set(language, list);
      list.push({ word, count });
    }
  }
  return Object.fromEntries(
    [...found]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([language, words]) => [
        language,
        words
          .toSorted((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
          .slice(0, MOST_WORDS)
          .map(({ word }) => word)
          .join(' '),
      ]),
  );
}
