import test from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { silentLogger } from '../../lib/log.ts';
import { freePort, spawnServer } from '../../local/servers.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { findProgram } from '../../test/harness/programs.ts';
import { createWorld, testConfig, type World } from '../../test/harness/world.ts';
import { openRateLimiter } from './rate-limiter.ts';

const redisServer = await findProgram('redis-server');
const withRedis = redisServer ? test : test.skip;

let world: World;

test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Creates two limiters, each with its own pool, as in two processes. */
function twoLimiters(env: Record<string, string>) {
  const clock = new ManualClock();
  const open = () => {
    const config = testConfig(world.databaseUrl, env);
    const db = connectRaw({ url: world.databaseUrl, max: 4, prepared: config.DB_PREPARED_STATEMENTS });
    const limiter = openRateLimiter({ clock, config, db, log: silentLogger });
    const close = async () => {
      await limiter.close();
      await db.destroy();
    };
    return { limiter, db, close };
  };
  return { clock, one: open(), other: open() };
}

async function admittedOf12(one: { limiter: RateTaker }, other: { limiter: RateTaker }, key: string): Promise<number> {
  const taken = await Promise.all(
    Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? one : other).limiter.take(key, 5)),
  );
  return taken.filter(({ waitMs }) => waitMs === 0).length;
}
type RateTaker = Pick<RateLimiter, 'take'>;

for (const prepared of ['true', 'false']) {
  test(`two processes on one PostgreSQL share a limit (DB_PREPARED_STATEMENTS=${prepared})`, async (t) => {
    const { clock, one, other } = twoLimiters({ RATE_LIMIT_STORE: 'postgres', DB_PREPARED_STATEMENTS: prepared });
    t.teardown(() => Promise.all([one.close(), other.close()]));
    const key = `shared/${prepared}`;
    t.is(await admittedOf12(one, other, key), 5);
    clock.advance((await other.limiter.take(key, 5)).waitMs);
    t.is((await other.limiter.take(key, 5)).waitMs, 0, 'the wait was true');
    t.is((await one.limiter.take(key, 5)).remaining, 3, 'and what was admitted there counts here');
    const { rows } = await one.db.raw(`select name from pg_prepared_statements`);
    t.is(rows.length > 0, prepared === 'true');
  });
}

test('in memory each process counts for itself', async (t) => {
  const { one, other } = twoLimiters({});
  t.teardown(() => Promise.all([one.close(), other.close()]));
  t.is(await admittedOf12(one, other, 'own'), 10);
});

withRedis(
  `two processes on one Redis share a limit, and go on by themselves without it${redisServer ? '' : ' (needs redis-server)'}`,
  async (t) => {
    const port = await freePort();
    const redis = await spawnServer(redisServer!, ['--port', String(port), '--save', '', '--bind', '127.0.0.1'], {
      stdio: 'ignore',
      stopSignal: 'SIGTERM',
      graceMs: 5_000,
    });
    t.teardown(() => redis.stop());
    const { clock, one, other } = twoLimiters({ RATE_LIMIT_STORE: 'redis', REDIS_URL: `redis://127.0.0.1:${port}` });
    t.teardown(() => Promise.all([one.close(), other.close()]));
    // Until the connections are open, each limiter counts separately, so two requests pass although the limit is 1.
    let round = 0;
    await eventually(async () => {
      round += 1;
      const taken = [await one.limiter.take(`up/${round}`, 1), await other.limiter.take(`up/${round}`, 1)];
      return taken.filter(({ waitMs }) => waitMs === 0).length === 1;
    });
    t.is(await admittedOf12(one, other, 'shared'), 5);
    clock.advance((await other.limiter.take('shared', 5)).waitMs);
    t.is((await other.limiter.take('shared', 5)).waitMs, 0, 'the wait was true');

    await redis.stop();
    await eventually(async () => (await admittedOf12(one, other, `down/${(round += 1)}`)) === 10);
  },
);
