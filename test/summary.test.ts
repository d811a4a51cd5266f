import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { ReportReader } from './summary.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const AVA = join(ROOT, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');

/**
 * Runs ava with the given files, and reads its report. Uses the real ava, because the wording of its reports can
 * change.
 */
async function report(
  t: { teardown: (undo: () => Promise<void>) => void },
  files: Record<string, string>,
  env: NodeJS.ProcessEnv = {},
): Promise<ReportReader> {
  await mkdir(join(ROOT, '.heron'), { recursive: true });
  // The folder is inside the project, so that `ava` resolves, and hidden, so that the project's own tests ignore it.
  const directory = await mkdtemp(join(ROOT, '.heron', 'summary-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  await writeFile(join(directory, 'ava.config.js'), "export default { files: ['*.test.js'], timeout: '20s' };");
  for (const [name, source] of Object.entries(files)) await writeFile(join(directory, name), source);
  const stdout = await new Promise<string>((resolve) => {
    const options = { cwd: directory, env: { ...process.env, ...env } };
    execFile(process.execPath, [AVA], options, (_error, out) => resolve(out));
  });
  const reader = new ReportReader();
  for (const line of stdout.split('\n')) reader.line(line);
  return reader;
}

const GOOD = `import test from 'ava';
test('a', (t) => t.pass());
test('  ✔ b', (t) => { t.log('  ✔ not a result'); t.pass(); });
test.failing('a known fault', (t) => t.fail());
`;

test('what passed and what was skipped is counted, with or without colours', async (t) => {
  const files = { 'good.test.js': `${GOOD}test.skip('needs a mail server', (t) => t.pass());` };
  for (const FORCE_COLOR of ['0', '1']) {
    const reader = await report(t, files, { FORCE_COLOR });
    t.deepEqual(reader.totals, { passed: 3, failed: 0, skipped: 1 });
    t.deepEqual(reader.skipped, ['needs a mail server']);
    t.true(reader.complete);
  }
});

test('failures are counted once, whatever they quote', async (t) => {
  const failing = `import test from 'ava';
test('quotes', (t) => t.is('  ✔ x\\n  ✘ y', '  ✔ x\\n  ✘ z'));
test('throws', () => { throw new Error('  ✘ no'); });
`;
  const reader = await report(t, { 'good.test.js': GOOD, 'bad.test.js': failing });
  t.deepEqual(reader.totals, { passed: 3, failed: 2, skipped: 0 });
  const causes = reader.causes();
  t.true(
    causes.some((line) => line.includes('✘ no')) && causes.some((line) => line.includes('✘ z')),
    causes.join('\n'),
  );
  t.false(causes.some((line) => /^\s+at /.test(line)));
});

test('a hook that fails, a file that crashes and an unhandled rejection count as failures', async (t) => {
  const reader = await report(t, {
    'hook.test.js': `import test from 'ava';
test.before('hook', () => { throw new Error('no'); });
test('x', (t) => t.pass());`,
    'crash.test.js': `import 'ava'; throw new Error('no');`,
    'rejection.test.js': `import test from 'ava';
test('y', async (t) => {
  void Promise.reject(new Error('no'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.pass();
});`,
  });
  t.is(reader.totals.passed, 1);
  t.true(reader.totals.failed >= 3);
});
