import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LABELS, type Label } from '../domain/mail/reading/model.ts';
import type { Random } from '../test/faults/random.ts';

/** An answer that a person of the corpus wrote. */
export interface Sentence {
  language: string;
  /** Number of the person within the language; no two people share a sentence. */
  person: number;
  label: Label;
  /** Words of the text that are the time or the person of its kind (README.md). */
  detail: string;
  text: string;
  /** Nobody in particular wrote it: it has the words of one kind in the sense of another. */
  isContrast?: boolean;
}

const PEOPLE = new URL('people/', import.meta.url);
const GRAMMAR = new URL('grammar/', import.meta.url);
const CONTRASTS = '-contrasts.tsv';
/** People of a language of whom two are held out, others in each language. */
const TEN = 10;

/** Languages of the corpus. */
export const LANGUAGES: readonly string[] = readdirSync(PEOPLE).toSorted();

/** All sentences of all people. */
export function sentences(): Sentence[] {
  return LANGUAGES.flatMap((language) => {
    const folder = new URL(`${language}/`, PEOPLE);
    return readdirSync(folder)
      .filter((name) => name.endsWith('.tsv'))
      .toSorted()
      .flatMap((name) => {
        const found = sentencesOf(language, Number(name.slice(0, 2)), readFileSync(new URL(name, folder), 'utf8'));
        return name.endsWith(CONTRASTS) ? found.map((one) => ({ ...one, isContrast: true })) : found;
      });
  });
}

/** @throws Error naming the person and the line of what is no sentence */
function sentencesOf(language: string, person: number, file: string): Sentence[] {
  return file
    .split('\n')
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [kind = '', detail = '', text = ''] = line.split('\t');
      const label = (kind === 'opt_out' ? detail : kind) as Label;
      if (!LABELS.includes(label) || text === '')
        throw new Error(`${language}/${person}: not a kind, a detail and a text: ${line}`);
      return { language, person, label, detail, text: text.replaceAll(String.raw`\n`, '\n') };
    });
}

/**
 * Tells whether a person is held out: never trained on, and read only in numbers. Two of each ten people of a language are.
 * @param shift another pair, for the calibration
 */
export function isHeldOut({ language, person }: Pick<Sentence, 'language' | 'person'>, shift = 0): boolean {
  const place = LANGUAGES.indexOf(language);
  const number = (person - 1) % TEN;
  return number === (place * 3 + shift) % TEN || number === (place * 3 + 5 + shift) % TEN;
}

interface Grammar {
  templates: string[];
  slots: Record<string, string[]>;
}

/** Sentences that the small grammar of a language makes, drawn anew with each call. */
export function madeSentences(language: string, random: Random, perKind: (kind: string) => number): Sentence[] {
  const grammars = JSON.parse(readFileSync(fileURLToPath(new URL(`${language}.json`, GRAMMAR)), 'utf8')) as Record<
    string,
    Grammar
  >;
  return Object.entries(grammars).flatMap(([kind, grammar]) =>
    Array.from({ length: perKind(kind) }, (_, index) => ({
      language,
      person: 0,
      label: (kind === 'opt_out' ? 'stop' : kind) as Label,
      detail: '',
      text: expand(grammar, grammar.templates[index % grammar.templates.length]!, random),
    })),
  );
}

function expand(grammar: Grammar, template: string, random: Random, depth = 0): string {
  if (depth > 8) return template;
  return template.replace(/\{(\w+)\}/g, (_all, name: string) =>
    expand(grammar, random.pick(grammar.slots[name] ?? ['']), random, depth + 1),
  );
}
