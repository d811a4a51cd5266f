import { PLACE, valuesIn, wordsFor, type Values } from './values.ts';

/** A language in which what the API says in English is said: the dashboard's, and that of the server-rendered pages. */
export interface Tongue {
  /** Its BCP 47 tag. */
  tag: string;
  /** What the API says with a code, by the key `said.<code>`, in English and in this language. Other keys are not looked at. */
  english: Readonly<Record<string, string>>;
  own: Readonly<Record<string, string>>;
  /** What the API says without a code, by its English words. */
  words: Readonly<Record<string, string>>;
  toNumber: (value: number) => string;
  /** A moment in UTC, RFC 3339, as people read it. */
  toMoment: (at: string) => string;
}

/** A text with its values put in: `{name}`. `{count|one lead|# leads}` chooses by number. */
export function filled(words: string, values: Values, toNumber: Tongue['toNumber']): string {
  return words.replace(PLACE, (_, name: string, one?: string, many?: string) => {
    const value = values[name] ?? '';
    if (one === undefined) return typeof value === 'number' ? toNumber(value) : value;
    return (value === 1 ? one : many!).replace('#', toNumber(Number(value)));
  });
}

/**
 * What the API says in English of something with a stable code, with the values that are in it; as {@link sayPlainly} says it where the
 * code is not known with these words. What was found may be followed by what to do about it.
 */
export function say(tongue: Tongue, code: string, words: string): string {
  const { english, own } = tongue;
  const fix = english[`said.${code}.fix`];
  if (fix && words.endsWith(`. ${fix}`))
    return `${say(tongue, code, words.slice(0, -fix.length - 2))}. ${say(tongue, code, fix)}`;
  for (const [key, text] of Object.entries(english)) {
    const name = key.slice('said.'.length);
    if (key !== `said.${name}` || (name !== code && !name.startsWith(`${code}.`))) continue;
    const values = valuesIn(words, text);
    if (values && own[key]) return withMoments(tongue, filled(own[key], listsIn(tongue, values), tongue.toNumber));
  }
  return sayPlainly(tongue, words);
}

/** What the API says in English and without a code; as it says it where its words are not known. They are known with a full stop at their end, too. */
export function sayPlainly(tongue: Tongue, english: string): string {
  const found = wordsFor(english, tongue.words);
  if (found) {
    const [own, values] = found;
    const { what } = values;
    const said = typeof what === 'string' ? { ...values, what: sayPlainly(tongue, what) } : values;
    return withMoments(tongue, filled(own, said, tongue.toNumber));
  }
  const clause = english.slice(0, -1);
  return english.endsWith('.') && wordsFor(clause, tongue.words)
    ? `${sayPlainly(tongue, clause)}.`
    : withMoments(tongue, english);
}

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Words with their moments as people read them. */
export function withMoments({ toMoment }: Pick<Tongue, 'toMoment'>, words: string): string {
  return words.replace(MOMENT, toMoment);
}

/** A list such as "a.test, b.test and c.test". */
const LIST = /^\S+(?:, \S+)* and \S+$/;

/** The values with their lists as the language writes them. */
function listsIn({ tag }: Tongue, values: Values): Values {
  const format = new Intl.ListFormat(tag);
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && LIST.test(value) ? format.format(value.split(/, | and /)) : value,
    ]),
  );
}
