import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchResult } from './context.ts';

/** The middle value; of an even number, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which `share` (0 to 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;
}

/**
 * Measures every candidate once per round, in turn and from the other end in every second round, so that what the machine
 * does meanwhile falls on all of them. Returns the values by candidate.
 */
export async function alternate<Name extends string>(
  rounds: number,
  candidates: Record<Name, (round: number) => Promise<number>>,
  report: (name: Name, round: number, value: number) => void,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(candidates) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await candidates[name](round);
      values[name].push(value);
      report(name, round, value);
    }
  }
  return values;
}

/** Milliseconds a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Kinds of work that are measured one after the other, each so many times. */
interface Series {
  /** The figures so far, p50 and p95 of each kind. */
  figures: BenchResult['figures'];
  /** Every single time (ms), by kind. */
  raw: Record<string, number[]>;
  /** Does a kind of work, once for each round, and adds its figure. */
  measure(name: string, work: (round: number) => Promise<unknown>): Promise<void>;
  /** The 95th percentile (ms) of all times of the kinds whose names begin so. */
  p95(prefix: string): number;
}

/** Begins with figures that are known already. */
export function openSeries(rounds: number, figures: BenchResult['figures'], log: (line: string) => void): Series {
  const raw: Record<string, number[]> = {};
  return {
    figures,
    raw,
    async measure(name, work) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) times.push(await timed(() => work(round)));
      raw[name] = times;
      const value = `p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)} ms`;
      figures.push({ label: name, value });
      log(`${name}: ${value}`);
    },
    p95(prefix) {
      const times = Object.entries(raw).flatMap(([name, series]) => (name.startsWith(prefix) ? series : []));
      return percentile(times, 0.95);
    },
  };
}

/** How often (ms) processes are looked at until they rest, and the share of that time they may use then. */
const LOOK_MS = 500;
const AT_REST = 0.4;

/** Waits until processes have next to nothing to do, so that what one measurement left behind does not fall on the next one; 20 s at most. */
export async function untilAtRest(pids: readonly (number | undefined)[]): Promise<void> {
  const used = (): number => pids.reduce<number>((sum, pid) => sum + ((pid && cpuMs(pid, { children: true })) || 0), 0);
  const deadline = Date.now() + 20_000;
  for (let calm = 0; calm < 3 && Date.now() < deadline;) {
    const before = used();
    await sleep(LOOK_MS);
    calm = used() - before < LOOK_MS * AT_REST ? calm + 1 : 0;
  }
}

const MS_PER_TICK = 10;

/** CPU time (ms) a process has used so far, with its children if wanted; undefined where the system does not tell. */
export function cpuMs(pid: number, { children = false } = {}): number | undefined {
  const own = readStat(String(pid));
  if (!own) return undefined;
  // Behind the name: 11 and 12 are its own time, 13 and 14 that of children that have ended.
  let ticks = Number(own[11]) + Number(own[12]);
  if (children) {
    ticks += Number(own[13]) + Number(own[14]);
    for (const entry of readdirSync('/proc')) {
      const fields = /^\d+$/.test(entry) ? readStat(entry) : undefined;
      if (fields && Number(fields[1]) === pid) ticks += Number(fields[11]) + Number(fields[12]);
    }
  }
  return ticks * MS_PER_TICK;
}

/** CPU time (ms) the first thread of a process has used so far, to the microsecond; undefined where the system does not tell. */
export function fineCpuMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/** Memory (MiB) a process holds; undefined where the system does not tell. */
export function rssMiB(pid: number): number | undefined {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) / 1024 : undefined;
  } catch {
    return undefined;
  }
}

/** Fields of /proc/<pid>/stat behind the name, which may hold spaces: state first, parent second. */
function readStat(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
