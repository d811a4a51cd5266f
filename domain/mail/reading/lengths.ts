import { foldForDates } from './date-fold.ts';
import { dateFile, isEnd, isStart, type DateFile } from './date-words.ts';

/** A length of time, such as "in two weeks", with its position in the text. */
interface Length {
  start: number;
  end: number;
  amount: number;
  unit: string;
  /** True for a number and a unit without a word such as "in", which may not mean a time from now. */
  isBare: boolean;
}

/** Phrases for lengths of time in a language, and the meanings of their words. */
interface LengthForms {
  forms: { pattern: RegExp; isBare: boolean }[];
  units: ReadonlyMap<string, string>;
  numbers: ReadonlyMap<string, string>;
  duals: ReadonlyMap<string, readonly [string, string]>;
}

/** Lengths without a word such as "in", which all languages have. */
const BARE = ['{n} {unit}', '{n}{unit}'];

const lengthForms = new Map<string, LengthForms>();

/** Finds lengths of time from now in a folded text of a language, such as "in two weeks". */
export function lengthsIn(text: string, language: string): Length[] {
  const { forms, units, numbers, duals } = lengthFormsOf(language);
  const found: Length[] = [];
  for (const { pattern, isBare } of forms)
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (!isStart(text, start) || !isEnd(text, end)) continue;
      const { n = '1', unit = '', dual = '' } = match.groups ?? {};
      const [number, of] = duals.get(dual) ?? [/\d+$/.exec(n)?.[0] ?? numbers.get(n), units.get(unit)];
      if (of) found.push({ start, end, amount: number === 'half' ? 0.5 : Number(number), unit: of, isBare });
    }
  return found;
}

function lengthFormsOf(language: string): LengthForms {
  const known = lengthForms.get(language);
  if (known) return known;
  const file = dateFile(language);
  const units = byWord(file.units);
  const numbers = byWord(file.numbers);
  const duals = new Map(Object.entries(file.duals ?? {}).map(([word, dual]) => [foldForDates(word).text, dual]));
  const forms = formsOf(file, alternatives(units.keys()), alternatives(numbers.keys()), alternatives(duals.keys()));
  const made = { forms, units, numbers, duals };
  lengthForms.set(language, made);
  return made;
}

function formsOf(file: DateFile, unit: string, n: string, dual: string): { pattern: RegExp; isBare: boolean }[] {
  const number = String.raw`(?<n>\d{1,3}(?:\s?-\s?\d{1,3})?|${n})`;
  const forms = [...new Set([...file.in_n, ...BARE])].map((form) => {
    const [start, ...rest] = foldForDates(form).text.split(/\{n\}(?:-\{n\})?/);
    const plain = [start!, ...rest].map((part) => escaped(part).replace(/\\\{unit\\\}/, () => `(?<unit>${unit})`));
    return { pattern: new RegExp(plain.join(number), 'gu'), isBare: /^\s*\{n\}\s*\{unit\}\s*$/.test(form) };
  });
  return dual === '' ? forms : [...forms, { pattern: new RegExp(`(?<dual>${dual})`, 'gu'), isBare: false }];
}

function byWord(lists: Readonly<Record<string, readonly string[]>>): Map<string, string> {
  return new Map(Object.entries(lists).flatMap(([name, list]) => list.map((one) => [foldForDates(one).text, name])));
}

function alternatives(list: Iterable<string>): string {
  return [...list]
    .toSorted((a, b) => b.length - a.length)
    .map(escaped)
    .join('|');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
