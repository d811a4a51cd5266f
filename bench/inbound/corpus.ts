import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Classification of a message by the corpus. */
export type BounceTruth = 'hard' | 'soft' | 'no bounce';

/** Message of the corpus with its expected result. */
export interface BounceCase {
  /** File name without extension, such as `lhost-postfix-07`. */
  name: string;
  /** Number at the end of the name. Messages with odd numbers are the test set. */
  number: number;
  raw: Buffer;
  truth: BounceTruth;
  /** Reasons as named by the corpus, one for each recipient. */
  reasons: string[];
}

/** Reasons of the corpus that are not bounces: feedback reports, automatic replies, delivery confirmations. */
const NO_BOUNCE: ReadonlySet<string> = new Set(['feedback', 'vacation', 'delivered']);

/**
 * Reads the bounce corpus: `set-of-emails` (messages) and `go-sisimai` (expected results, in the tables of its tests),
 * checkouts of the sisimai project below `folder`. Returns null if one is missing.
 */
export function readBounces(folder: string): BounceCase[] | null {
  const mails = join(folder, 'set-of-emails/maildir/bsd');
  const tests = join(folder, 'go-sisimai/fact');
  if (!existsSync(mails) || !existsSync(tests)) return null;
  const cases: BounceCase[] = [];
  for (const file of readdirSync(tests).sort()) {
    const group = /^\d+-([a-z]+\d*)(?:-.*)?_test\.go$/.exec(file)?.[1];
    const text = readFileSync(join(tests, file), 'utf8').split('secretlist')[0] ?? '';
    const engine = /func Test\w+[\s\S]*EngineTest\(t, "([^"]+)", publiclist/.exec(
      readFileSync(join(tests, file), 'utf8'),
    )?.[1];
    if (group === undefined || engine === undefined) continue;
    const prefix = group === 'lhost' || group === 'rhost' ? `${group}-` : '';
    for (const [label, rows] of expectations(text)) {
      const name = `${prefix}${engine.toLowerCase()}-${label}`;
      const path = join(mails, `${name}.eml`);
      if (!existsSync(path)) continue;
      const bounces = rows.filter(({ reason }) => !NO_BOUNCE.has(reason));
      cases.push({
        name,
        number: Number(label),
        raw: readFileSync(path),
        truth: bounces.length === 0 ? 'no bounce' : bounces.some(({ hard }) => hard) ? 'hard' : 'soft',
        reasons: rows.map(({ reason }) => reason),
      });
    }
  }
  return cases;
}

/** Parses the rows `{"07", 1, "5.1.1", "550", "userunknown", true, ""}` of one table, by label. */
function expectations(text: string): Map<string, { reason: string; hard: boolean }[]> {
  const byLabel = new Map<string, { reason: string; hard: boolean }[]>();
  for (const match of text.matchAll(/\{"(\d+)",\s*\d+,\s*"[^"]*",\s*"[^"]*",\s*"([^"]*)",\s*(true|false)/g)) {
    const [, label = '', reason = '', hard] = match;
    byLabel.set(label, [...(byLabel.get(label) ?? []), { reason, hard: hard === 'true' }]);
  }
  return byLabel;
}
