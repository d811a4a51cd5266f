import test from 'ava';
import { connectRaw } from './connection.ts';
import { isDatabaseUnavailable } from './errors.ts';
import { OrgScope } from './tenancy.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { eventually } from '../test/harness/eventually.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
  await database.db.raw('create sequence arrivals; grant usage on sequence arrivals to heron_tenant');
});
test.after.always(() => database?.drop());

test('statements of a transaction that are sent together run in the order of the calls: plain, prepared, locks', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const answers = await database.db.transaction(async (trx) => {
      const org = new OrgScope(trx, '0190d6a0-0000-7000-8000-000000000000');
      const arrive = (n: number) =>
        org.sql<{ place: number }>(
          `select nextval('arrivals')::int as place, :org::text as org${n % 2 ? '' : `, ${n} as n${round}`}`,
        );
      const first = arrive(1);
      const lock = org.lock('somebody');
      const [, ...places] = await Promise.all([lock, first, ...[2, 3, 4, 5, 6].map(arrive)]);
      return places.map(([row]) => row!.place);
    });
    t.deepEqual(
      answers,
      [...answers].sort((a, b) => a - b),
    );
  }
});

test('PostgreSQL ends what takes longer than a process may wait, and a shorter wait for one lock goes back to it', async (t) => {
  const db = connectRaw({
    url: database.url,
    max: 2,
    timeouts: { statementMs: 300, lockMs: 200, idleTransactionMs: 400 },
  });
  t.teardown(() => db.destroy());
  await t.throwsAsync(db.raw('select pg_sleep(5)'), { code: '57014' } as never);
  await t.throwsAsync(
    db.transaction(async (trx) => {
      const org = new OrgScope(trx, '0190d6a0-0000-7000-8000-000000000000');
      await org.limitLockWaits(50);
      await org.limitLockWaits(null);
      t.is((await trx.raw('show lock_timeout')).rows[0].lock_timeout, '200ms');
      const [{ pid }] = (await trx.raw('select pg_backend_pid() as pid')).rows;
      await eventually(async () => !(await database.db('pg_stat_activity').where({ pid }).first()));
      await trx.raw('select 1');
    }),
    undefined,
    'an idle transaction is ended',
  );
});

test('a connection to a server that has become a standby is given up, and the failure counts as a database that is away', async (t) => {
  const db = connectRaw({ url: database.url, max: 1 });
  t.teardown(() => db.destroy());
  await db.raw('create table written (n int)');
  // Makes every write fail with the error that a standby returns.
  await db.raw('set default_transaction_read_only = on');
  const refused = await t.throwsAsync(db.transaction((trx) => trx.raw('insert into written values (1)')));
  t.true(isDatabaseUnavailable(refused));
  await db.raw('insert into written values (2)');
  t.deepEqual(await db('written').pluck('n'), [2]);
});

test('what is read behind a lock is read when the lock is held', async (t) => {
  const { db } = database;
  await db.raw('create table counted (n int); grant all on counted to heron_tenant; insert into counted values (0)');
  await Promise.all(
    Array.from({ length: 8 }, () =>
      db.transaction(async (trx) => {
        const org = new OrgScope(trx, '0190d6a0-0000-7000-8000-000000000000');
        const [, [row]] = await Promise.all([
          org.lock('counter'),
          org.sql<{ n: number }>('select n from counted where :org::text is not null'),
        ]);
        await trx('counted').update({ n: row!.n + 1 });
      }),
    ),
  );
  t.is((await db('counted').first()).n, 8);
});

test('a statement sent behind one that fails undoes nothing it should not: the transaction ends, the connection lives', async (t) => {
  const { db } = database;
  await db.raw('create table kept (n int)');
  await t.throwsAsync(
    db.transaction((trx) =>
      Promise.all([
        trx.raw('insert into kept values (1)'),
        trx.raw('select 1 / 0'),
        trx.raw('insert into kept values (2)'),
      ]),
    ),
    { message: /division by zero/ },
  );
  t.is((await db('kept').count({ n: '*' }).first())!.n, 0);
});

test('a statement that is prepared behind one that fails is prepared anew the next time', async (t) => {
  const { db } = database;
  const read = (trx: Parameters<Parameters<typeof db.transaction>[0]>[0]) =>
    new OrgScope(trx, '0190d6a0-0000-7000-8000-000000000000').sql<{ n: number }>(
      'select 7 as n where :org::text is not null',
    );
  for (let round = 0; round < 8; round += 1) {
    await t.throwsAsync(
      db.transaction((trx) => Promise.all([trx.raw('select 1 / 0'), read(trx)])),
      { message: /division by zero/ },
    );
    t.deepEqual(await db.transaction(read), [{ n: 7 }]);
  }
});
