import test from 'ava';
import { testPostgresUrl } from '../test/harness/database.ts';
import { openDoor, type Door } from '../test/harness/door.ts';
import { eventually } from '../test/harness/eventually.ts';
import { connectRaw } from './connection.ts';
import { isDatabaseUnavailable } from './errors.ts';

/** Duration (s) of a statement. It exceeds the time after which the server is queried about open statements. */
const LONG_S = 12;

async function openPool(max: number, url?: (door: Door) => string) {
  const door = await openDoor(testPostgresUrl());
  const dropped: number[] = [];
  const db = connectRaw({ url: url?.(door) ?? door.url, max, name: 'unanswered', onDropped: (n) => dropped.push(n) });
  return { door, db, dropped };
}

test('statements on forgotten connections fail, idle connections go with them, and the next one works', async (t) => {
  const { door, db, dropped } = await openPool(4);
  t.teardown(() => db.destroy().then(() => door.close()));
  await Promise.all([1, 2, 3, 4].map((n) => db.raw('select pg_sleep(0.2), ?::int', [n])));
  t.is(door.taken(), 4);
  door.forget();
  const lost = await Promise.allSettled([db.raw('select 1'), db.raw('select 2')]);
  t.true(lost.every((each) => each.status === 'rejected' && isDatabaseUnavailable(each.reason)));
  t.deepEqual(dropped, [4]);
  t.is((await db.raw('select 3 as n')).rows[0].n, 3);
});

test('statements fail while the whole database is away, and work when it is back', async (t) => {
  const { door, db } = await openPool(2);
  t.teardown(() => db.destroy().then(() => door.close()));
  await db.raw('select 1');
  door.setSilent(true);
  door.forget();
  for (let n = 0; n < 2; n += 1) t.true(isDatabaseUnavailable(await t.throwsAsync(() => db.raw('select 1'))));
  door.setSilent(false);
  t.is((await db.raw('select 3 as n')).rows[0].n, 3);
});

test('a long statement and a transaction that waits for a lock are left alone', async (t) => {
  const { door, db, dropped } = await openPool(3);
  t.teardown(() => db.destroy().then(() => door.close()));
  const holder = await db.transaction();
  await holder.raw('select pg_advisory_xact_lock(4711)');
  const waits = db.raw('select pg_advisory_xact_lock(4711)');
  await db.raw(`select pg_sleep(${LONG_S})`);
  await holder.rollback();
  await t.notThrowsAsync(async () => waits);
  t.deepEqual(dropped, []);
});

test('a server without a free connection is not taken for a lost one', async (t) => {
  const admin = connectRaw({ url: testPostgresUrl(), max: 1 });
  t.teardown(() => admin.destroy());
  const role = `full_${process.pid}`;
  await admin.raw(`create role ${role} login password 'full' connection limit 1`);
  t.teardown(async () => {
    await eventually(async () => (await admin('pg_stat_activity').where({ usename: role })).length === 0);
    await admin.raw(`drop role ${role}`);
  });
  const { door, db, dropped } = await openPool(1, ({ url }) => {
    const own = new URL(url);
    own.username = role;
    own.password = 'full';
    return own.href;
  });
  t.teardown(() => door.close());
  await t.notThrowsAsync(async () => db.raw(`select pg_sleep(${LONG_S})`));
  t.deepEqual(dropped, []);
  await db.destroy();
});
