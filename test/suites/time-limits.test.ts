import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { across } from '../../db/across.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { inTransaction } from '../../db/transaction.ts';
import { assemble } from '../../deploy/assemble.ts';
import { silentLogger } from '../../lib/log.ts';
import { startChild } from '../../local/child.ts';
import { eventually } from '../harness/eventually.ts';
import { assertStatus, call, createWorld, testConfig, type Answer, type World } from '../harness/world.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Returns the statement limits (ms) of a process's connection. */
async function limitsOf(service: string): Promise<Record<string, number>> {
  const config = testConfig(world.databaseUrl, {
    DB_STATEMENT_TIMEOUT_MS: '4000',
    DB_LOCK_TIMEOUT_MS: '2000',
    DB_IDLE_TRANSACTION_MS: '7000',
  });
  const assembly = assemble(config, service, { log: silentLogger });
  try {
    const rows = await across(assembly.deps.db, 'operator').sql<{ name: string; setting: string }>(
      `select name, setting from pg_settings
       where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`,
    );
    return Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]));
  } finally {
    await assembly.close();
  }
}

test('connections carry the time limits of their process: short where a person waits, longer for workers, none for commands', async (t) => {
  const serving = { statement_timeout: 4_000, lock_timeout: 2_000, idle_in_transaction_session_timeout: 7_000 };
  for (const service of ['api', 'tracking', 'forms', 'realtime', 'serve'])
    t.deepEqual(await limitsOf(service), serving, service);
  t.deepEqual(await limitsOf('worker'), { ...serving, statement_timeout: 40_000, lock_timeout: 6_000 });
  const none = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
  t.deepEqual(await limitsOf('heron'), none);
});

test('a started process gives up a lock and a statement that take too long, and goes on', async (t) => {
  const { db } = world.deps;
  const { apiKey: token } = await world.tenant();
  const dataDir = await mkdtemp(join(tmpdir(), 'heron-limits-'));
  const logFile = join(dataDir, 'api.log');
  const api = await startChild('api', {
    env: {
      ...process.env,
      PRIMARY_DB: world.databaseUrl,
      API_PORT: '0',
      DB_STATEMENT_TIMEOUT_MS: '1500',
      DB_LOCK_TIMEOUT_MS: '300',
    },
    logFile,
    graceMs: 25_000,
  });
  t.teardown(async () => {
    await api.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const add = (title: string) => call({ url: api.ready.url! }, 'POST', '/v1/categories', { token, body: { title } });

  const held = await db.transaction();
  await held.raw('lock table labels in access exclusive mode');
  const waited = await add('Waits');
  assertAskedAgain(t, waited);
  await held.rollback();
  assertStatus(t, await add('Goes on'), 200);

  await db.raw(`create function sleepy() returns trigger language plpgsql as
    $$ begin perform pg_sleep(60); return new; end $$`);
  await db.raw('create trigger sleepy before insert on labels for each row execute function sleepy()');
  const title = randomSecret('Sleeps');
  assertAskedAgain(t, await add(title));
  await db.raw('drop trigger sleepy on labels');
  assertStatus(t, await add('Goes on again'), 200);
  const log = await readFile(logFile, 'utf8');
  t.regex(log, /PostgreSQL 55P03/);
  t.regex(log, /PostgreSQL 57014/);
  assertNowhere(t, log, [title]);
});

test('a transaction that stands idle is ended, and what it had locked is free', async (t) => {
  const config = testConfig(world.databaseUrl, { DB_IDLE_TRANSACTION_MS: '200' });
  const assembly = assemble(config, 'api', { log: silentLogger });
  t.teardown(() => assembly.close());
  await world.tenant();
  const ended = await t.throwsAsync(
    inTransaction(assembly.deps.db, async (trx) => {
      const sql = (text: string) => across(trx, 'operator').sql<{ pid: number }>(text);
      await sql('lock table labels in access exclusive mode');
      const [{ pid }] = (await sql('select pg_backend_pid() as pid')) as [{ pid: number }];
      await eventually(async () => !(await world.deps.db('pg_stat_activity').where({ pid }).first()));
      await world.deps.db.transaction((other) => other.raw('lock table labels in access exclusive mode nowait'));
      await sql('select 1');
    }),
  );
  t.true(isDatabaseUnavailable(ended), String(ended));
  const [one] = await across(assembly.deps.db, 'operator').sql<{ one: number }>('select 1 as one');
  t.is(one!.one, 1, 'the pool goes on with another connection');
});

function assertAskedAgain(t: ExecutionContext, { status, body, headers, text }: Answer): void {
  t.is(status, 503, text);
  t.like(body, { code: 'service_unavailable', retry_after: 5 });
  t.is(headers.get('retry-after'), '5');
}
