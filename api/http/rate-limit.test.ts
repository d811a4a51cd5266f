import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { createApiKey, createMailbox } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type Answer } from '../../test/harness/world.ts';

const START = new Date('2026-03-02T09:00:00.250Z');

/** Names of the limits in the RateLimit-Policy header of an answer. */
const policies = ({ headers }: Answer): string[] =>
  [...(headers.get('ratelimit-policy') ?? '').matchAll(/"([^"]+)";q=\d+;w=\d+/g)].map(([, name]) => name!);

test('RateLimit counts down before the 429; who waits Retry-After passes, and a second earlier nobody does', async (t) => {
  const clock = new ManualClock(START);
  const world = await createWorld({ clock });
  t.teardown(() => world.close());
  const { organizationId, userId } = await world.tenant();
  const { apiKey } = await createApiKey(world.deps, organizationId, userId, { ratePerMinute: 3 });
  const read = () => call(world, 'GET', '/v1/contacts', { token: apiKey });
  for (const [left, seconds] of [
    [2, 60],
    [1, 50],
    [0, 40],
  ]) {
    const { status, headers } = await read();
    t.is(status, 200);
    t.is(headers.get('ratelimit-policy'), '"requests";q=3;w=60');
    t.is(headers.get('ratelimit'), `"requests";r=${left};t=${seconds}`);
    clock.advance(10_000);
  }
  const refused = await read();
  assertStatus(t, refused, 429);
  t.is(refused.headers.get('ratelimit'), '"requests";r=0;t=30');
  t.is(refused.headers.get('retry-after'), '30');
  clock.advance(29_000);
  const early = await read();
  assertStatus(t, early, 429);
  t.is(early.headers.get('retry-after'), '1');
  clock.advance(1_000);
  const passed = await read();
  assertStatus(t, passed, 200);
  t.is(passed.headers.get('ratelimit'), '"requests";r=0;t=10');
});

test('people and credentials have write limits of their own, and stopping something is neither counted nor refused', async (t) => {
  const clock = new ManualClock(START);
  const world = await createWorld({ clock, env: { ORG_WRITES_PER_MINUTE: '2' } });
  t.teardown(() => world.close());
  const tenant = await world.tenant();
  const other = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
  const add = async (token: string) =>
    call(world, 'POST', '/v1/segments', { token, body: { name: newId(), conditions: [] } });
  assertStatus(t, await add(tenant.apiKey), 201);
  assertStatus(t, await add(other.apiKey), 201);
  const refused = await add(tenant.apiKey);
  assertStatus(t, refused, 429);
  t.regex(refused.headers.get('ratelimit')!, /^"requests";r=\d+;t=\d+, "writes";r=0;t=60$/);
  for (let n = 0; n < 2; n += 1) assertStatus(t, await add(tenant.sessionToken), 201);
  assertStatus(t, await add(tenant.sessionToken), 429);

  const keys = { token: tenant.sessionToken };
  const revoked = await call(world, 'DELETE', `/v1/api-keys/${other.apiKeyId}?reason=`, keys);
  assertStatus(t, revoked, 200);
  t.deepEqual(policies(revoked), []);
  const suppressed = await call(world, 'POST', '/v1/suppressions', {
    token: tenant.apiKey,
    body: { entries: [{ value: 'nobody@example.com' }] },
  });
  assertStatus(t, suppressed, 200);
  assertStatus(t, await add(tenant.sessionToken), 429);
});

test('a policy is switched off when the write limit is reached, and not switched on', async (t) => {
  const world = await createWorld({ clock: new ManualClock(START), env: { ORG_WRITES_PER_MINUTE: '1' } });
  t.teardown(() => world.close());
  const { apiKeyId, organizationId, sessionToken: token } = await world.tenant();
  const body = {
    api_key_id: apiKeyId,
    name: 'Agent',
    capabilities: ['campaign.launch'],
    mailbox_ids: [await createMailbox(world.deps, organizationId)],
    max_recipients_per_run: 1,
    max_recipients_per_day: 1,
    max_actions_per_day: 1,
    expires_at: '2026-04-01T00:00:00Z',
  };
  const made = await call(world, 'POST', '/v1/agent-policies', { token, body });
  assertStatus(t, made, 201);
  const replace = (enabled: boolean) =>
    call(world, 'PUT', `/v1/agent-policies/${made.body.id}`, { token, body: { ...body, enabled } });
  assertStatus(t, await replace(true), 429);
  const off = await replace(false);
  assertStatus(t, off, 200);
  t.false(off.body.enabled);
  assertStatus(t, await replace(true), 429);
  assertStatus(t, await call(world, 'DELETE', `/v1/agent-policies/${made.body.id}`, { token }), 204);
});
