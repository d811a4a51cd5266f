import { language, region } from '../app/preferences.ts';
import { say, sayPlainly, withMoments, type Tongue } from '../../../messages/unrendered/texts/saying.ts';

/*
 * Sentences that the server still writes in English without a code, found again by their English words. Each one that gets a code is deleted
 * from the lists; then this file goes.
 */

type Texts = Readonly<Record<string, string>>;
const found: Record<string, Texts> = {};
const FOLDER = '../../../messages/unrendered/texts';
const files = import.meta.glob<Record<string, Texts>>([
  '../../../messages/unrendered/texts/said-*.ts',
  '../../../messages/unrendered/texts/words-*.ts',
]);

/** Loads what is needed to say such sentences in a language. */
export async function loadUnrendered(inLanguage: string): Promise<void> {
  if (inLanguage === 'en') return;
  const names = ['said-en', `said-${inLanguage}`, `words-${inLanguage}`];
  await Promise.all(
    names.map(
      async (name) => (found[name] ??= Object.values((await files[`${FOLDER}/${name}.ts`]?.()) ?? {})[0] ?? {}),
    ),
  );
}

/** A sentence of something with a stable code. */
export function saidOf(code: string, words: string): string {
  return language() === 'en' ? withMoments(tongue(), words) : say(tongue(), code, words);
}

/** A sentence without a code. */
export function saidPlainly(english: string): string {
  return sayPlainly(tongue(), english);
}

function tongue(): Tongue {
  const tag = language();
  const texts = (name: string) => found[name] ?? {};
  return {
    tag,
    english: texts('said-en'),
    own: texts(`said-${tag}`),
    words: texts(`words-${tag}`),
    toNumber: (value) => new Intl.NumberFormat(region()).format(value),
    toMoment: (at) =>
      new Intl.DateTimeFormat(region(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at)),
  };
}
