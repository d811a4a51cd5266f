import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createEgress } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { verifySignature } from '../../../lib/signature.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createApiKey, createCampaign, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const connect = (tenant: Tenant, name: string, baseUrl = 'http://127.0.0.1:9/hooks') =>
  call(world, 'POST', '/v1/app-connections', { token: tenant.apiKey, body: { name, base_url: baseUrl } });

async function receiver(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a connection is created with a secret that is shown once, changed, and deleted', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token } = tenant;
  const created = await connect(tenant, '  Shop ', 'http://127.0.0.1:9/hooks/?key=1#top');
  assertStatus(t, created, 201);
  t.regex(created.body.secret, /^ss_app_[A-Za-z0-9_-]{43}$/);
  t.like(created.body.connection, {
    name: 'Shop',
    base_url: 'http://127.0.0.1:9/hooks',
    organization_id: tenant.organizationId,
  });
  const path = `/v1/app-connections/${created.body.connection.id}`;

  t.deepEqual((await call(world, 'GET', path, { token })).body, created.body.connection);
  t.deepEqual((await call(world, 'GET', '/v1/app-connections', { token })).body, { data: [created.body.connection] });
  const stored = await world.deps.db('app_connections').where({ id: created.body.connection.id }).first();
  assertNowhere(t, stored, [created.body.secret]);

  const changed = await call(world, 'PATCH', path, { token, body: { base_url: 'http://localhost:8/' } });
  t.like(changed.body, { name: 'Shop', base_url: 'http://localhost:8' });
  assertStatus(t, await call(world, 'PATCH', path, { token, body: {} }), 200);

  assertStatus(t, await call(world, 'DELETE', path, { token }), 204);
  assertStatus(t, await call(world, 'GET', path, { token }), 404);
  assertStatus(t, await call(world, 'DELETE', path, { token }), 404);
  const actions = await world.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, entity_type: 'app_connection' })
    .orderBy('id')
    .pluck('action');
  t.deepEqual(actions, ['app_connection.created', 'app_connection.updated', 'app_connection.deleted']);
  const audit = await world.deps.db('audit_logs').where({ organization_id: tenant.organizationId });
  assertNowhere(t, audit, [created.body.secret]);
});

test('every fault of a body is listed, and a name is taken once per workspace', async (t) => {
  const tenant = await world.tenant();
  const bad = await call(world, 'POST', '/v1/app-connections', {
    token: tenant.apiKey,
    body: { name: '', base_url: 'https://user:pw@x.example.com', more: 1 },
  });
  assertStatus(t, bad, 400);
  t.deepEqual(bad.body.problems.map((problem: { path: string }) => problem.path).sort(), [
    'body.base_url',
    'body.more',
    'body.name',
  ]);
  assertStatus(t, await connect(tenant, 'x'.repeat(101)), 400);
  for (const url of ['ftp://x.example.com', 'not a url', '//x.example.com'])
    t.is((await connect(tenant, 'A', url)).status, 400, url);
  assertStatus(t, await connect(tenant, 'A'), 201);
  t.like(await connect(tenant, 'A'), { status: 409 });
  t.is((await connect(await world.tenant(), 'A')).status, 201, 'other workspaces have names of their own');
});

test('without the development setting only public https addresses are taken', async (t) => {
  const strict = await createWorld({ env: { ALLOW_UNSAFE_WEBHOOK_URLS: 'false' } });
  t.teardown(() => strict.close());
  const { apiKey: token } = await strict.tenant();
  const create = (base_url: string) =>
    call(strict, 'POST', '/v1/app-connections', { token, body: { name: base_url.slice(0, 90), base_url } });
  for (const url of [
    'http://x.example.com',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.1.2.3/',
    'https://x.example.com:8443/',
  ]) {
    const answer = await create(url);
    t.is(answer.status, 400, url);
    t.is(answer.body.problems[0].path, 'body.base_url');
  }
  const created = await create('https://X.example.com/a/?b#c');
  t.is(created.body.connection.base_url, 'https://x.example.com/a');
  t.is(
    (
      await call(strict, 'PATCH', `/v1/app-connections/${created.body.connection.id}`, {
        token,
        body: { base_url: 'https://10.0.0.1' },
      })
    ).status,
    400,
  );
});

test('a rotated secret replaces the old one; a repeated request repeats its answer', async (t) => {
  const tenant = await world.tenant();
  const secrets: string[] = [];
  const seen: { raw: string; signature: string }[] = [];
  const url = await receiver(t, (message, response) => {
    let raw = '';
    message
      .on('data', (chunk: Buffer) => (raw += chunk))
      .on('end', () => {
        seen.push({ raw, signature: message.headers['x-service-signature'] as string });
        response.writeHead(204).end();
      });
  });
  const { body } = await connect(tenant, 'Shop', url);
  secrets.push(body.secret);
  const path = `/v1/app-connections/${body.connection.id}`;
  const rotate = () =>
    call(world, 'POST', `${path}/rotate-secret`, { token: tenant.apiKey, headers: { 'idempotency-key': 'rotate-1' } });
  const rotated = await rotate();
  secrets.push(rotated.body.secret);
  t.not(secrets[0], secrets[1]);
  t.deepEqual((await rotate()).body, rotated.body);
  await call(world, 'POST', `${path}/test`, { token: tenant.apiKey });
  const { raw, signature } = seen[0]!;
  t.deepEqual(
    secrets.map((secret) => verifySignature(signature, secret, raw, { now: new Date() })),
    [false, true],
  );
});

test('a test pings the app and says how far it came', async (t) => {
  const tenant = await world.tenant();
  let status = 200;
  const pings: { headers: Record<string, unknown>; body: any }[] = [];
  const url = await receiver(t, (message, response) => {
    let raw = '';
    message
      .on('data', (chunk: Buffer) => (raw += chunk))
      .on('end', () => {
        pings.push({ headers: message.headers, body: JSON.parse(raw) });
        response.writeHead(status).end('no JSON needed');
      });
  });
  const { body } = await connect(tenant, 'Shop', url);
  const check = () => call(world, 'POST', `/v1/app-connections/${body.connection.id}/test`, { token: tenant.apiKey });
  const good = await check();
  assertStatus(t, good, 200);
  t.like(good.body, { dns: true, tls: false, connection: true, authentication: true, status: 200 });
  t.false('error' in good.body);
  t.is(pings[0]!.headers['x-service-event'], 'app.ping');
  t.is(pings[0]!.headers['x-service-event-id'], pings[0]!.body.id);
  t.regex(pings[0]!.body.id, /^ping:[0-9a-f-]{36}$/);
  t.like(pings[0]!.body, { run_mode: 'test', ping: true });
  status = 401;
  const refused = await check();
  assertStatus(t, refused, 200);
  t.like(refused.body, { connection: true, authentication: false, status: 401 });
  t.is(refused.body.error.code, 'app_connection_failed');
  t.regex(refused.body.error.fix, /secret/);

  const { body: away } = await connect(tenant, 'Away', 'http://127.0.0.1:1');
  const failed = await call(world, 'POST', `/v1/app-connections/${away.connection.id}/test`, { token: tenant.apiKey });
  assertStatus(t, failed, 200);
  t.like(failed.body, { dns: true, connection: false, tls: false, authentication: false, status: 0 });
  t.truthy(failed.body.error.fix);
});

test('a test of a name that leads inside is refused before anything is dialed', async (t) => {
  const egress = createEgress({ allowUnsafe: false, lookup: () => Promise.resolve(['127.0.0.1']) });
  t.teardown(() => egress.close());
  const strict = await createWorld({ env: { ALLOW_UNSAFE_WEBHOOK_URLS: 'false' } });
  t.teardown(() => strict.close());
  Object.assign(strict.deps, { egress });
  const { apiKey: token } = await strict.tenant();
  const created = await call(strict, 'POST', '/v1/app-connections', {
    token,
    body: { name: 'Inside', base_url: 'https://inside.example.com' },
  });
  const { status, body } = await call(strict, 'POST', `/v1/app-connections/${created.body.connection.id}/test`, {
    token,
  });
  t.is(status, 200);
  t.like(body, { connection: false, tls: false, authentication: false, status: 0 });
  t.notRegex(JSON.stringify(body), /127\.0\.0\.1/);
});

test('a connection in use stays, whoever of delete and step comes first', async (t) => {
  const tenant = await world.tenant();
  const { body } = await connect(tenant, 'Used');
  const step = {
    kind: 'action' as const,
    action: { type: 'app_action', app_connection_id: body.connection.id, path: '/', output_key: 'a', inputs: {} },
  };
  await createCampaign(world.deps, tenant.organizationId, [step]);
  const refused = await call(world, 'DELETE', `/v1/app-connections/${body.connection.id}`, { token: tenant.apiKey });
  assertStatus(t, refused, 409);
  t.is(refused.body.code, 'app_connection_in_use');
  t.truthy(refused.body.fix);

  for (let round = 0; round < 10; round += 1) {
    const { body: next } = await connect(tenant, `Race ${round}`);
    const [deleted, added] = await Promise.allSettled([
      call(world, 'DELETE', `/v1/app-connections/${next.connection.id}`, { token: tenant.apiKey }),
      createCampaign(world.deps, tenant.organizationId, [
        { ...step, action: { ...step.action, app_connection_id: next.connection.id } },
      ]),
    ]);
    const status = deleted.status === 'fulfilled' ? deleted.value.status : 0;
    t.true(
      (status === 204 && added.status === 'rejected') || (status === 409 && added.status === 'fulfilled'),
      `${status} ${added.status}`,
    );
  }
});

test("a step cannot name another workspace's connection, and a workspace can be deleted with its steps", async (t) => {
  const [mine, other] = [await world.tenant(), await world.tenant()];
  const { body } = await connect(other, 'Theirs');
  const action = { type: 'app_action', app_connection_id: body.connection.id, path: '/', output_key: 'a', inputs: {} };
  await t.throwsAsync(createCampaign(world.deps, mine.organizationId, [{ kind: 'action', action }]), {
    message: /campaign_steps_app_connection_fkey/,
  });
  await createCampaign(world.deps, other.organizationId, [{ kind: 'action', action }]);
  await world.deps.db('memberships').where({ organization_id: other.organizationId }).delete();
  t.is(await world.deps.db('organizations').where({ id: other.organizationId }).delete(), 1);
});

test('ids of others are unknown, and keys and roles need the permission', async (t) => {
  const [mine, other] = [await world.tenant(), await world.tenant()];
  const { body } = await connect(other, 'Theirs');
  for (const id of [body.connection.id, newId(), 'nonsense']) {
    const base = `/v1/app-connections/${id}`;
    for (const [method, path] of [
      ['GET', base],
      ['PATCH', base],
      ['DELETE', base],
      ['POST', `${base}/rotate-secret`],
      ['POST', `${base}/test`],
    ] as const) {
      t.is(
        (
          await call(world, method, path, {
            token: mine.apiKey,
            ...(method === 'PATCH' ? { body: { name: 'x' } } : {}),
          })
        ).status,
        404,
        `${method} ${path}`,
      );
    }
  }
  const reader = await createApiKey(world.deps, mine.organizationId, mine.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  assertStatus(t, await call(world, 'GET', '/v1/app-connections', { token: reader.apiKey }), 403);
  const member = await createMember(world.deps, mine, 'Member');
  assertStatus(t, await call(world, 'GET', '/v1/app-connections', { token: member.sessionToken }), 403);
});
