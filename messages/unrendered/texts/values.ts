/** What is put into a text, by name. */
export type Values = Record<string, string | number>;

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
const literal = (words: string) => words.replace(SPECIAL, '\\$&');

/** A place for a value in a text: `{name}`, or `{count|one lead|# leads}`. */
export const PLACE = /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g;

/** The values with which a text reads like these words; undefined where they are other words. */
export function valuesIn(words: string, text: string): Values | undefined {
  const names: [name: string, isCounted: boolean][] = [];
  let pattern = '';
  let from = 0;
  for (const { 0: place, 1: name, 2: one, 3: many, index } of text.matchAll(PLACE)) {
    names.push([name!, one !== undefined]);
    pattern += literal(text.slice(from, index));
    pattern += one === undefined ? '(.*?)' : `(?:${literal(one)}|${literal(many!).replace('#', '(\\d+)')})`;
    from = index + place.length;
  }
  const found = new RegExp(`^${pattern}${literal(text.slice(from))}$`, 's').exec(words);
  if (!found) return undefined;
  const valueOf = ([name, isCounted]: (typeof names)[number], at: number) =>
    [name, isCounted ? Number(found[at + 1] ?? 1) : found[at + 1]!] as const;
  return Object.fromEntries(names.map(valueOf));
}

/** What words are in another language, by a list of texts with places for values; undefined where no text of the list reads like them. */
export function wordsFor(
  words: string,
  known: Readonly<Record<string, string>>,
): [text: string, values: Values] | undefined {
  if (Object.hasOwn(known, words)) return [known[words]!, {}];
  for (const [english, own] of Object.entries(known)) {
    const values = english.includes('{') ? valuesIn(words, english) : undefined;
    if (values) return [own, values];
  }
  return undefined;
}
