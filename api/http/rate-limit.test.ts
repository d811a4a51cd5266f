import test from 'ava';
import { createApiKey } from '../../test/harness/factories.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { QUERIES } from '../../test/suites/bodies.ts';
import { each, send, wellFormed } from '../../test/suites/walk.ts';
import { assertStatus, call, createWorld, type Answer } from '../../test/harness/world.ts';
import { routes } from '../routes.ts';
import { isWrite } from './route.ts';

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
    call(world, 'POST', '/v1/segments', { token, body: { name: `Segment ${Math.random()}`, conditions: [] } });
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
    body: { email: 'nobody@example.com' },
  });
  t.not(suppressed.status, 429, suppressed.text);
  assertStatus(t, await add(tenant.sessionToken), 429);
});

test('a policy is switched off when the write limit is reached, and not switched on', async (t) => {
  const world = await createWorld({ clock: new ManualClock(START), env: { ORG_WRITES_PER_MINUTE: '1' } });
  t.teardown(() => world.close());
  const { apiKeyId, sessionToken: token } = await world.tenant();
  const body = {
    api_key_id: apiKeyId,
    name: 'Agent',
    capabilities: ['campaign.launch'],
    mailbox_ids: null,
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

test('the writes that are not counted are those that stop something', (t) => {
  const named = (kind: string) =>
    routes
      .filter((spec) => isWrite(spec) && typeof spec.stops === kind)
      .map(({ operationId }) => operationId)
      .toSorted();
  t.deepEqual(named('boolean'), [
    'agent-policies.delete',
    'api-keys.revoke',
    'auth.logout',
    'auth.logoutAll',
    'auth.revokeOtherSessions',
    'auth.revokeSession',
    'automations.delete',
    'campaigns.cancelTestRun',
    'campaigns.pauseLead',
    'campaigns.removeLead',
    'campaigns.stop',
    'contactImports.cancel',
    'goals.cancelReplay',
    'integrations.disconnect',
    'integrations.removeEvent',
    'invitations.cancel',
    'mailboxOrders.cancel',
    'mailboxes.delete',
    'meetings.cancel',
    'members.remove',
    'oauth.deleteApplication',
    'runs.cancel',
    'suppressions.add',
    'unibox.cancelScheduled',
    'warmup.pause',
    'warmup.stop',
    'webhooks.delete',
  ]);
  t.deepEqual(named('function'), [
    'agent-policies.replace',
    'approvals.decide',
    'automations.replace',
    'contacts.update',
    'mailboxes.update',
    'webhooks.update',
  ]);
  t.deepEqual(
    routes.filter((spec) => spec.stops !== undefined && !isWrite(spec)).map(({ operationId }) => operationId),
    [],
  );
});

test('every route tells the limits that it counts against', async (t) => {
  const world = await createWorld({
    env: { SESSION_REQUESTS_PER_MINUTE: '100000', ORG_WRITES_PER_MINUTE: '100000', OAUTH_REGISTRATIONS_PER_HOUR: '10' },
  });
  t.teardown(() => world.close());
  const guarded = routes.filter((spec) => spec.scope !== 'public' && !spec.platformAdmin);
  await each(t, guarded, async (spec) => {
    // Some routes end the session or the workspace's membership of the caller.
    const tenant = await world.tenant();
    const token = spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey;
    const request = wellFormed(spec);
    const answer = await send(world, spec, { ...request, token, query: QUERIES[spec.operationId] ?? {} });
    const counts =
      isWrite(spec) && (typeof spec.stops === 'function' ? !spec.stops(request.body as never) : !spec.stops);
    const expected = counts ? ['requests', 'writes'] : ['requests'];
    const shown = policies(answer).filter((name) => ['requests', 'writes'].includes(name));
    return shown.join() === expected.join() ? [] : [`${answer.status} shows ${shown.join() || 'nothing'}`];
  });
  const registered = await call(world, 'POST', '/v1/oauth/register', {
    body: { redirect_uris: ['https://app.example/cb'] },
  });
  assertStatus(t, registered, 201);
  t.is(registered.headers.get('ratelimit-policy'), '"registrations";q=10;w=3600');
  t.is(registered.headers.get('ratelimit'), '"registrations";r=9;t=3600');
});
