import { access, mkdir, mkdtemp, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { lockFolder } from '../lib/folder-lock.ts';
import { removeAbandoned } from './temporary-folder.ts';

test('folders of killed processes are removed; those in use, just made, or not of a stack stay', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'heron-abandoned-'));
  const folders = ['heron-stack-used', 'heron-stack-left', 'heron-stack-young', 'another'].map((name) =>
    join(parent, name),
  );
  const [used, left, young, another] = folders as [string, string, string, string];
  for (const folder of folders) await mkdir(join(folder, 'postgres'), { recursive: true });
  const old = new Date(Date.now() - 600_000);
  for (const folder of [used, left, another]) await utimes(folder, old, old);
  const unlock = await lockFolder(used);
  await removeAbandoned(parent);
  await unlock();
  for (const folder of [used, young, another]) await t.notThrowsAsync(access(folder), folder);
  await t.throwsAsync(access(left), { code: 'ENOENT' });
});
