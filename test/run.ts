/**
 * `npm test`: brings PostgreSQL and Temporal up once, runs ava over them, and takes everything down again
 * whatever happens. Arguments go on to ava: `npm test -- api/contacts/routes.test.ts --match='*import*'`.
 *
 * HERON_TEST_PG and HERON_TEST_TEMPORAL, when both are set, name servers to use instead.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBacking } from '../local/backing.ts';
import { bundleEntries } from '../bundle/entries.mjs';
import { chooseFiles } from './files.ts';
import { ReportReader } from './summary.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const AVA = fileURLToPath(new URL('../node_modules/ava/entrypoints/cli.mjs', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const IN_CI = !['', '0', 'false', undefined].includes(process.env.CI);

let interruptedBy: (typeof SIGNALS)[number] | undefined;
// While the stack comes up: it is taken down once it is there, unless that takes long.
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
  let bundled: BundledTests;
  try {
    bundled = await bundleTests(given);
  } catch (error) {
    return notStarted('The tests could not be bundled', error);
  }
  if (HERON_TEST_PG && HERON_TEST_TEMPORAL) return runAva(bundled, {});
  let stack;
  try {
    stack = await startBacking({ persistent: false, inMemory: true, log: (line) => print(`  ${line}`) });
  } catch (error) {
    return notStarted('The test stack did not come up', error);
  }
  try {
    if (interruptedBy) return signalExitCode(interruptedBy);
    print(`  Up in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
    const env = { HERON_TEST_PG: stack.databaseUrl, HERON_TEST_TEMPORAL: stack.temporalAddress };
    return await runAva(bundled, env);
  } finally {
    // From here on nothing may cut the work short; a signal often comes twice, from the terminal and from npm.
    onInterrupt = () => undefined;
    await stack.stop();
  }
}

interface BundledTests {
  /** Holds the chosen tests, and no others. */
  folder: string;
  forAva: string[];
}

async function bundleTests(given: string[]): Promise<BundledTests> {
  const { files, forAva } = chooseFiles(ROOT, given);
  const { folder } = await bundleEntries(files.map((file) => join(ROOT, file)));
  // Many tests run the command line; the first of them need not wait for it.
  await bundleEntries([join(ROOT, 'deploy/heron.ts')]);
  return { folder, forAva };
}

function notStarted(what: string, error: unknown): number {
  print(`\n${what}: ${error instanceof Error ? error.message : String(error)}\n`);
  print('0 passed, 1 failed, 0 skipped');
  return 1;
}

async function runAva({ folder, forAva }: BundledTests, env: Record<string, string>): Promise<number> {
  const ava = spawn(process.execPath, [AVA, ...forAva], {
    cwd: ROOT,
    env: {
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
      ...process.env,
      ...env,
      HERON_TEST_BUNDLE: relative(ROOT, folder),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onInterrupt = () => {
    ava.kill('SIGTERM');
    // A second Ctrl-C, or a test that does not let go.
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
  // ava can also fail without a failed test, for example when no file fits its arguments.
  const failed = succeeded || interruptedBy ? report.totals.failed : Math.max(1, report.totals.failed);
  printSkips(report.skipped);
  // Once more after the failures in full, which can be long: a log is read from its end.
  for (const line of report.failed) print(`  ${line}`);
  if (!report.complete) print(`The run ended early${interruptedBy ? `: ${interruptedBy}` : ''}.`);
  print(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);

  if (interruptedBy) return signalExitCode(interruptedBy);
  if (!succeeded) return code || 1;
  return IN_CI && skipped > 0 ? 1 : 0;
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
