import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMailWorld } from '../test/harness/mail.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { makeNoise } from './isolation-noise.ts';
import { openNeighbour, type Neighbour } from './isolation-neighbour.ts';
import { lateness } from './lateness.ts';
import { median, percentile } from './measure.ts';

/** Number of tenants whose emails are timed in each repetition. */
const SENDERS = 6;
/** Time (ms) for which the noisy tenant runs before the measurement. */
const HEAD_START_MS = 10_000;
/** Factor by which the latencies of other tenants may grow. */
const MOST = 1.5;
/** Load per core above which the results would show the limits of the machine and not those of Heron. */
const BUSY_PER_CORE = 4;

/** Latencies (ms) of one repetition. */
type Latencies = Record<Column, number[]>;
type Column = 'api' | 'webhook' | 'slot' | 'approval' | 'reply';

const COLUMNS: Record<Column, { label: string; share: number }> = {
  api: { label: 'p99 of API requests', share: 0.99 },
  webhook: { label: 'p99 from a change to its webhook', share: 0.99 },
  slot: { label: 'p99 from slot to sent', share: 0.99 },
  approval: { label: 'median from approval to the email', share: 0.5 },
  reply: { label: 'median from a reply to the stop', share: 0.5 },
};

/**
 * Measures five latencies of other tenants, first while no other tenant is active. Then one tenant uses up every limit
 * at once: searches, writes, events, hanging servers and a campaign of 100,000 leads.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const repetitions = context.quick ? 1 : 5;
  const leads = context.quick ? 2 : 4;
  const crowd = context.quick ? 2_000 : 100_000;
  const sink = await context.helper('sink');
  const hang = await context.helper('hang');
  const mail = await startMailWorld();
  const neighbour = await openNeighbour(context, mail);
  const measure = async (name: string): Promise<Latencies[]> => {
    const all: Latencies[] = [];
    for (let n = 0; n < repetitions; n += 1) {
      all.push(await repetition(context, neighbour, () => lateness(context, sink, leads, SENDERS)));
      context.log(`${name} ${n + 1}: ${describeAll(all.at(-1)!)}`);
    }
    return all;
  };
  try {
    // Runs one repetition without measuring it. It opens connections and prepares plans.
    await repetition(context, neighbour, () => lateness(context, sink, 1, SENDERS));
    const quiet = await measure('quiet');
    const noise = await makeNoise(context, { sink, hang, crowd });
    await sleep(HEAD_START_MS);
    const noisy = await measure('noisy');
    const done = await noise.stop();
    return toResult(quiet, noisy, { crowd, done, load: loadavg()[0]! });
  } finally {
    await mail.stop();
  }
}

/** Measures all latencies once, at the same time. */
async function repetition(
  { quick }: BenchContext,
  neighbour: Neighbour,
  slots: () => Promise<number[]>,
): Promise<Latencies> {
  const [api, webhook, slot, approval, reply] = await Promise.all([
    neighbour.requests(quick ? 50 : 200),
    neighbour.webhooks(quick ? 10 : 60),
    slots(),
    neighbour.approvals(quick ? 3 : 8),
    neighbour.replies(quick ? 3 : 8),
  ]);
  return { api, webhook, slot, approval, reply };
}

function toResult(
  quiet: readonly Latencies[],
  noisy: readonly Latencies[],
  { crowd, done, load }: { crowd: number; done: Record<string, number>; load: number },
): BenchResult {
  const isBusy = load > BUSY_PER_CORE * cpus().length;
  const columns = Object.keys(COLUMNS) as Column[];
  const of = (all: readonly Latencies[], column: Column) => median(all.map((one) => valueOf(one, column)));
  return {
    figures: [
      ...columns.map((column) => ({
        label: `${COLUMNS[column].label}, quiet and beside the noise`,
        value: `${of(quiet, column).toFixed(0)} ms and ${of(noisy, column).toFixed(0)} ms`,
      })),
      {
        label: `noise of one tenant, besides a campaign of ${crowd} leads`,
        value: Object.entries(done)
          .map(([what, count]) => `${count} ${what}`)
          .join(', '),
      },
      { label: 'load of the machine at the end', value: `${load.toFixed(1)}${isBusy ? ': busy with other work' : ''}` },
    ],
    targets: columns.map((column) => {
      const ratio = of(noisy, column) / of(quiet, column);
      return {
        what: `${COLUMNS[column].label} of other tenants, against the quiet repetitions`,
        target: `<= ${MOST} x`,
        got: `${ratio.toFixed(2)} x`,
        met: ratio <= MOST && !isBusy,
      };
    }),
    raw: { quiet, noisy, done, load },
  };
}

function valueOf(one: Latencies, column: Column): number {
  return percentile(one[column], COLUMNS[column].share);
}

function describeAll(one: Latencies): string {
  return (Object.keys(COLUMNS) as Column[])
    .map((column) => `${column} ${valueOf(one, column).toFixed(0)} ms`)
    .join(', ');
}
