import test from 'ava';
import { isWrite } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { assertStatus, call, createWorld, type Answer } from '../harness/world.ts';
import { QUERIES } from './bodies.ts';
import { each, send, wellFormed } from './walk.ts';

/** Names of the limits in the RateLimit-Policy header of an answer. */
const policies = ({ headers }: Answer): string[] =>
  [...(headers.get('ratelimit-policy') ?? '').matchAll(/"([^"]+)";q=\d+;w=\d+/g)].map(([, name]) => name!);

test('the writes that are not counted are those that stop something', (t) => {
  const named = (kind: string) =>
    routes
      .filter((spec) => isWrite(spec) && typeof spec.stops === kind)
      .map(({ operationId }) => operationId)
      .toSorted();
  t.deepEqual(named('boolean'), [
    'agentPolicies.delete',
    'apiKeys.revoke',
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
    'integrations.deleteEventSubscription',
    'integrations.disconnect',
    'invitations.cancel',
    'mailboxOrders.cancel',
    'mailboxes.delete',
    'meetings.cancel',
    'members.remove',
    'oauth.deleteApplication',
    'organizations.delete',
    'runs.cancel',
    'suppressions.add',
    'unibox.cancelScheduled',
    'warmup.pause',
    'warmup.stop',
    'webhooks.delete',
  ]);
  t.deepEqual(named('function'), [
    'agentPolicies.replace',
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
    // Uses a new tenant, because some routes end the caller's session or membership.
    const tenant = await world.tenant();
    const token = spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey;
    const request = wellFormed(spec);
    const answer = await send(world, spec, { ...request, token, query: QUERIES[spec.operationId] ?? {} });
    const counts =
      isWrite(spec) && (typeof spec.stops === 'function' ? !spec.stops(spec.body!.parse(request.body)) : !spec.stops);
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
