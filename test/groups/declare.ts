/**
 * Replaces `ava` in bundled test files, so that one process of ava runs many of them. The tests of a process run one
 * after another. Hooks belong to their file: `before` runs when its first test starts, `after` when a test of another
 * file starts or all have ended.
 */
import ava, { type ExecutionContext } from 'ava';
import { note } from './notes.ts';

type Implementation = (t: ExecutionContext) => unknown;
type Hook = 'before' | 'after' | 'beforeEach' | 'afterEach' | 'afterEachAlways';

interface Declared {
  title: string;
  implementation: Implementation;
  isSkipped: boolean;
  isSerial: boolean;
}

interface Suite {
  /** Path of the file in the project's folder, without `.test.ts`. */
  name: string;
  tests: Declared[];
  hooks: Record<Hook, Implementation[]>;
}

interface Opened {
  suite: Suite;
  /** Rejects if a hook of the file failed; all tests of the file then fail. */
  ready: Promise<void>;
  startedAt: number;
  cpuAt: NodeJS.CpuUsage;
}

/** Test file of this process. */
interface Chosen {
  name: string;
  /** Imports the file. */
  load(): Promise<unknown>;
}

let declaring: Suite | undefined;
let opened: Opened | undefined;
const failedToClose: unknown[] = [];

/** Declares the tests of files to ava, one file after the other, with the name of the file before each title. */
export async function declareFiles(files: readonly Chosen[]): Promise<void> {
  const suites: Suite[] = [];
  for (const file of files) suites.push(await readSuite(file));
  // ava accepts declarations only in one synchronous step.
  for (const suite of suites) declareSuite(suite);
  ava.after.always('files close', async () => {
    await close();
    if (failedToClose.length > 0) throw failedToClose[0];
  });
}

async function readSuite({ name, load }: Chosen): Promise<Suite> {
  const suite: Suite = {
    name,
    tests: [],
    hooks: { before: [], after: [], beforeEach: [], afterEach: [], afterEachAlways: [] },
  };
  declaring = suite;
  try {
    await load();
    if (suite.tests.length === 0) throw new Error('the file declares no test');
  } catch (error) {
    suite.tests = [];
    add(false, false)('is loaded', () => Promise.reject(error as Error));
  } finally {
    declaring = undefined;
  }
  return {
    ...suite,
    tests: [...suite.tests.filter((test) => test.isSerial), ...suite.tests.filter((test) => !test.isSerial)],
  };
}

function declareSuite(suite: Suite): void {
  note({ file: suite.name, titles: suite.tests.map(({ title }) => title) });
  for (const test of suite.tests) {
    const title = `${suite.name} › ${test.title}`;
    if (test.isSkipped) ava.skip(title, () => undefined);
    else ava.serial(title, (t) => runTest(suite, test, t));
  }
}

async function runTest(suite: Suite, test: Declared, t: ExecutionContext): Promise<void> {
  if (opened?.suite !== suite) {
    await close();
    opened = { suite, ready: runHooks(suite, 'before', t), startedAt: performance.now(), cpuAt: process.cpuUsage() };
  }
  await opened.ready;
  try {
    await runHooks(suite, 'beforeEach', t);
    await test.implementation(t);
    await runHooks(suite, 'afterEach', t);
  } finally {
    await runHooks(suite, 'afterEachAlways', t);
  }
}

/**
 * Ends the current file. A failed hook is reported after all tests, so that it does not count as a failure of the next
 * test.
 */
async function close(): Promise<void> {
  if (!opened) return;
  const { suite, startedAt, cpuAt } = opened;
  opened = undefined;
  for (const hook of suite.hooks.after) {
    try {
      await (hook as () => unknown)();
    } catch (cause) {
      const why = cause instanceof Error ? cause.stack : String(cause);
      failedToClose.push(new Error(`a hook after the tests of ${suite.name} failed: ${why}`, { cause }));
    }
  }
  const { user, system } = process.cpuUsage(cpuAt);
  note({ file: suite.name, seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6 });
}

async function runHooks(suite: Suite, hook: Hook, t: ExecutionContext): Promise<void> {
  for (const run of suite.hooks[hook]) await run(t);
}

function current(): Suite {
  if (!declaring) throw new Error('tests and hooks are declared while their file is loaded');
  return declaring;
}

function add(isSerial: boolean, isSkipped: boolean) {
  return (title: string, implementation: Implementation): void => {
    const { tests } = current();
    if (tests.some((test) => test.title === title)) throw new Error(`two tests are called "${title}"`);
    tests.push({ title, implementation, isSerial, isSkipped });
  };
}

function addHook(hook: Hook) {
  return (...given: [Implementation] | [title: string, Implementation]): void =>
    void current().hooks[hook].push(given.at(-1) as Implementation);
}

/** Replacement of ava's `test`, with those functions that Heron's tests use. */
export default Object.assign(add(false, false), {
  skip: add(false, true),
  serial: add(true, false),
  before: addHook('before'),
  after: { always: addHook('after') },
  beforeEach: addHook('beforeEach'),
  afterEach: Object.assign(addHook('afterEach'), { always: addHook('afterEachAlways') }),
});
