import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { freePort, spawnServer } from './servers.ts';
import { TYPESCRIPT } from './typescript.ts';
import { eventually } from '../test/harness/eventually.ts';

/** Script that creates one file when it is ready, and another when it receives SIGTERM. */
const SERVER = `trap 'touch "$1"; exit 0' TERM; touch "$1.up"; while :; do sleep 0.05; done`;

async function scratch(t: { teardown: (undo: () => Promise<void>) => void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heron-servers-'));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

const appears = (file: string) =>
  eventually(() =>
    access(file).then(
      () => true,
      () => false,
    ),
  );

test('free ports are not given out twice', async (t) => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()));
  t.is(new Set(ports).size, 50);
});

test('a free port can be listened on at once', async (t) => {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.is((server.address() as AddressInfo).port, port);
  server.close();
});

test('stop asks first, and tells how it ended', async (t) => {
  const stopped = join(await scratch(t), 'stopped');
  const server = await spawnServer('sh', ['-c', SERVER, 'sh', stopped], {
    stdio: 'ignore',
    stopSignal: 'SIGTERM',
    graceMs: 20_000,
  });
  t.true(await appears(`${stopped}.up`));
  await server.stop();
  await server.stop();
  t.true(server.ended);
  t.deepEqual(await server.exited, { code: 0, signal: null });
  t.true(await appears(stopped));
});

test('stop insists when it is ignored', async (t) => {
  const up = join(await scratch(t), 'up');
  const server = await spawnServer('sh', ['-c', `trap '' TERM; touch "${up}"; while :; do sleep 0.05; done`], {
    stdio: 'ignore',
    stopSignal: 'SIGTERM',
    graceMs: 100,
  });
  t.true(await appears(up));
  await server.stop();
  t.deepEqual(await server.exited, { code: null, signal: 'SIGKILL' });
});

test('a program that does not exist is an error, not a crash', async (t) => {
  const options = { stdio: 'ignore', stopSignal: 'SIGTERM', graceMs: 100 } as const;
  await t.throwsAsync(spawnServer('/nonexistent/program', [], options), { code: 'ENOENT' });
});

test('a server is stopped when the process that started it is killed', async (t) => {
  const stopped = join(await scratch(t), 'stopped');
  const owner = fileURLToPath(new URL('../test/harness/server-owner.ts', import.meta.url));
  const parent = spawn(process.execPath, [...TYPESCRIPT, owner, SERVER, stopped], { stdio: 'ignore' });
  t.true(await appears(`${stopped}.up`));
  // Waits until the server runs, because its parent continues then.
  t.true(await appears(`${stopped}.tied`));
  parent.kill('SIGKILL');
  t.true(await appears(stopped));
});
