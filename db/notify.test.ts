import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import type { Knex } from 'knex';
import { silentLogger } from '../lib/log.ts';
import { testPostgresUrl } from '../test/harness/database.ts';
import { openDoor, type Door } from '../test/harness/door.ts';
import { eventually } from '../test/harness/eventually.ts';
import { connectRaw } from './connection.ts';
import { listen } from './listen.ts';
import { notifyAfterCommit } from './notify.ts';

interface Stage {
  db: Knex;
  door: Door;
  channel: string;
  /** Returns the number of received notifications, without the call at the start of listening. */
  heard(): number;
}

/**
 * Opens a pool whose connections go through a proxy that the test can interrupt, and a listener that connects directly.
 */
async function stage(t: { teardown(end: () => Promise<void>): void }): Promise<Stage> {
  const door = await openDoor(testPostgresUrl());
  const db = connectRaw({ url: door.url, max: 4 });
  const channel = `test_${randomBytes(6).toString('hex')}`;
  let heard = -1;
  const listener = await listen(testPostgresUrl(), channel, () => (heard += 1), silentLogger);
  t.teardown(async () => {
    await listener.close();
    await db.destroy();
    door.close();
  });
  return { db, door, channel, heard: () => heard };
}

test('a transaction notifies after its commit', async (t) => {
  const { db, channel, heard } = await stage(t);
  const trx = await db.transaction();
  await trx.raw('select 1');
  notifyAfterCommit(trx, channel);
  await sleep(100);
  t.is(heard(), 0, 'while it is open');
  await trx.commit();
  await eventually(async () => heard() === 1);
});

test('notifications of one moment are one', async (t) => {
  const { db, channel, heard } = await stage(t);
  for (let n = 0; n < 100; n += 1) notifyAfterCommit(db, channel);
  await eventually(async () => heard() === 1);
  notifyAfterCommit(db, channel);
  await eventually(async () => heard() === 2);
  t.is(heard(), 2);
});

test('a notification outlives the loss of its connection', async (t) => {
  const { db, door, channel, heard } = await stage(t);
  notifyAfterCommit(db, channel);
  await eventually(async () => heard() === 1);
  door.cut();
  notifyAfterCommit(db, channel);
  await t.notThrowsAsync(eventually(async () => heard() === 2));
});

test('a commit whose answer is lost notifies', async (t) => {
  const { db, door, channel, heard } = await stage(t);
  door.loseAnswers(1);
  await t.throwsAsync(
    db.transaction(async (trx) => {
      notifyAfterCommit(trx, channel);
      await trx.raw('select 1');
    }),
  );
  t.is(door.lost(), 1);
  await eventually(async () => heard() === 1);
});

test('a pool sends the notifications of its last commits before it is closed', async (t) => {
  const { db, channel, heard } = await stage(t);
  await db.transaction(async (trx) => {
    notifyAfterCommit(trx, channel);
    await trx.raw('select 1');
  });
  await db.destroy();
  await t.notThrowsAsync(eventually(async () => heard() === 1));
});

test('a pool is closed although PostgreSQL no longer answers', async (t) => {
  const { db, door, channel, heard } = await stage(t);
  notifyAfterCommit(db, channel);
  await eventually(async () => heard() === 1);
  door.forget();
  notifyAfterCommit(db, channel);
  await db.destroy();
  t.pass();
});
