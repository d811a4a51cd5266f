import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './context.ts';
import { isAlive } from '../local/alive.ts';
import { cpuOf, readTree, type TreeProcess } from './process-tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Time (ms) after which a started installation counts as idle. The idle measurement takes the same time. */
const SETTLE_MS = 60_000;
const IDLE_MS = 60_000;
const MEGABYTE = 1_000_000;

/** Figures, with the names of the targets. */
interface Figures {
  installSeconds: number;
  packages: number;
  megabytes: number;
  coldDemoSeconds: number;
  story: { cold: number; warm: number };
  warmDemoSeconds: number;
  first: Start;
  second: Start;
  idle: { part: string; cpuPercent: number; megabytes: number }[];
}

interface Start {
  readySeconds: number;
  cpuSeconds: number;
}

/**
 * Measures a newcomer's first steps on a clone with empty caches: installation, demo without and with caches, first and
 * second start, and the cost while idle. No other load should run on the machine. Works only on Linux.
 */
export async function run(quick: boolean, log: (line: string) => void): Promise<BenchResult> {
  const place = await mkdtemp(join(tmpdir(), 'heron-first-'));
  // If this process is root, PostgreSQL runs under its own account, which must be able to enter the folder.
  await chmod(place, 0o755);
  try {
    const clone = join(place, 'heron');
    await finish(spawn('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone], { stdio: 'inherit' }));
    return toResult(await measure(clone, await emptyCaches(place), quick, log));
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** Returns an environment without cached packages or servers, and without Temporal on the PATH. */
async function emptyCaches(place: string): Promise<NodeJS.ProcessEnv> {
  const folders = { XDG_CACHE_HOME: 'cache', npm_config_cache: 'npm', PIP_CACHE_DIR: 'pip', UV_CACHE_DIR: 'uv' };
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    // Removes settings of a parent npm, which would affect the measured npm, and Heron's settings.
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') && !name.startsWith('HERON_')),
  );
  for (const [name, folder] of Object.entries(folders)) {
    env[name] = join(place, folder);
    await mkdir(env[name], { recursive: true });
  }
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !existsSync(join(folder, 'temporal')));
  return { ...env, PATH: path.join(delimiter), HERON_DATA_DIR: join(place, 'data') };
}

async function measure(
  cwd: string,
  env: NodeJS.ProcessEnv,
  quick: boolean,
  log: (line: string) => void,
): Promise<Figures> {
  const timed = async (args: string[]): Promise<{ seconds: number; said: string }> => {
    const startedAt = performance.now();
    const child = spawn('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = gather(child);
    await finish(child, said);
    const seconds = (performance.now() - startedAt) / 1000;
    log(`npm ${args.join(' ')}: ${seconds.toFixed(1)} s`);
    return { seconds, said: said.join('\n') };
  };
  const install = await timed(['ci']);
  const megabytes = Number((await output('du', ['-sm', join(cwd, 'node_modules')])).split('\t')[0]);
  const cold = await timed(['run', 'demo']);
  const warm = await timed(['run', 'demo']);
  const first = await startOnce(cwd, env, log);
  const second = await startOnce(cwd, env, log, quick ? 2_000 : SETTLE_MS, quick ? 2_000 : IDLE_MS);
  return {
    installSeconds: install.seconds,
    packages: Number(/added (\d+) packages/.exec(install.said)?.[1]),
    megabytes,
    coldDemoSeconds: install.seconds + cold.seconds,
    warmDemoSeconds: warm.seconds,
    story: { cold: storyOf(cold.said), warm: storyOf(warm.said) },
    first,
    second,
    idle: second.idle,
  };
}

/** Parses the duration (s) of the demo from its output. */
function storyOf(said: string): number {
  const found = /checks in ([\d.]+) s/.exec(said);
  if (!found) throw new Error(`the demo does not say how long its story took:\n${said.slice(-2000)}`);
  return Number(found[1]);
}

/** Starts the installation, waits until it is up and idle, measures it, and stops it. */
async function startOnce(
  cwd: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  settleMs = 0,
  idleMs = 0,
): Promise<Start & { idle: Figures['idle'] }> {
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const said = gather(child);
  try {
    while (!said.some((line) => line.includes('Heron is up.'))) {
      if (child.exitCode !== null) throw new Error(`npm start ended:\n${said.join('\n')}`);
      await sleep(50);
    }
    const readySeconds = (performance.now() - startedAt) / 1000;
    const cpuSeconds = cpuOf(readTree(child.pid!));
    log(`npm start: ready in ${readySeconds.toFixed(1)} s with ${cpuSeconds.toFixed(1)} s of processor time`);
    await sleep(settleMs);
    return { readySeconds, cpuSeconds, idle: idleMs === 0 ? [] : await measureIdle(child.pid!, idleMs) };
  } finally {
    // Reads the pids of the process tree first, because npm may end before the processes that it started.
    const pids = readTree(child.pid!).map(({ pid }) => pid);
    child.kill('SIGTERM');
    while (pids.some((pid) => isAlive(pid))) await sleep(100);
  }
}

async function measureIdle(pid: number, idleMs: number): Promise<Figures['idle']> {
  const before = partsOf(readTree(pid));
  await sleep(idleMs);
  return [...partsOf(readTree(pid))].map(([part, { cpuSeconds, memoryBytes }]) => ({
    part,
    cpuPercent: ((cpuSeconds - (before.get(part)?.cpuSeconds ?? 0)) / (idleMs / 1000)) * 100,
    megabytes: memoryBytes / MEGABYTE,
  }));
}

/** Sums the CPU time and memory of a process tree by parts of the installation. */
function partsOf(tree: readonly TreeProcess[]): Map<string, { cpuSeconds: number; memoryBytes: number }> {
  const parts = new Map<string, { cpuSeconds: number; memoryBytes: number }>();
  for (const { command, cpuSeconds, memoryBytes } of tree) {
    const part = partOf(command);
    const sum = parts.get(part) ?? { cpuSeconds: 0, memoryBytes: 0 };
    parts.set(part, { cpuSeconds: sum.cpuSeconds + cpuSeconds, memoryBytes: sum.memoryBytes + memoryBytes });
  }
  return parts;
}

function partOf(command: string): string {
  const role = /deploy\/heron\.ts (\w+)/.exec(command)?.[1];
  if (role) return role;
  if (/^postgres:|\/postgres /.test(command)) return 'PostgreSQL';
  if (/server start-dev/.test(command)) return 'Temporal';
  return 'npm start itself';
}

function toResult(found: Figures): BenchResult {
  const { idle, first, second, story } = found;
  const idleCpu = idle.reduce((sum, { cpuPercent }) => sum + cpuPercent, 0);
  const idleMemory = idle.reduce((sum, { megabytes }) => sum + megabytes, 0);
  const target = (what: string, got: number, limit: number, unit: string) => ({
    what,
    target: `<= ${limit} ${unit}`,
    got: `${got.toFixed(limit < 10 ? 1 : 0)} ${unit}`,
    met: got <= limit,
  });
  return {
    figures: [
      { label: 'npm ci, cold', value: `${found.installSeconds.toFixed(1)} s` },
      { label: 'packages; node_modules', value: `${found.packages}; ${found.megabytes} MB` },
      { label: 'npm ci && npm run demo, cold', value: `${found.coldDemoSeconds.toFixed(1)} s` },
      { label: 'npm run demo, warm', value: `${found.warmDemoSeconds.toFixed(1)} s` },
      { label: 'the story of the demo: cold; warm', value: `${story.cold.toFixed(1)} s; ${story.warm.toFixed(1)} s` },
      ...[['first', first] as const, ['second', second] as const].map(([which, { readySeconds, cpuSeconds }]) => ({
        label: `npm start, ${which} time: ready; processor time`,
        value: `${readySeconds.toFixed(1)} s; ${cpuSeconds.toFixed(1)} s`,
      })),
      ...idle.map(({ part, cpuPercent, megabytes }) => ({
        label: `idle, ${part}: of a core; memory (PSS)`,
        value: `${cpuPercent.toFixed(2)} %; ${megabytes.toFixed(0)} MB`,
      })),
    ],
    targets: [
      target('npm ci && npm run demo, cold', found.coldDemoSeconds, 150, 's'),
      target('the story of the demo, cold', story.cold, 60, 's'),
      target('npm run demo, warm', found.warmDemoSeconds, 75, 's'),
      target('npm ci, cold', found.installSeconds, 40, 's'),
      target('packages', found.packages, 780, ''),
      target('node_modules', found.megabytes, 750, 'MB'),
      target('npm start, second time: ready', second.readySeconds, 6, 's'),
      target('npm start, second time: processor time', second.cpuSeconds, 8, 's'),
      target('idle, all together: memory', idleMemory, 550, 'MB'),
      target('idle, all together: of a core', idleCpu, 1.5, '%'),
    ],
    raw: { ...found },
  };
}

function gather(child: ChildProcess): string[] {
  const said: string[] = [];
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on('line', (line) => void said.push(line));
  return said;
}

async function finish(child: ChildProcess, said: readonly string[] = []): Promise<void> {
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}\n${said.slice(-40).join('\n')}`);
}

async function output(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = gather(child);
  await finish(child, said);
  return said.join('\n');
}
