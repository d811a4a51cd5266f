import { randomBytes } from 'node:crypto';
import test from 'ava';
import { silentLogger } from '../lib/log.ts';
import { testPostgresUrl } from '../test/harness/database.ts';
import { openDoor } from '../test/harness/door.ts';
import { eventually } from '../test/harness/eventually.ts';
import { connectRaw } from './connection.ts';
import { listen } from './listen.ts';

const admin = connectRaw({ url: testPostgresUrl(), max: 1 });
test.after.always(() => admin.destroy());

const channelName = () => `test_${randomBytes(6).toString('hex')}`;
const listeners = async (channel: string): Promise<number> =>
  Number(
    (
      await admin('pg_stat_activity')
        .where({ application_name: `heron-listen-${channel}` })
        .count()
    )[0]!.count,
  );
const QUICK = { retryMs: 20, connectMs: 300, proveMs: 300 };

test('a listener is back after each cut, with one connection, and hears what comes', async (t) => {
  const door = await openDoor(testPostgresUrl());
  const channel = channelName();
  const heard: string[] = [];
  const listener = await listen(door.url, channel, (payload) => heard.push(payload), silentLogger, QUICK);
  for (let round = 1; round <= 3; round += 1) {
    await admin.raw(`select pg_notify(?, ?)`, [channel, `round ${round}`]);
    await eventually(async () => heard.at(-1) === `round ${round}`);
    const before = heard.length;
    door.cut();
    await eventually(async () => heard[before] === '', 30_000, 10);
  }
  t.deepEqual(heard, ['', 'round 1', '', 'round 2', '', 'round 3', '']);
  t.is(door.taken(), 4, 'one for each time');
  await eventually(async () => (await listeners(channel)) === 1);

  // Simulates a dead host: it accepts connections and never answers.
  door.setSilent(true);
  door.cut();
  await eventually(async () => door.taken() > 5, 30_000, 10);
  door.setSilent(false);
  await eventually(async () => heard.length === 8);
  await listener.close();
  await eventually(async () => (await listeners(channel)) === 0 && door.open.size === 0);
  door.close();
});

test('a listener that is closed while it reconnects leaves no connection, and opens none', async (t) => {
  for (const moment of ['while it waits', 'while it is opened'] as const) {
    const door = await openDoor(testPostgresUrl());
    const channel = channelName();
    let heard = 0;
    const listener = await listen(door.url, channel, () => (heard += 1), silentLogger, {
      retryMs: moment === 'while it waits' ? 60_000 : 10,
      connectMs: 60_000,
    });
    door.setSilent(true);
    door.cut();
    const [taken, open] = moment === 'while it waits' ? [1, 0] : [2, 1];
    await eventually(async () => door.taken() === taken && door.open.size === open, 30_000, 5);
    await listener.close();
    door.setSilent(false);
    await eventually(async () => door.open.size === 0 && (await listeners(channel)) === 0);
    t.is(heard, 1, moment);
    door.close();
  }
});

test('a listener whose connection is forgotten notices it, and opens another', async (t) => {
  const door = await openDoor(testPostgresUrl());
  const channel = channelName();
  const heard: string[] = [];
  const listener = await listen(door.url, channel, (payload) => heard.push(payload), silentLogger, QUICK);
  door.forget();
  await eventually(async () => heard.length === 2);
  await admin.raw(`select pg_notify(?, 'again')`, [channel]);
  await eventually(async () => heard.at(-1) === 'again');
  t.deepEqual(heard, ['', '', 'again']);
  await listener.close();
  door.close();
});
