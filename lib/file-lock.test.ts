import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { withFileLock } from './file-lock.ts';
import { eventually } from '../test/harness/eventually.ts';

test('work under one lock is done by one after the other, and those who wait are told of it once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'heron-lock-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'of', 'all.lock');
  let holders = 0;
  const waited: string[] = [];
  const done = await Promise.all(
    [1, 2, 3].map((one) =>
      withFileLock(
        file,
        (holder) => waited.push(holder),
        async () => {
          t.is((holders += 1), 1);
          // The first process holds the lock until both others wait for it.
          await eventually(async () => waited.length === 2);
          holders -= 1;
          return one;
        },
      ),
    ),
  );
  t.deepEqual(done, [1, 2, 3]);
  t.is(waited.length, 2);
  await t.throwsAsync(
    withFileLock(
      file,
      () => t.fail(),
      () => Promise.reject(new Error('no')),
    ),
    { message: 'no' },
  );
  await t.throwsAsync(access(file), undefined, 'failed work holds no lock');
});
