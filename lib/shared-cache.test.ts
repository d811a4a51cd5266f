import test from 'ava';
import { freePort, spawnServer } from '../local/servers.ts';
import { eventually } from '../test/harness/eventually.ts';
import { ManualClock } from '../test/harness/manual-clock.ts';
import { findProgram } from '../test/harness/programs.ts';
import { createSharedCache } from './shared-cache.ts';

const HOUR_MS = 3_600_000;
const redisServer = await findProgram('redis-server');
const withRedis = redisServer ? test : test.skip;

/** Creates a source of answers that counts its calls. */
function source() {
  let asked = 0;
  return { ask: async () => ({ answer: (asked += 1) }), times: () => asked };
}

test('a process asks once, also when many want it at once, and again when the answer has had its time', async (t) => {
  const clock = new ManualClock();
  const cache = createSharedCache(clock);
  const { ask, times } = source();
  const read = () => cache.remember('key', () => HOUR_MS, ask);
  t.deepEqual(await Promise.all([read(), read(), read()]), [{ answer: 1 }, { answer: 1 }, { answer: 1 }]);
  clock.advance(HOUR_MS - 1);
  t.deepEqual(await read(), { answer: 1 });
  clock.advance(1);
  t.deepEqual(await read(), { answer: 2 });
  t.is(times(), 2);
  await t.throwsAsync(
    cache.remember(
      'bad',
      () => HOUR_MS,
      () => Promise.reject(new Error('no')),
    ),
    { message: 'no' },
  );
  t.deepEqual(await cache.remember('bad', () => HOUR_MS, ask), { answer: 3 }, 'a failure is not remembered');
});

withRedis(
  `processes on one Redis ask once together; when it goes away they ask for themselves, and when it is back they share again${redisServer ? '' : ' (needs redis-server)'}`,
  async (t) => {
    const port = await freePort();
    const start = () =>
      spawnServer(redisServer!, ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
        stdio: 'ignore',
        stopSignal: 'SIGTERM',
        graceMs: 5_000,
      });
    let redis = await start();
    t.teardown(() => redis.stop());
    const clock = new ManualClock();
    const errors: Error[] = [];
    const open = () => createSharedCache(clock, `redis://127.0.0.1:${port}`, (error) => errors.push(error));
    const [one, other] = [open(), open()];
    t.teardown(() => [one, other].forEach((cache) => cache.close()));
    const { ask, times } = source();
    const hour = () => HOUR_MS;
    let round = 0;
    /** Returns the number of calls to the source when two processes request the same key. */
    const askedByBoth = async () => {
      const key = `key/${(round += 1)}`;
      const before = times();
      const first = await one.remember(key, hour, ask);
      const second = await other.remember(key, hour, ask);
      if (times() - before === 1) t.deepEqual(second, first);
      return times() - before;
    };
    await eventually(async () => (await askedByBoth()) === 1);
    const kept = await one.remember('kept', hour, ask);
    await redis.stop();
    t.deepEqual(await one.remember('kept', hour, ask), kept, 'what a process knows it knows without Redis');
    t.is(await askedByBoth(), 2);
    await eventually(async () => errors.length > 0);
    redis = await start();
    await eventually(async () => (await askedByBoth()) === 1);
  },
);

test('a Redis that was never there is as none', async (t) => {
  const cache = createSharedCache(new ManualClock(), 'redis://127.0.0.1:1');
  t.teardown(() => cache.close());
  const { ask } = source();
  t.deepEqual(await cache.remember('key', () => HOUR_MS, ask), { answer: 1 });
  t.deepEqual(await cache.remember('key', () => HOUR_MS, ask), { answer: 1 });
});
