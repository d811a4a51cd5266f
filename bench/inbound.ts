import type { BenchResult } from './context.ts';
import { READINGS, scoreBounces, TRUTHS, type BounceScore } from './inbound/bounces.ts';
import { readBounces } from './inbound/corpus.ts';
import { readReplies, scoreReplies, type ReplyScore } from './inbound/replies.ts';
import { median, timed } from './measure.ts';
import { classifyInbound } from '../domain/mail/inbound/classify.ts';
import { parseInbound } from '../domain/mail/inbound/parse.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/**
 * Measures the parsing of incoming mail on public corpora. `folder` contains checkouts of sisimai/set-of-emails,
 * sisimai/go-sisimai and crisp-oss/email-reply-parser under the names of the repositories; none of their text is part
 * of this project. Messages with even numbers are for development. Those with odd numbers are the test set, of which
 * only counts are shown.
 */
export async function run(folder: string, log: (line: string) => void): Promise<BenchResult> {
  const result: BenchResult = { figures: [], targets: [], raw: {} };
  const bounces = readBounces(folder);
  if (bounces) {
    log(`${bounces.length} messages of the bounce corpus`);
    addBounces(result, 'development', await scoreBounces(bounces.filter(({ number }) => number % 2 === 0)));
    const exam = await scoreBounces(bounces.filter(({ number }) => number % 2 === 1));
    addBounces(result, 'exam', exam);
    result.figures.push({
      label: 'how blind the exam is',
      value:
        "not entirely: the words of sisimai's sources, whose authors had all messages at hand, were read for the table; no odd message was, but totals were (inbound/README.md)",
    });
    result.targets.push(
      target('right kind of bounce message (exam)', exam.rightKind, 0.97),
      target('precision of hard (exam)', exam.hardPrecision, 0.98),
      target('recall of hard (exam)', exam.hardRecall, 0.93),
    );
  }
  const replies = await readReplies(folder);
  if (replies) {
    log(`${replies.length} replies of the reply corpus`);
    addReplies(result, 'development', scoreReplies(replies.filter(({ number }) => number % 2 === 0)));
    const exam = scoreReplies(replies.filter(({ number }) => number % 2 === 1));
    addReplies(result, 'exam', exam);
    result.targets.push(
      target('replies without a quoted line left (exam)', 1 - exam.leaking.length / exam.replies, 0.97),
      target('replies without an own line lost (exam)', 1 - exam.losing.length / exam.replies, 0.99),
    );
  }
  if (result.figures.length === 0) throw new Error(`There is no corpus in ${folder}; see bench/inbound/README.md`);
  await addHostile(result);
  return result;
}

function addBounces(result: BenchResult, part: string, score: BounceScore): void {
  const { messages, table, rightKind, hardPrecision, hardRecall } = score;
  result.figures.push({
    label: `bounces, ${part}: ${messages} messages`,
    value: `right kind ${percent(rightKind)}, hard precision ${percent(hardPrecision)}, hard recall ${percent(hardRecall)}`,
  });
  for (const truth of TRUTHS) {
    const read = READINGS.filter((reading) => table[truth][reading] > 0);
    result.figures.push({
      label: `${part}: ${truth}, read as`,
      value: read.map((reading) => `${reading} ${table[truth][reading]}`).join(', '),
    });
  }
  result.raw[`bounces ${part}`] = table;
}

function addReplies(result: BenchResult, part: string, { replies, leaking, losing }: ReplyScore): void {
  result.figures.push({
    label: `replies, ${part}: ${replies} texts`,
    value: `a quoted line left in ${leaking.length}, an own line lost in ${losing.length}`,
  });
}

/** Adds messages that are designed to be slow to parse: 256 KB each, parsed as in a worker. */
async function addHostile(result: BenchResult): Promise<void> {
  const size = 256 * 1024;
  const bodies: Record<string, [type: string, body: string]> = {
    'nested HTML': ['text/html', '<div><blockquote>'.repeat(size / 17)],
    'tables in tables': ['text/html', '<table><tr><td>'.repeat(size / 15)],
    'lines that begin like introductions': ['text/plain', 'On Mon 2026 Ann\n'.repeat(size / 16)],
  };
  for (const [what, [type, body]] of Object.entries(bodies)) {
    const raw = Buffer.from(`From: a@b.example\r\nSubject: Re: x\r\nContent-Type: ${type}\r\n\r\n${body}`);
    const values: number[] = [];
    for (let round = 0; round < 5; round += 1)
      values.push(await timed(async () => classifyInbound(await parseInbound(raw), {}, new Date())));
    const value = median(values);
    result.raw[what] = values;
    result.figures.push({ label: `256 KB of ${what}`, value: `${value.toFixed(0)} ms` });
    result.targets.push({
      what: `256 KB of ${what}`,
      target: '<= 300 ms',
      got: `${value.toFixed(0)} ms`,
      met: value <= 300,
    });
  }
}

function target(what: string, got: number, wanted: number): BenchResult['targets'][number] {
  return { what, target: `>= ${(100 * wanted).toFixed(0)} %`, got: percent(got), met: got >= wanted };
}
