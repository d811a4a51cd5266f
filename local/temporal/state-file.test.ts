import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { claimStateFile } from './state-file.ts';

test('a state file is kept for the version that wrote it, and moved aside for another one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heron-state-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'data', 'temporal.db');
  t.deepEqual(await claimStateFile(file, '1.31.2'), { replaced: false }, 'a first start');
  await writeFile(file, 'tables of 1.31.2');
  await writeFile(`${file}-wal`, 'its log');
  t.deepEqual(await claimStateFile(file, '1.31.2'), { replaced: false });
  t.is(await readFile(file, 'utf8'), 'tables of 1.31.2');

  const outcome = await claimStateFile(file, '1.32.0');
  if (!outcome.replaced) return t.fail('the file of another version was kept');
  t.is(outcome.writtenBy, '1.31.2');
  t.is(await readFile(outcome.movedTo, 'utf8'), 'tables of 1.31.2', 'nothing is thrown away');
  t.is(await readFile(`${outcome.movedTo}-wal`, 'utf8'), 'its log');
  t.deepEqual(
    (await readdir(join(folder, 'data'))).filter((name) => name === 'temporal.db' || name === 'temporal.db-wal'),
    [],
  );
  t.deepEqual(await claimStateFile(file, '1.32.0'), { replaced: false });
});

test('a state file that says no version is taken for one of another version', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heron-state-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'temporal.db');
  await writeFile(file, 'old');
  const outcome = await claimStateFile(file, '1.31.2');
  t.like(outcome, { replaced: true, writtenBy: undefined });
});
