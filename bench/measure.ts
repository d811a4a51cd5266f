import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchResult } from './context.ts';

/** Returns the median; of an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the value below which `share` (0 to 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;
}

/**
 * Measures every candidate once per round, in reverse order every second round, so that other load affects all of them
 * equally. Returns the values by candidate.
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

/** Returns the duration (ms) of a piece of work. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Series of measurements: several kinds of work, each repeated for a number of rounds. */
interface Series {
  /** Figures so far: 50th and 95th percentile of each kind. */
  figures: BenchResult['figures'];
  /** All single times (ms), by kind. */
  raw: Record<string, number[]>;
  /** Runs one kind of work once per round and adds its figure to the series. */
  measure(name: string, work: (round: number) => Promise<unknown>): Promise<void>;
  /** Returns the 95th percentile (ms) of all times of kinds whose names have this prefix. */
  p95(prefix: string): number;
}

/** Starts a series that begins with the given figures. */
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

/**
 * Interval (ms) between checks of processes. `AT_REST` is the share of processor time below which they count as idle.
 */
const LOOK_MS = 500;
const AT_REST = 0.4;

/**
 * Waits until processes are nearly idle, for at most 20 s, so that remaining work of one measurement does not affect
 * the next.
 */
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

/**
 * Returns the CPU time (ms) of a process, optionally with its children; undefined if the system does not provide it.
 */
export function cpuMs(pid: number, { children = false } = {}): number | undefined {
  const own = readStat(String(pid));
  if (!own) return undefined;
  // Fields after the name: 11 and 12 are the process's own time, 13 and 14 that of its ended children.
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

/**
 * Returns the CPU time (ms, with microseconds) of a process's main thread; undefined if the system does not provide it.
 */
export function fineCpuMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/** Returns the resident memory (MiB) of a process; undefined if the system does not provide it. */
export function rssMiB(pid: number): number | undefined {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) / 1024 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields of /proc/<pid>/stat that follow the name (which may contain spaces): state first, parent second.
 */
function readStat(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
