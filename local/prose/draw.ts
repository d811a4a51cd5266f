import { createHash } from 'node:crypto';
import { commentsIn } from './comments.ts';

/** Text that is judged by the rubric, with the line of code below it or with its message key. */
export interface Drawn {
  place: string;
  text: string;
  context: string;
}

/** Returns the comments of sources, except directives for programs. */
export function commentsOf(sources: ReadonlyMap<string, string>): Drawn[] {
  return [...sources].flatMap(([file, source]) => {
    const lines = source.split('\n');
    return commentsIn(source)
      .filter(({ text }) => !/^(?:oxlint|@ts-|#)/.test(text))
      .map(({ text, line }) => ({ place: `${file}:${line}`, text, context: declarationAt(lines, line, text) }));
  });
}

/** Returns the code to which a comment belongs. */
function declarationAt(lines: readonly string[], line: number, text: string): string {
  const own = lines[line - 1]!.split(/\/\*|\/\//)[0]!.trim();
  if (own) return own;
  const below = lines.slice(line - 1 + text.split('\n').length);
  return below.find((each) => /[\w}]/.test(each) && !/^\s*(?:\/\*|\*|\/\/)/.test(each))?.trim() ?? '';
}

/** Draws `count` different texts at random. The same seed draws the same texts from the same list. */
export function draw<T>(from: readonly T[], count: number, seed: number): T[] {
  const rank = (text: T): string =>
    createHash('sha256')
      .update(`${seed}/${JSON.stringify(text)}`)
      .digest('hex');
  const ranked = from.map((text) => ({ text, rank: rank(text) }));
  return ranked
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ text }) => text);
}
