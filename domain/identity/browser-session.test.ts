import test from 'ava';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { createWorld, testConfig } from '../../test/harness/world.ts';
import { browserActor, browserSession } from './browser-session.ts';
import { verifySessionToken } from './session-token.ts';

const ORIGIN = { ipAddress: '192.0.2.1', userAgent: 'test' };

test('SECRET_KEY_BASE keys the cookies of browsers, and nothing else', async (t) => {
  const clock = new ManualClock();
  const world = await createWorld({ clock, env: { SECRET_KEY_BASE: 'a'.repeat(64) } });
  t.teardown(() => world.close());
  const { sessionToken } = await world.tenant();
  const { config } = world.deps;
  const sessionId = (await verifySessionToken(config, clock, sessionToken))!;
  const { value } = await browserSession(world.deps, { sessionId });
  t.is((await browserActor(world.deps, value, ORIGIN))?.sessionId, sessionId);
  const others: Record<string, string>[] = [{ SECRET_KEY_BASE: 'b'.repeat(64) }, {}];
  for (const env of others) {
    const other = testConfig(world.databaseUrl, env);
    t.is(await browserActor({ ...world.deps, config: other }, value, ORIGIN), null);
    t.is(await verifySessionToken(other, clock, sessionToken), sessionId, 'access tokens stay valid');
  }
});
