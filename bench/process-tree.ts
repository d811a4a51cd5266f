import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second of /proc (USER_HZ, 100 on every Linux). */
const TICKS = 100;

/** Process of a process tree, read from Linux's /proc. */
export interface TreeProcess {
  pid: number;
  command: string;
  /** CPU time (s) of the process and of its ended children. */
  cpuSeconds: number;
  /** Memory (bytes, PSS): memory shared by several processes is divided among them. */
  memoryBytes: number;
}

/** Reads a process and its descendants. Processes that end in the meantime are omitted. */
export function readTree(root: number): TreeProcess[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
  const found: TreeProcess[] = [];
  const wanted = new Set([root]);
  // A child may have a lower pid than its parent, so the loop repeats until no process is added.
  for (let before = -1; before !== wanted.size;) {
    before = wanted.size;
    for (const { pid, parent } of all) if (wanted.has(parent)) wanted.add(pid);
  }
  for (const { pid, cpuSeconds } of all)
    if (wanted.has(pid)) found.push({ pid, cpuSeconds, command: commandOf(pid), memoryBytes: memoryOf(pid) });
  return found;
}

/** Sums the CPU time (s) of a process tree. */
export function cpuOf(tree: readonly TreeProcess[]): number {
  return tree.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

function readStat(pid: number): { pid: number; parent: number; cpuSeconds: number } | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name is in brackets and may contain any character.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  return { pid, parent: Number(fields[1]), cpuSeconds: ticks / TICKS };
}

function commandOf(pid: number): string {
  return (read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

function memoryOf(pid: number): number {
  return 1024 * Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
