import { setTimeout as sleep } from 'node:timers/promises';
import { BY_CLOCK } from '../lib/cost-paths.ts';
import { sumOf, type StatementCounts } from '../test/harness/statement-counter.ts';
import type { BenchContext } from './context.ts';

/**
 * Time (ms) for which the statements of an idle worker are counted. The worker first gets the same time to become idle.
 */
const IDLE_MS = 20_000;
const REST_MS = 3_000;

/** Statement counts of a worker, per piece of work. */
interface CountedWork {
  /** Counts by path and label, without those of {@link CountedWork.byClock}. */
  perPiece: StatementCounts;
  /** Statements per second of an idle worker, by path and label. */
  byClock: StatementCounts;
}

/**
 * Runs work once with a worker that counts its statements (test/harness/statement-counter.ts) in place of the stack's
 * own. The statements of the idle worker are counted afterwards, and their rate is subtracted for the duration of the
 * work.
 * @param pieces number of pieces of which the work consists
 */
export async function countWorker(
  { helper, stack }: BenchContext,
  pieces: number,
  work: () => Promise<unknown>,
): Promise<CountedWork> {
  const { worker } = stack.processes;
  await worker.kill('SIGTERM');
  const counted = await helper('counted-worker');
  try {
    await counted.ask<StatementCounts>('take');
    const began = performance.now();
    await work();
    await sleep(REST_MS);
    const seconds = (performance.now() - began) / 1000;
    const whole = await counted.ask<StatementCounts>('take');
    await sleep(IDLE_MS);
    const byClock = scaled(await counted.ask<StatementCounts>('take'), (count) => count / (IDLE_MS / 1000));
    const { [BY_CLOCK]: _clock, ...paths } = whole;
    const perPiece = scaled(paths, (count, path, label) =>
      Math.max(0, (count - (byClock[path]?.[label] ?? 0) * seconds) / pieces),
    );
    return { perPiece, byClock };
  } finally {
    await counted.stop();
    await worker.restart();
  }
}

function scaled(
  counts: StatementCounts,
  scale: (count: number, path: string, label: string) => number,
): StatementCounts {
  return Object.fromEntries(
    Object.entries(counts).map(([path, labels]) => [
      path,
      Object.fromEntries(Object.entries(labels).map(([label, count]) => [label, scale(count, path, label)])),
    ]),
  );
}

/**
 * Returns the figures of counted work: the sums by path, the transactions, and the statements that run by the clock.
 */
export function statementFigures(what: string, { perPiece, byClock }: CountedWork): { label: string; value: string }[] {
  const paths = Object.keys(perPiece)
    .map((path) => [path, sumOf(perPiece, (each) => each === path)] as const)
    .filter(([, count]) => count >= 0.05)
    .toSorted(([, one], [, other]) => other - one);
  const control = Object.values(perPiece).reduce((sum, labels) => sum + (labels.begin ?? 0) + (labels.commit ?? 0), 0);
  const parts = paths.map(([path, count]) => `${path} ${count.toFixed(1)}`).join(', ');
  return [
    { label: `SQL statements of the worker per ${what}`, value: `${sumOf(perPiece).toFixed(1)} (${parts})` },
    { label: `of them BEGIN and COMMIT`, value: control.toFixed(1) },
    { label: 'SQL statements of a worker with nothing to do', value: `${sumOf(byClock).toFixed(1)} /s` },
  ];
}

/** Statistics of the database time of statements, over all processes. */
interface StatementTimes {
  /** Resets the statistics. */
  reset(): Promise<void>;
  /** Returns the most frequent statements since the reset. */
  top(pieces: number): Promise<{ perPiece: number; meanMs: number; query: string }[]>;
}

const TOP_STATEMENTS = 40;

/**
 * Opens PostgreSQL's own statement statistics. They include the statements of the benchmark itself, so only the time
 * per statement is used, not the number.
 */
export async function statementTimes({ assembly }: BenchContext): Promise<StatementTimes> {
  const { db } = assembly.deps;
  await db.raw('create extension if not exists pg_stat_statements');
  return {
    async reset() {
      await db.raw('select pg_stat_statements_reset()');
    },
    async top(pieces) {
      const { rows } = (await db.raw(
        'select calls, mean_exec_time as mean, query from pg_stat_statements order by calls desc, total_exec_time desc limit ?',
        [TOP_STATEMENTS],
      )) as { rows: { calls: number; mean: number; query: string }[] };
      return rows.map(({ calls, mean, query }) => ({
        perPiece: calls / pieces,
        meanMs: mean,
        query: query.replace(/\s+/g, ' ').slice(0, 160),
      }));
    },
  };
}
