import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { storeLocalSettings, localSettings, localState, waitForLocalStart } from '../../deploy/local-settings.ts';
import { lockFolder } from '../../lib/folder-lock.ts';
import { freePort } from '../../local/servers.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { createTestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { heron } from '../harness/heron.ts';

async function dataFolder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'heron-local-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Stores settings with the file times of an hour ago. File times are too coarse to distinguish the steps of a test. */
async function keepEarlierSettings(dataDir: string): Promise<void> {
  await storeLocalSettings(dataDir, { LOG_LEVEL: 'warn' });
  const earlier = new Date(Date.now() - 3_600_000);
  await utimes(join(dataDir, 'settings.json'), earlier, earlier);
}

const NOT_GIVEN = { PRIMARY_DB: '', TEMPORAL_ADDRESS: '', APP_ENV: '' };

test('an installation is stopped, coming up, and running', async (t) => {
  const dataDir = await dataFolder(t);
  await keepEarlierSettings(dataDir);
  t.deepEqual(await localState(dataDir), { state: 'stopped' });
  const release = await lockFolder(dataDir);
  t.teardown(release);
  t.like(await localState(dataDir), { state: 'starting', pid: String(process.pid) });
  await storeLocalSettings(dataDir, { LOG_LEVEL: 'warn' });
  t.is((await localState(dataDir)).state, 'running');
});

test('a command waits for an installation that is coming up, and takes the settings of that start', async (t) => {
  const dataDir = await dataFolder(t);
  await keepEarlierSettings(dataDir);
  t.teardown(await lockFolder(dataDir));
  const child = spawn(
    process.execPath,
    [...TYPESCRIPT, fileURLToPath(new URL('../../deploy/heron.ts', import.meta.url)), 'config', '--json'],
    { env: { ...process.env, ...NOT_GIVEN, HERON_DATA_DIR: dataDir }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await eventually(async () => stderr.includes(`(pid ${process.pid}) is coming up on ${dataDir}`));
  t.is(stdout, '');
  const ended = once(child, 'close');
  await storeLocalSettings(dataDir, { LOG_LEVEL: 'error' });
  t.deepEqual(await ended, [0, null]);
  const settings = JSON.parse(stdout) as { name: string; value: unknown; source: string }[];
  t.like(
    settings.find(({ name }) => name === 'LOG_LEVEL'),
    { value: 'error', source: 'data folder' },
  );
});

test('the wait is bounded, and says who is coming up', async (t) => {
  const dataDir = await dataFolder(t);
  t.teardown(await lockFolder(dataDir));
  await t.throwsAsync(
    waitForLocalStart(() => {}, { HERON_DATA_DIR: dataDir }, 0),
    {
      message: `\`npm start\` (pid ${process.pid}) is coming up on ${dataDir} and is not ready after 0 s: its terminal shows what it does`,
    },
  );
});

test('an installation that is stopped is said to be, when its database does not answer', async (t) => {
  const HERON_DATA_DIR = await dataFolder(t);
  await storeLocalSettings(HERON_DATA_DIR, { PRIMARY_DB: `postgres://heron@127.0.0.1:${await freePort()}/heron` });
  const { code, stderr } = await heron(['outbox'], { ...NOT_GIVEN, HERON_DATA_DIR });
  t.is(code, 1);
  t.regex(stderr, /`npm start` is not running on .*: start it/);
});

test('production, and another database, take nothing of a data folder and wait for nothing', async (t) => {
  const HERON_DATA_DIR = await dataFolder(t);
  await storeLocalSettings(HERON_DATA_DIR, { PRIMARY_DB: 'postgres://local/heron', API_PORT: '8123' });
  t.teardown(await lockFolder(HERON_DATA_DIR));
  for (const given of [{ APP_ENV: 'prod' }, { PRIMARY_DB: 'postgres://other/heron' }]) {
    t.is(localSettings({ HERON_DATA_DIR, ...given }), undefined);
    await t.notThrowsAsync(waitForLocalStart(() => t.fail(), { HERON_DATA_DIR, ...given }, 0));
  }
  // A process that sets its own database uses no setting from the folder, even if the database is the same.
  const { stderr } = await heron(['api'], {
    HERON_DATA_DIR,
    APP_ENV: '',
    PRIMARY_DB: 'postgres://local/heron',
    API_PORT: 'no port',
  });
  t.notRegex(stderr, /with the settings of the installation/);
});

test('an api beside a running installation has its settings, and names the setting of the port that is taken', async (t) => {
  const HERON_DATA_DIR = await dataFolder(t);
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  t.teardown(await lockFolder(HERON_DATA_DIR));
  await storeLocalSettings(HERON_DATA_DIR, {
    PRIMARY_DB: database.url,
    API_PORT: String(port),
    LISTEN_HOST: '127.0.0.1',
  });
  const { code, stdout, stderr } = await heron(['api'], { ...NOT_GIVEN, HERON_DATA_DIR, API_PORT: '' });
  t.is(code, 1);
  t.regex(stderr, /with the settings of the installation/);
  t.true(stdout.includes(`port ${port} is taken by another program (API_PORT)`), stdout);
});

test('a second worker takes a free port for its metrics', async (t) => {
  const HERON_DATA_DIR = await dataFolder(t);
  const database = await createTestDatabase();
  t.teardown(() => database.drop());
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  t.teardown(await lockFolder(HERON_DATA_DIR));
  await storeLocalSettings(HERON_DATA_DIR, {
    PRIMARY_DB: database.url,
    WORKER_PORT: String((taken.address() as AddressInfo).port),
    WORKER_ROLES: 'reactions',
    LISTEN_HOST: '127.0.0.1',
  });
  const child = spawn(
    process.execPath,
    [...TYPESCRIPT, fileURLToPath(new URL('../../deploy/heron.ts', import.meta.url)), 'worker'],
    { env: { ...process.env, ...NOT_GIVEN, WORKER_PORT: '', HERON_DATA_DIR }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await eventually(async () => /"url":"http:\/\/127\.0\.0\.1:\d+".*worker is serving/.test(said));
  t.notRegex(said, /is taken/);
});
