import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripQuoted } from '../../domain/mail/inbound/quotes.ts';

/** One reply of the corpus: every line that is not empty is the writer's own, quoted, or neither (a signature). */
interface ReplyCase {
  name: string;
  /** Place in the sorted list, from 1; odd ones are the exam. */
  number: number;
  text: string;
  own: ReadonlySet<string>;
  quoted: ReadonlySet<string>;
}

/** How a set of replies was read. */
export interface ReplyScore {
  replies: number;
  /** Replies in which a quoted line was left, or an own line lost. */
  leaking: { name: string; lines: string[] }[];
  losing: { name: string; lines: string[] }[];
}

interface Fragment {
  isQuoted(): boolean;
  isSignature(): boolean;
  getContent(): string;
}

/**
 * Reads the reply corpus: `email-reply-parser` below `folder` is a checkout of crisp-oss/email-reply-parser. What is own and
 * what is quoted comes from that project's parser, whose tests are about these texts. Null where it is missing.
 */
export async function readReplies(folder: string): Promise<ReplyCase[] | null> {
  const root = join(folder, 'email-reply-parser');
  const fixtures = join(root, 'test/fixtures');
  if (!existsSync(fixtures)) return null;
  const { default: Parser } = (await import(pathToFileURL(join(root, 'lib/emailreplyparser.ts')).href)) as {
    default: new () => { read(text: string): { getFragments(): Fragment[] } };
  };
  return readdirSync(fixtures)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name, at) => {
      const text = readFileSync(join(fixtures, name), 'utf8');
      const fragments = new Parser().read(text).getFragments();
      const linesOf = (wanted: (fragment: Fragment) => boolean): string[] =>
        fragments.filter(wanted).flatMap((fragment) => comparable(fragment.getContent()));
      const all = new Set(linesOf((fragment) => !fragment.isQuoted() && !fragment.isSignature()));
      // Lines of headers that the parser overlooks, wrapped ones and those of forwarded mail, are not the writer's own words.
      const own = new Set([...all].filter((line) => !HEADER_LINE.test(line)));
      const quoted = new Set(linesOf((fragment) => fragment.isQuoted()).filter((line) => !all.has(line)));
      return { name, number: at + 1, text, own, quoted };
    });
}

const HEADER_LINE =
  /^-{2,}|^(?:from|to|date|sent|subject|cc|reply-to):\s|^on \w{3} \d{1,2}, \d{4},$|^at \d{1,2}:\d{2},$|<[^<>\s]+@[^<>\s]+> wrote:$/i;

/** Strips every reply and compares. */
export function scoreReplies(cases: readonly ReplyCase[]): ReplyScore {
  const score: ReplyScore = { replies: cases.length, leaking: [], losing: [] };
  for (const { name, text, own, quoted } of cases) {
    const kept = new Set(comparable(stripQuoted(text)));
    const leaked = [...kept].filter((line) => quoted.has(line));
    const lost = [...own].filter((line) => !kept.has(line));
    if (leaked.length > 0) score.leaking.push({ name, lines: leaked });
    if (lost.length > 0) score.losing.push({ name, lines: lost });
  }
  return score;
}

function comparable(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}
