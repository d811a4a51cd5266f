import test from 'ava';
import { startTracking } from '../servers/tracking.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { assertStatus, call, createWorld } from '../../test/harness/world.ts';

test('no answer is kept on its way, sessions and secrets least, but what is published is', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const { apiKey, sessionToken } = await world.tenant();
  for (const [token, path] of [
    [sessionToken, '/v1/auth/sessions'],
    [apiKey, '/v1/contacts'],
    [apiKey, '/v1/nowhere'],
    ['wrong', '/v1/contacts'],
  ] as const)
    t.is((await call(world, 'GET', path, { token })).headers.get('cache-control'), 'no-store', path);
  const login = await call(world, 'POST', '/v1/auth/login', { body: { email: 'a@example.com', password: 'x' } });
  t.is(login.headers.get('cache-control'), 'no-store');
  const published = await call(world, 'GET', '/.well-known/oauth-authorization-server');
  t.is(published.headers.get('cache-control'), 'public, max-age=300');
  t.is(published.headers.get('strict-transport-security'), null);
});

test('served over https, answers carry Strict-Transport-Security', async (t) => {
  const world = await createWorld({
    env: { API_PUBLIC_URL: 'https://api.example.com', TRACKING_DOMAIN: 'https://t.example.com' },
  });
  t.teardown(() => world.close());
  t.is((await call(world, 'GET', '/health')).headers.get('strict-transport-security'), 'max-age=31536000');
  const tracking = await startTracking(world.deps, createMetrics(), { port: 0 });
  t.teardown(() => tracking.close());
  const page = await fetch(`${tracking.url}/u/nothing`);
  t.is(page.headers.get('strict-transport-security'), 'max-age=31536000');
});

test('metrics are not for whoever comes through a proxy on the same machine', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const scrape = async (headers: Record<string, string> = {}, at = world) =>
    (await call(at, 'GET', '/metrics', { headers })).status;
  t.is(await scrape(), 200);
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'x-forwarded-proto'])
    t.is(await scrape({ [name]: 'anything' }), 404, name);
  const proxied = await createWorld({ env: { TRUSTED_PROXIES: 'loopback' } });
  t.teardown(() => proxied.close());
  t.is(await scrape({}, proxied), 404, 'a proxy that says nothing of itself');
  const guarded = await createWorld({ env: { TRUSTED_PROXIES: 'loopback', METRICS_TOKEN: 'scrape-me' } });
  t.teardown(() => guarded.close());
  t.is(await scrape({}, guarded), 404);
  t.is(await scrape({ authorization: 'Bearer scrape-me', 'x-forwarded-for': '192.0.2.1' }, guarded), 200);
});

test('a session has a rate of its own', async (t) => {
  const world = await createWorld({ env: { SESSION_REQUESTS_PER_MINUTE: '3' } });
  t.teardown(() => world.close());
  const [first, second] = [await world.tenant(), await world.tenant()];
  const read = async (token: string) => call(world, 'GET', '/v1/contacts', { token });
  for (let n = 0; n < 3; n += 1) t.is((await read(first.sessionToken)).status, 200);
  const refused = await read(first.sessionToken);
  assertStatus(t, refused, 429);
  t.truthy(refused.headers.get('retry-after'));
  assertStatus(t, await read(second.sessionToken), 200);
});
