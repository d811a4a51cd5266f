import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** Creates a project with the bundler and two modules, in a folder whose name has a space and an umlaut. */
async function makeProject(
  t: ExecutionContext,
): Promise<{ root: string; write: (name: string, text: string) => Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'heron-bundle-'));
  t.teardown(() => rm(parent, { recursive: true, force: true }));
  const root = join(parent, 'ein Püree');
  await cp(join(ROOT, 'bundle'), join(root, 'bundle'), {
    recursive: true,
    filter: (name) => !name.endsWith('.test.ts'),
  });
  await cp(join(ROOT, 'package.json'), join(root, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'), 'dir');
  await mkdir(join(root, 'lib'));
  const write = (name: string, text: string) => writeFile(join(root, 'lib', name), text);
  await write('greet.ts', `export const greet = (name: string): string => 'hello ' + name;\n`);
  await write(
    'main.ts',
    `import { z } from 'zod';
import { greet } from './greet.ts';
const url: string = import.meta.${'url'};
if (process.argv.includes('--fail')) throw new Error('told to');
console.log(JSON.stringify({ said: greet(z.string().parse('you')), url, args: process.argv.slice(1) }));
`,
  );
  return { root, write };
}

async function start(root: string, ...args: string[]): Promise<{ said: string; url: string; args: string[] }> {
  const { stdout } = await run(process.execPath, ['bundle/run.mjs', 'lib/main.ts', ...args], { cwd: root });
  return JSON.parse(stdout) as { said: string; url: string; args: string[] };
}

async function bundlesOf(root: string): Promise<string[]> {
  const names = await readdir(join(root, '.heron', 'cache', 'bundles'));
  return names.filter((name) => !name.endsWith('.json'));
}

test('an entry point sees itself as its source, and is bundled again only when a source has changed', async (t) => {
  const { root, write } = await makeProject(t);
  const source = join(root, 'lib', 'main.ts');
  const first = await start(root, 'one', '--two');
  t.deepEqual(first, { said: 'hello you', url: pathToFileURL(source).href, args: [source, 'one', '--two'] });
  const [bundle, ...others] = await bundlesOf(root);
  t.deepEqual(others, []);
  await start(root);
  t.deepEqual(await bundlesOf(root), [bundle!]);

  await write('greet.ts', `export const greet = (name: string): string => 'good day ' + name;\n`);
  t.is((await start(root)).said, 'good day you');
  t.is((await bundlesOf(root)).length, 2);
});

test('processes that start together on sources that are not bundled all run', async (t) => {
  const { root } = await makeProject(t);
  const said = await Promise.all([1, 2, 3].map(() => start(root)));
  t.deepEqual(
    said.map((one) => one.said),
    ['hello you', 'hello you', 'hello you'],
  );
  t.is((await bundlesOf(root)).length, 1);
});

test('a stack names the line of the source', async (t) => {
  const { root } = await makeProject(t);
  const error = (await t.throwsAsync(start(root, '--fail'))) as Error & { stderr: string };
  t.regex(error.stderr, /lib\/main\.ts:4:/);
});

test('a source that does not compile is one clear error', async (t) => {
  const { root, write } = await makeProject(t);
  await write('greet.ts', 'export const greet = ;\n');
  const error = (await t.throwsAsync(start(root))) as Error & { stderr: string };
  t.regex(error.stderr, /lib\/greet\.ts:1:\d+: ERROR/);
});
