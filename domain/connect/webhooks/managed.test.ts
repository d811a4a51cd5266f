import { plainRun } from '../../../test/harness/plain-history.ts';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../lib/ids.ts';
import { revokeGrant } from '../../identity/oauth/grants.ts';
import { challengeManagedEndpoint } from './verify.ts';
import { verifySignature } from '../../../lib/signature.ts';
import { message } from '../../../messages/index.ts';
import { startEngine, type Engine } from '../../../test/harness/engine.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createMember, type Tenant } from '../../../test/harness/factories.ts';
import { approve, personCtx, type TestClient, CALLBACK } from '../../../test/harness/oauth.ts';
import {
  startReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
} from '../../../test/harness/receiver.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

let world: World;
let engine: Engine;
test.before(async () => {
  // The retry wait is one hour, so that within a test only a newly requested verification causes the next challenge.
  world = await createWorld({ env: { WEBHOOK_RETRY_BASE_MS: '3600000' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const echo = (request: ReceivedRequest): ReceiverAnswer => ({
  status: 200,
  body: { challenge: request.json?.data?.challenge },
});

interface Installed {
  owner: Tenant;
  client: TestClient;
  receiver: Receiver;
  patch(body: object): ReturnType<typeof call>;
  endpoints(): Promise<any[]>;
}

/** Registers an application through the API, with a webhook to a receiver that echoes challenges. */
async function application(t: ExecutionContext, fields: object = {}): Promise<Installed> {
  const receiver = await startReceiver({ respond: echo });
  t.teardown(() => receiver.stop());
  const owner = await world.tenant();
  const created = await call(world, 'POST', '/v1/oauth/applications', {
    token: owner.sessionToken,
    body: {
      name: 'App',
      redirect_uris: [CALLBACK],
      scopes: ['read_contacts', 'read_campaigns'],
      allowed_webhook_domains: ['127.0.0.1', 'localhost'],
      webhook_url: `${receiver.url}/hook`,
      ...fields,
    },
  });
  assertStatus(t, created, 201);
  const path = `/v1/oauth/applications/${created.body.id}`;
  return {
    owner,
    receiver,
    client: { id: created.body.id, clientId: created.body.client_id, secret: created.body.client_secret },
    patch: (body) => call(world, 'PATCH', path, { token: owner.sessionToken, body }),
    endpoints: async () =>
      (await call(world, 'GET', `${path}/webhook-endpoints`, { token: owner.apiKey })).body.endpoints,
  };
}

const findGrant = async (tenant: { userId: string; organizationId: string }, client: TestClient): Promise<string> =>
  (
    await world.deps
      .db('oauth_grants')
      .where({ user_id: tenant.userId, application_id: client.id })
      .whereNull('revoked_at')
      .first('id')
  ).id;
const verified = (app: Installed, count: number) =>
  eventually(async () => {
    const all = await app.endpoints();
    return all.length === count && all.every((endpoint) => endpoint.verified_at !== null) && all;
  });

test('a grant brings the endpoint, which is challenged and verified by itself; the last one to go takes it away', async (t) => {
  const app = await application(t);
  t.deepEqual(await app.endpoints(), [], 'there is no grant yet');
  const tenant = await world.tenant();
  const colleague = async () => ({
    ...(await createMember(world.deps, tenant, 'Admin')),
    organizationId: tenant.organizationId,
  });
  const [first, member] = [await colleague(), await colleague()];
  await approve(world.deps, first, app.client);
  const [endpoint] = await verified(app, 1);
  t.like(endpoint, {
    organization_id: tenant.organizationId,
    url: `${app.receiver.url}/hook`,
    enabled: true,
    consecutive_failures: 0,
  });

  const {
    body: { webhook_secret: secret },
  } = await call(world, 'GET', `/v1/oauth/applications/${app.client.id}/webhook-secret`, { token: app.owner.apiKey });
  const challenge = app.receiver.requests[0]!;
  t.true(
    verifySignature(challenge.headers['x-service-signature'] as string, secret, challenge.raw, { now: new Date() }),
    'signed with the secret of the application',
  );
  t.like(challenge.json, { event_type: 'webhook.test', organization_id: tenant.organizationId });
  t.is(challenge.json.data.endpoint_id, endpoint.id);

  await approve(world.deps, member, app.client);
  t.deepEqual(
    (await app.endpoints()).map((row) => row.id),
    [endpoint.id],
    'one per workspace, however many people',
  );
  await revokeGrant(personCtx(world.deps, first), await findGrant(first, app.client));
  t.deepEqual(
    (await app.endpoints()).map((row) => row.id),
    [endpoint.id],
  );
  t.is(
    (await call(world, 'DELETE', `/v1/organizations/current/members/${member.userId}`, { token: tenant.sessionToken }))
      .status,
    204,
  );
  t.deepEqual(await app.endpoints(), [], 'leaving the workspace ends a grant too');
  t.is(app.receiver.requests.length, 1, 'one challenge for one endpoint');
  t.deepEqual(
    (await call(world, 'GET', '/v1/webhooks', { token: tenant.apiKey })).body.endpoints,
    [],
    'the workspace does not manage it',
  );
});

test('an answer without the echo does not verify; saving the application asks again', async (t) => {
  const app = await application(t);
  app.receiver.respond({ status: 200, body: { challenge: 'whcg_of_my_own' } });
  await approve(world.deps, await world.tenant(), app.client);
  const [failed] = await eventually(async () => {
    const all = await app.endpoints();
    return all[0]?.last_failure_at ? all : undefined;
  });
  t.is(failed.verified_at, null);
  const reason = await world.deps.db('webhook_endpoints').where({ id: failed.id }).first('last_failure_reason');
  t.deepEqual(reason.last_failure_reason, message('connect.no_echo'));
  app.receiver.respond((request) => ({
    status: 204,
    headers: { 'X-Service-Webhook-Challenge': request.json.data.challenge },
  }));
  assertStatus(t, await app.patch({ description: 'fixed' }), 200);
  await verified(app, 1);
  const description = await engine.temporal.workflow.getHandle(`webhook-verify/${failed.id}`).describe();
  await eventually(
    async () =>
      (await engine.temporal.workflow.getHandle(`webhook-verify/${failed.id}`).describe()).status.name === 'COMPLETED',
  );
  const plain = await plainRun(engine.temporal, `webhook-verify/${failed.id}`, description.runId);
  t.true(plain.includes(failed.id));
  const challenges = app.receiver.requests.map(({ json }) => json.data.challenge as string);
  assertNowhere(t, plain, [app.receiver.url, ...challenges]);
});

test('another URL points every endpoint to it: the same host stays verified, another one is challenged', async (t) => {
  const app = await application(t);
  const tenants = [await world.tenant(), await world.tenant()];
  for (const tenant of tenants) await approve(world.deps, tenant, app.client);
  const before = await verified(app, 2);
  await app.patch({ webhook_url: `${app.receiver.url}/other` });
  const same = await app.endpoints();
  t.deepEqual(
    same.map((row) => [row.id, row.url, row.verified_at]),
    before.map((row) => [row.id, `${app.receiver.url}/other`, row.verified_at]),
  );
  t.is(app.receiver.requests.length, 2);

  app.receiver.respond(500);
  const url = `http://localhost:${app.receiver.port}/hook`;
  await app.patch({ webhook_url: url });
  t.deepEqual(
    (await app.endpoints()).map((row) => [row.url, row.verified_at]),
    [
      [url, null],
      [url, null],
    ],
  );
  app.receiver.respond(echo);
  await app.patch({ webhook_url: url });
  await verified(app, 2);
});

test('an empty URL opts out everywhere; setting it again opts in where grants are', async (t) => {
  const app = await application(t);
  const tenant = await world.tenant();
  await approve(world.deps, tenant, app.client);
  await verified(app, 1);
  assertStatus(t, await app.patch({ webhook_url: '' }), 200);
  t.deepEqual(await app.endpoints(), []);
  await approve(world.deps, await world.tenant(), app.client);
  t.deepEqual(await app.endpoints(), []);
  await app.patch({ webhook_url: `${app.receiver.url}/hook` });
  await verified(app, 2);
});

test('a host that left the list of domains is not challenged', async (t) => {
  const app = await application(t);
  await world.deps
    .db('oauth_applications')
    .where({ id: app.client.id })
    .update({ allowed_webhook_domains: ['elsewhere.example.com'] });
  await approve(world.deps, await world.tenant(), app.client);
  const row = await eventually(async () =>
    world.deps
      .db('webhook_endpoints')
      .where({ application_id: app.client.id })
      .whereNotNull('last_failure_reason')
      .first(),
  );
  t.is(row.verified_at, null);
  const problem = message('field.url_not_allowed');
  t.deepEqual(row.last_failure_reason, message('connect.url_blocked', { problem }));
  t.is(app.receiver.requests.length, 0);
});

test('an endpoint the installation switched off comes back when its application is saved', async (t) => {
  const app = await application(t);
  await approve(world.deps, await world.tenant(), app.client);
  const [endpoint] = await verified(app, 1);
  await world.deps
    .db('webhook_endpoints')
    .where({ id: endpoint.id })
    .update({
      enabled: false,
      disabled_reason: message('connect.switched_off', { failures: 30, since: '2026-03-01T12:00:00.000Z' }),
      consecutive_failures: 30,
      failing_since: new Date(),
    });
  await app.patch({ description: 'repaired' });
  t.like((await app.endpoints())[0], { enabled: true, consecutive_failures: 0, verified_at: endpoint.verified_at });
});

test('people who grant and revoke at once leave an endpoint exactly where a grant is left', async (t) => {
  const app = await application(t);
  const tenant = await world.tenant();
  const people = await Promise.all(
    Array.from({ length: 6 }, async () => ({
      ...(await createMember(world.deps, tenant, 'Admin')),
      organizationId: tenant.organizationId,
    })),
  );
  await Promise.all(people.map((person) => approve(world.deps, person, app.client)));
  t.is((await app.endpoints()).length, 1);
  const [last, ...rest] = people;
  await Promise.all(
    rest.map(async (person) => revokeGrant(personCtx(world.deps, person), await findGrant(person, app.client))),
  );
  t.is((await app.endpoints()).length, 1);
  await Promise.all([
    revokeGrant(personCtx(world.deps, last!), await findGrant(last!, app.client)),
    approve(world.deps, rest[0]!, app.client),
  ]);
  t.is((await app.endpoints()).length, 1);
  await revokeGrant(personCtx(world.deps, rest[0]!), await findGrant(rest[0]!, app.client));
  t.deepEqual(await app.endpoints(), []);
});

test("challenges come as often as a delivery would be tried, and an endpoint that is gone, verified, or its workspace's own gets none", async (t) => {
  const app = await application(t);
  app.receiver.respond(500);
  const tenant = await world.tenant();
  await approve(world.deps, tenant, app.client);
  await app.receiver.received(1);
  const [{ id }] = await app.endpoints();
  const ctx = world.system(tenant.organizationId);
  t.deepEqual(await challengeManagedEndpoint(ctx, id, 7), { over: false, retryInMs: 3_600_000 });
  t.deepEqual(await challengeManagedEndpoint(ctx, id, 8), { over: true, state: 'given_up' });
  t.is(app.receiver.requests.length, 3);
  app.receiver.respond(echo);
  t.deepEqual(await challengeManagedEndpoint(ctx, id, 8), { over: true, state: 'verified' });
  t.deepEqual(await challengeManagedEndpoint(ctx, id, 1), { over: true, state: 'verified' });
  t.deepEqual(await challengeManagedEndpoint(ctx, newId(), 1), { over: true, state: 'gone' });
  t.deepEqual(
    await challengeManagedEndpoint(world.system(app.owner.organizationId), id, 1),
    { over: true, state: 'gone' },
    'of another workspace',
  );
  const own = await createEndpoint(world.deps, tenant.organizationId, app.receiver.url, { verified_at: null });
  t.deepEqual(await challengeManagedEndpoint(ctx, own.id, 1), { over: true, state: 'gone' });
  t.is(app.receiver.requests.length, 4);
});
