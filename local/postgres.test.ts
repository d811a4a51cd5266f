import { access, mkdtemp, chmod, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { startEmbeddedPostgres } from './postgres.ts';

async function scratch(t: { teardown: (undo: () => Promise<void>) => void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heron-embedded-'));
  // The account of the server must be able to enter the folder. It is another account if the tests run as root.
  await chmod(directory, 0o755);
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const log = (): void => undefined;

test('a disposable server answers, has what the migrations need, and leaves nothing behind', async (t) => {
  const dataDir = join(await scratch(t), 'data');
  const server = await startEmbeddedPostgres({ dataDir, persistent: false, log });
  const [settings] = await query<Record<string, string>>(
    server.url,
    `select current_setting('fsync') as fsync, current_setting('listen_addresses') as address,
            current_setting('max_connections') as connections, lower('ÉÄ') as lowered`,
  );
  t.deepEqual(settings, { fsync: 'off', address: '127.0.0.1', connections: '200', lowered: 'éä' });
  for (const extension of ['pg_trgm', 'citext', 'pgcrypto', 'btree_gist', 'pg_stat_statements']) {
    await query(server.url, `create extension ${extension}`);
  }
  await query(server.url, 'select count(*) from pg_stat_statements');
  const [trigrams] = await query<{ count: number }>(server.url, `select cardinality(show_trgm('éé')) as count`);
  t.is(trigrams?.count, 3, 'accented letters count as letters');
  await server.stop();
  await t.throwsAsync(access(dataDir));
});

test('a kept server comes back after kill -9 with its data and its password', async (t) => {
  const options = { dataDir: join(await scratch(t), 'data'), persistent: true, log };
  const first = await startEmbeddedPostgres(options);
  t.deepEqual(await query(first.url, `select current_setting('fsync') as fsync`), [{ fsync: 'on' }]);
  await query(first.url, 'create table kept (id int); insert into kept values (7)');
  process.kill(first.pid, 'SIGKILL');
  await first.exited;

  const second = await startEmbeddedPostgres({ ...options, port: first.port });
  t.is(second.url, first.url);
  t.deepEqual(await query(second.url, 'select id from kept'), [{ id: 7 }]);
  t.is((await stat(join(options.dataDir, 'heron-password'))).mode & 0o777, 0o600);

  const refused = await t.throwsAsync(startEmbeddedPostgres(options));
  t.regex(refused!.message, new RegExp(`already runs on .* \\(pid ${second.pid}\\)`));
  t.deepEqual(await query(second.url, 'select id from kept'), [{ id: 7 }], 'the refused start did no harm');
  await second.stop();
});

test('each directory has a password of its own, and it is asked for', async (t) => {
  const server = await startEmbeddedPostgres({ dataDir: join(await scratch(t), 'data'), persistent: false, log });
  t.teardown(() => server.stop());
  const guess = new URL(server.url);
  guess.password = 'postgres';
  await t.throwsAsync(query(guess.href, 'select 1'), { code: '28P01' });
});

test('a taken port is an error that says so', async (t) => {
  const directory = await scratch(t);
  const server = await startEmbeddedPostgres({ dataDir: join(directory, 'one'), persistent: false, log });
  t.teardown(() => server.stop());
  const { port } = server;
  const second = startEmbeddedPostgres({ dataDir: join(directory, 'two'), port, persistent: false, log });
  await t.throwsAsync(second, { message: /address already in use/i });
});
