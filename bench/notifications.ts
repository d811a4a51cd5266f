import { connectRaw } from '../db/connection.ts';
import { notifyAfterCommit } from '../db/notify.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { median } from './measure.ts';

const WRITERS = 32;
/** Latencies (µs) that are added to commits, to simulate a disk or a synchronous standby. */
const LATENCIES_US = [0, 1_000, 3_000];
const CHANNEL = 'heron_bench';

/** Modes of notification: none, as part of the commit, or after the commit. */
const MODES = ['none', 'in', 'after'] as const;
type Mode = (typeof MODES)[number];

/**
 * Measures commits per second of 32 writers without notifications, with one in each commit, and with one after each
 * commit. The modes alternate, and ratios compare modes of the same round.
 */
export async function run({ quick, stack, log }: BenchContext): Promise<BenchResult> {
  const rounds = quick ? 1 : 5;
  const ms = quick ? 500 : 3_000;
  const rates = new Map<string, number[]>();
  const ratios = new Map<string, number[]>();
  const add = (to: Map<string, number[]>, key: string, value: number) => to.set(key, [...(to.get(key) ?? []), value]);
  for (const latencyUs of LATENCIES_US) {
    const url = new URL(stack.env.PRIMARY_DB!);
    url.searchParams.set('options', `-c commit_delay=${latencyUs} -c commit_siblings=0`);
    const db = connectRaw({ url: url.href, max: WRITERS });
    await db.raw('create table if not exists bench_commits (n bigint generated always as identity)');
    try {
      for (let round = 0; round < rounds; round += 1) {
        const found = {} as Record<Mode, number>;
        for (const mode of MODES) {
          found[mode] = await commitsPerSecond(db, mode, ms);
          add(rates, `${latencyUs} ${mode}`, found[mode]);
        }
        for (const mode of MODES) add(ratios, `${latencyUs} ${mode}`, found[mode] / found.none);
      }
      log(
        `${latencyUs} µs: ${MODES.map((mode) => `${mode} ${median(rates.get(`${latencyUs} ${mode}`)!).toFixed(0)}/s`).join(', ')}`,
      );
    } finally {
      await db.raw('drop table bench_commits');
      await db.destroy();
    }
  }
  const percent = (key: string) => `${(100 * median(ratios.get(key)!)).toFixed(0)} %`;
  return {
    figures: LATENCIES_US.flatMap((us) =>
      MODES.map((mode) => ({
        label: `${WRITERS} writers, ${us / 1_000} ms of commit latency, notification ${LABELS[mode]}`,
        value: `${median(rates.get(`${us} ${mode}`)!).toFixed(0)} commits/s (${percent(`${us} ${mode}`)})`,
      })),
    ),
    targets: LATENCIES_US.map((us) => ({
      what: `commits with ${us / 1_000} ms of commit latency, notified after the commit`,
      target: '>= 90 % of those without notifications',
      got: percent(`${us} after`),
      met: median(ratios.get(`${us} after`)!) >= 0.9,
    })),
    raw: { rates: Object.fromEntries(rates), ratios: Object.fromEntries(ratios) },
  };
}

const LABELS: Record<Mode, string> = { none: 'none', in: 'in the commit', after: 'after the commit' };

async function commitsPerSecond(db: ReturnType<typeof connectRaw>, mode: Mode, ms: number): Promise<number> {
  const until = Date.now() + ms;
  let commits = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (Date.now() < until) {
        await db.transaction(async (trx) => {
          if (mode === 'after') notifyAfterCommit(trx, CHANNEL);
          await Promise.all([
            trx.raw('insert into bench_commits default values'),
            ...(mode === 'in' ? [trx.raw(`select pg_notify('${CHANNEL}', '')`)] : []),
          ]);
        });
        commits += 1;
      }
    }),
  );
  return (commits * 1_000) / ms;
}
