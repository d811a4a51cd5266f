import type { BenchResult } from './context.ts';
import { READINGS, scoreBounces, TRUTHS, type BounceScore } from './inbound/bounces.ts';
import { readBounces } from './inbound/corpus.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/**
 * How incoming mail is read, measured on public corpora. `folder` holds checkouts of the repositories sisimai/set-of-emails
 * and sisimai/go-sisimai under these names; none of their text is part of this project. Even-numbered messages are for
 * development, odd ones are the exam, of which only the counts are looked at.
 */
export async function run(folder: string, log: (line: string) => void): Promise<BenchResult> {
  const result: BenchResult = { figures: [], targets: [], raw: {} };
  const bounces = readBounces(folder);
  if (bounces) {
    log(`${bounces.length} messages of the bounce corpus`);
    addBounces(result, 'development', await scoreBounces(bounces.filter(({ number }) => number % 2 === 0)));
    const exam = await scoreBounces(bounces.filter(({ number }) => number % 2 === 1));
    addBounces(result, 'exam', exam);
    result.targets.push(
      target('right kind of bounce message (exam)', exam.rightKind, 0.97),
      target('precision of hard (exam)', exam.hardPrecision, 0.98),
      target('recall of hard (exam)', exam.hardRecall, 0.93),
    );
  }
  if (result.figures.length === 0) throw new Error(`There is no corpus in ${folder}; see bench/inbound/README.md`);
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

function target(what: string, got: number, wanted: number): BenchResult['targets'][number] {
  return { what, target: `>= ${(100 * wanted).toFixed(0)} %`, got: percent(got), met: got >= wanted };
}
