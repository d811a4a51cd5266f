import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripQuoted } from '../../domain/mail/inbound/quotes.ts';

/** Reply of the corpus: every non-empty line is the writer's own, quoted, or neither (a signature). */
interface ReplyCase {
  name: string;
  /** Position in the sorted list, from 1. Replies with an odd position are the test set. */
  number: number;
  text: string;
  own: ReadonlySet<string>;
  quoted: ReadonlySet<string>;
}

/** Score of a set of replies. */
export interface ReplyScore {
  replies: number;
  /** Replies in which a quoted line was kept or a line of the writer was lost. */
  leaking: { name: string; lines: string[] }[];
  losing: { name: string; lines: string[] }[];
}

interface Fragment {
  isQuoted(): boolean;
  isSignature(): boolean;
  getContent(): string;
}

/**
 * Reads the reply corpus: `email-reply-parser` below `folder` is a checkout of crisp-oss/email-reply-parser. That
 * project's parser, whose tests use these texts, decides which lines are own or quoted. Returns null if the checkout is
 * missing.
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
      // Excludes header lines that the corpus's parser does not recognize: wrapped ones, and those of forwarded mail.
      // They are not written by the person.
      const own = new Set([...all].filter((line) => !HEADER_LINE.test(line)));
      const quoted = new Set(linesOf((fragment) => fragment.isQuoted()).filter((line) => !all.has(line)));
      return { name, number: at + 1, text, own, quoted };
    });
}

const HEADER_LINE =
  /^-{2,}|^(?:from|to|date|sent|subject|cc|reply-to):\s|^on \w{3} \d{1,2}, \d{4},$|^at \d{1,2}:\d{2},$|<[^<>\s]+@[^<>\s]+> wrote:$/i;

/** Strips the quotes from every reply and compares the result with the corpus. */
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
