import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ReportReader } from '../summary.ts';
import { compareTitles, overBudget } from './compare.ts';
import { readNotes } from './notes.ts';
import { planGroups } from './plan.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs test files as one group, in a separate project. Returns the report, the notes and the output of the tests, in
 * order.
 */
async function runGroup(t: ExecutionContext, files: Record<string, string>, args: string[] = []) {
  const root = await mkdtemp(join(tmpdir(), 'heron-groups-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  for (const folder of ['bundle', 'test/groups'])
    await cp(join(ROOT, folder), join(root, folder), { recursive: true, filter: (name) => !name.endsWith('.test.ts') });
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
  await mkdir(join(root, 'lib'));
  const head = `import { appendFileSync } from 'node:fs';
import test from 'ava';
const say = (word: string) => appendFileSync(${JSON.stringify(join(root, 'said'))}, word + ' ');
`;
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'lib', `${name}.test.ts`), head + text);
  const names = Object.keys(files).map((name) => `lib/${name}.test.ts`);
  await writeFile(
    join(root, 'write.ts'),
    `import { bundleGroups } from './test/groups/bundle.ts';
console.log((await bundleGroups(${JSON.stringify(names)}, {}, 1)).folder);`,
  );
  await writeFile(
    join(root, 'ava.config.js'),
    `export default { files: [process.env.HERON_TEST_GROUPS + '/*.test.mjs'], timeout: '20s' };`,
  );
  const notes = join(root, 'notes');
  const run = (command: string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
    new Promise((resolve) => {
      const options = { cwd: root, env: { ...process.env, HERON_TEST_NOTES: notes, ...env } };
      execFile(process.execPath, command, options, (_error, out) => resolve(out));
    });
  const folder = (await run(['bundle/run.mjs', 'write.ts'])).trim();
  const out = await run([join(ROOT, 'node_modules/ava/entrypoints/cli.mjs'), ...args], {
    HERON_TEST_GROUPS: folder.slice(root.length + 1),
  });
  const report = new ReportReader();
  for (const line of out.split('\n')) report.line(line);
  return { out, report, notes: readNotes(notes), said: (await readFile(join(root, 'said'), 'utf8')).trim().split(' ') };
}

const hooks = (name: string): string => `
test.before(() => say('${name}+'));
test.after.always(() => say('${name}-'));
test.beforeEach(() => say('('));
test.afterEach.always('with a title', () => say(')'));
`;

test('each file has its own hooks, those that are serial come first, and titles name the file', async (t) => {
  const { report, notes, said } = await runGroup(t, {
    a: `${hooks('a')}
test('second', (t) => { say('a2'); t.pass(); });
test.serial('first', (t) => { say('a1'); t.pass(); });
test.skip('never', (t) => t.fail());`,
    b: `${hooks('b')}
test('first', (t) => { say('b1'); t.pass(); });`,
  });
  t.deepEqual(report.totals, { passed: 3, failed: 0, skipped: 1 });
  t.deepEqual(said.join(' '), 'a+ ( a1 ) ( a2 ) a- b+ ( b1 ) b-');
  t.deepEqual(notes.titles, ['lib/a › first', 'lib/a › never', 'lib/a › second', 'lib/b › first']);
  t.deepEqual(notes.times.map(({ file }) => file).sort(), ['lib/a', 'lib/b']);
});

test('a test that fails, a hook that fails and a file that cannot be loaded fail nothing of the files beside them', async (t) => {
  const { out, report, said } = await runGroup(t, {
    bad: `${hooks('bad')}
test('wrong', (t) => { say('w'); t.is(1, 2); });`,
    before: `test.before(() => { throw new Error('no world'); });
test('one', (t) => t.pass());
test('two', (t) => t.pass());`,
    closing: `test.after.always(() => { throw new Error('does not close'); });
test('passes', (t) => t.pass());`,
    good: `${hooks('good')}
test('right', (t) => { say('r'); t.pass(); });`,
    unloaded: `say('u');
test('is dropped', (t) => t.pass());
throw new Error('no such module');`,
  });
  t.deepEqual(said.join(' '), 'u bad+ ( w ) bad- good+ ( r ) good-');
  t.is(report.totals.passed, 2);
  t.deepEqual(
    report.failed.map((line) => line.replace(/^\S+ \[fail\]: |\s\(.*/g, '').replace(/ (Rejected|Error).*/, '')).sort(),
    ['files close', 'lib/bad › wrong', 'lib/before › one', 'lib/before › two', 'lib/unloaded › is loaded'],
  );
  for (const cause of ['no world', 'does not close', 'no such module']) t.true(out.includes(cause), cause);
});

test('one test that is asked for by its title runs with the hooks of its file alone', async (t) => {
  const files = { a: `${hooks('a')}test('x', (t) => t.pass());`, b: `${hooks('b')}test('y', (t) => t.pass());` };
  const { report, said } = await runGroup(t, files, ['--match=*y']);
  t.is(report.totals.passed, 1);
  t.is(said.join(' '), 'b+ ( ) b-');
});

test('every file is in one group; the longest groups come first', (t) => {
  const file = fc.record({ name: fc.stringMatching(/^[a-d]\/[a-z]{1,8}\.test\.ts$/), seconds: fc.nat(90) });
  fc.assert(
    fc.property(
      fc.uniqueArray(file, { selector: ({ name }) => name, minLength: 1 }),
      fc.integer({ min: 1, max: 4 }),
      (files, processes) => {
        const seconds = Object.fromEntries(files.map(({ name, seconds: each }) => [name, each]));
        const groups = planGroups(Object.keys(seconds), seconds, processes);
        t.deepEqual(groups.flat().sort(), Object.keys(seconds).sort());
        const sums = groups.map((group) => group.reduce((sum, name) => sum + seconds[name]!, 0));
        t.deepEqual(
          sums,
          sums.toSorted((a, b) => b - a),
        );
        for (const [index, group] of groups.entries()) t.true(group.length === 1 || sums[index]! <= 200);
      },
    ),
  );
});

test('tests that are gone or new are named, and files that took three times as long as before', (t) => {
  t.deepEqual(compareTitles(['a', 'c'], ['a', 'b']), ['- b', '+ c']);
  t.deepEqual(compareTitles(['a'], ['a']), []);
  const times = [
    { file: 'slow', seconds: 31, cpuSeconds: 1 },
    { file: 'as-ever', seconds: 29, cpuSeconds: 1 },
    { file: 'short', seconds: 9, cpuSeconds: 1 },
    { file: 'new', seconds: 11, cpuSeconds: 1 },
  ];
  const before = { 'slow.test.ts': 10, 'as-ever.test.ts': 10, 'short.test.ts': 1 };
  t.deepEqual(overBudget(times, before), ['slow: 31 s, its budget is 30 s', 'new: 11 s, its budget is 10 s']);
});
