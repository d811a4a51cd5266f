/**
 * `npm test`: starts PostgreSQL and Temporal once, runs ava, and always stops everything at the end. Arguments are
 * passed to ava: `npm test -- api/audience/contacts/routes.test.ts --match='*import*'`. HERON_TEST_PG and
 * HERON_TEST_TEMPORAL, if both are set, name servers to use instead.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBackingServices } from '../local/backing.ts';
import { bundleEntries } from '../bundle/entries.mjs';
import { chooseFiles } from './files.ts';
import { bundleGroups, type TestGroups } from './groups/bundle.ts';
import { compareTitles, overBudget } from './groups/compare.ts';
import { readNotes, type FileTime } from './groups/notes.ts';
import { ReportReader } from './summary.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const AVA = fileURLToPath(new URL('../node_modules/ava/entrypoints/cli.mjs', import.meta.url));
/** Titles of all tests, and times (s) of their files, as committed in the project. */
const TITLES = join(ROOT, 'test', 'titles.txt');
const TIMES = join(ROOT, 'test', 'times.json');
/** Folder with the titles and times of the last complete run. */
const NAME_OF_KEPT = '.heron/tests';
const KEPT = join(ROOT, NAME_OF_KEPT);
/**
 * Number of processes that run tests. Tests wait more than they compute, so three processes keep two processors busy.
 */
const PROCESSES = 3;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const IN_CI = !['', '0', 'false', undefined].includes(process.env.CI);

let interruptedBy: (typeof SIGNALS)[number] | undefined;
// Handles a signal while the servers start: waits for the end of the start, but exits after five seconds.
let onInterrupt = (): void => void setTimeout(exitAsInterrupted, 5000).unref();
for (const signal of SIGNALS) {
  process.on(signal, () => {
    interruptedBy = signal;
    onInterrupt();
  });
}

process.exit(await main(process.argv.slice(2)));

async function main(given: string[]): Promise<number> {
  const startedAt = Date.now();
  const { HERON_TEST_PG, HERON_TEST_TEMPORAL } = process.env;
  let chosen: Chosen;
  try {
    chosen = await bundleTests(given);
  } catch (error) {
    return notStarted('The tests could not be bundled', error);
  }
  try {
    if (HERON_TEST_PG && HERON_TEST_TEMPORAL) return await runAva(chosen, {});
    return await runWithServers(chosen, startedAt);
  } finally {
    chosen.close();
  }
}

async function runWithServers(chosen: Chosen, startedAt: number): Promise<number> {
  let stack;
  try {
    stack = await startBackingServices({ persistent: false, inMemory: true, log: (line) => print(`  ${line}`) });
  } catch (error) {
    return notStarted('The test stack did not come up', error);
  }
  try {
    if (interruptedBy) return signalExitCode(interruptedBy);
    print(`  Up in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
    const env = { HERON_TEST_PG: stack.databaseUrl, HERON_TEST_TEMPORAL: stack.temporalAddress };
    return await runAva(chosen, env);
  } finally {
    // From here on a signal must not interrupt the cleanup. A signal often comes twice, from the terminal and from npm.
    onInterrupt = () => undefined;
    await stack.stop();
  }
}

interface Chosen extends TestGroups {
  forAva: string[];
  /** True if all tests of the project run. */
  isWhole: boolean;
}

async function bundleTests(given: string[]): Promise<Chosen> {
  const { files, forAva } = chooseFiles(ROOT, given);
  const groups = await bundleGroups(files, timesBefore(), PROCESSES);
  // Many tests run the command line. It is bundled first, so that none of them waits for it.
  await bundleEntries([join(ROOT, 'deploy/heron.ts')]);
  return { ...groups, forAva, isWhole: given.length === 0 };
}

function timesBefore(): Record<string, number> {
  return JSON.parse(readFileSync(TIMES, 'utf8')) as Record<string, number>;
}

function notStarted(what: string, error: unknown): number {
  print(`\n${what}: ${error instanceof Error ? error.message : String(error)}\n`);
  print('0 passed, 1 failed, 0 skipped');
  return 1;
}

async function runAva({ folder, forAva, isWhole }: Chosen, env: Record<string, string>): Promise<number> {
  const notes = join(folder, 'notes.jsonl');
  const ava = spawn(process.execPath, [AVA, ...forAva], {
    cwd: ROOT,
    env: {
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
      ...process.env,
      ...env,
      HERON_TEST_GROUPS: relative(ROOT, folder),
      HERON_TEST_PROCESSES: String(PROCESSES),
      HERON_TEST_NOTES: notes,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onInterrupt = () => {
    ava.kill('SIGTERM');
    // Handles a second Ctrl-C, for a test that does not end.
    onInterrupt = () => ava.kill('SIGKILL');
    setTimeout(() => ava.kill('SIGKILL'), 5000).unref();
  };
  const report = new ReportReader();
  createInterface({ input: ava.stdout }).on('line', (line) => {
    report.line(line);
    print(line);
  });
  const [code] = (await once(ava, 'close')) as [number | null];
  onInterrupt = () => undefined;

  const { passed, skipped } = report.totals;
  const succeeded = code === 0 && report.complete && report.totals.failed === 0;
  // ava can also fail without a failed test, for example when no file matches its arguments.
  const failed = succeeded || interruptedBy ? report.totals.failed : Math.max(1, report.totals.failed);
  if (!report.complete) print(`The run ended early${interruptedBy ? `: ${interruptedBy}` : ''}.`);
  const { titles, times } = readNotes(notes);
  const isComplete = isWhole && report.complete && !interruptedBy;
  const changed = isComplete ? reportRun(titles, times) : [];
  printSkips(report.skipped);
  // Repeats the names of failed tests at the end, where a log is read first.
  for (const line of report.failed) print(`  ${line}`);
  if (failed > 0) for (const line of report.causes()) print(line);
  print(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);

  if (interruptedBy) return signalExitCode(interruptedBy);
  if (!succeeded) return code || 1;
  return IN_CI && (skipped > 0 || changed.length > 0) ? 1 : 0;
}

/**
 * Stores the titles and times of a complete run. Reports files that became slower, and tests that were added or
 * removed.
 */
function reportRun(titles: string[], times: FileTime[]): string[] {
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(join(KEPT, 'titles.txt'), `${titles.join('\n')}\n`);
  const seconds = times.map(({ file, seconds: took }) => [`${file}.test.ts`, Math.ceil(took)] as const);
  writeFileSync(join(KEPT, 'times.json'), `${JSON.stringify(Object.fromEntries(seconds.toSorted()), null, 2)}\n`);
  print('\n  Took longest, in s (of the processor):');
  for (const { file, seconds: took, cpuSeconds } of times.slice(0, 15))
    print(`    ${took.toFixed(1)} (${cpuSeconds.toFixed(1)})  ${file}`);
  for (const line of overBudget(times, timesBefore()))
    print(`  SLOW: ${line}. If it must be: cp ${NAME_OF_KEPT}/times.json test/`);
  const changed = compareTitles(titles, readFileSync(TITLES, 'utf8').split('\n').filter(Boolean));
  if (changed.length > 0)
    print(`  Other tests than test/titles.txt has. If they should be: cp ${NAME_OF_KEPT}/titles.txt test/`);
  for (const line of changed) print(`    ${line}`);
  return changed;
}

function printSkips(titles: string[]): void {
  if (titles.length === 0) return;
  const bar = '!'.repeat(78);
  print(`${bar}\n  ${titles.length} SKIPPED. What they cover was not tested on this machine:`);
  for (const title of titles) print(`    - ${title}`);
  if (IN_CI) print('  CI is set, so this fails the run.');
  print(bar);
}

function exitAsInterrupted(): never {
  process.exit(signalExitCode(interruptedBy ?? 'SIGTERM'));
}

function signalExitCode(signal: (typeof SIGNALS)[number]): number {
  return 128 + constants.signals[signal];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
