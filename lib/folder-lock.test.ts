import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { newId } from './ids.ts';
import { lockFolder, lockHolder } from './folder-lock.ts';
import { forkSource } from '../local/typescript.ts';

const folder = () => join(tmpdir(), `heron-lock-${newId()}`);

test('a folder is locked until it is released, whatever way it is written', async (t) => {
  const place = folder();
  const release = await lockFolder(place);
  await t.throwsAsync(lockFolder(`${place}/../${place.slice(place.lastIndexOf('/') + 1)}/`), {
    message: /already runs on/,
  });
  t.is((await lockHolder(place))?.pid, String(process.pid));
  await release();
  t.is(await lockHolder(place), undefined);
  await (
    await lockFolder(place)
  )();
});

test('the lock of a killed process is taken over', async (t) => {
  const place = folder();
  const holder = fileURLToPath(new URL('../test/harness/lock-holder.ts', import.meta.url));
  const other = forkSource(holder, [place], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  t.teardown(() => other.kill('SIGKILL'));
  await once(other, 'message');
  await t.throwsAsync(lockFolder(place), { message: /already runs on/ });
  other.kill('SIGKILL');
  await once(other, 'exit');
  await (
    await lockFolder(place)
  )();
});
