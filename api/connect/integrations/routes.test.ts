import test from 'ava';
import { createApiKey, createContact, createLabel } from '../../../test/harness/factories.ts';
import { cutConnectionOnce } from '../../../test/harness/cut-connection.ts';
import { browserCookie, connect, deliverNow, subscribe } from '../../../test/harness/integrations.ts';
import { assertConcurrentChangeRefused } from '../../../test/harness/concurrent-change.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import {
  startClose,
  startHubSpot,
  startN8n,
  type CloseDouble,
  type HubSpotDouble,
  type N8nDouble,
} from '../../../test/doubles/index.ts';
import { openAccount, recordReauth } from '../../../domain/connect/integrations/account.ts';
import { ReauthRequired } from '../../../domain/connect/integrations/providers/provider.ts';
import { checkHealth, revokeConnections } from '../../../domain/connect/integrations/upkeep.ts';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { verifySignature } from '../../../lib/signature.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { assertNowhere, randomSecret } from '../../../test/harness/secrets.ts';
import { message } from '../../../messages/index.ts';

let world: World;
let hubspot: HubSpotDouble;
let n8n: N8nDouble;
let close: CloseDouble;

test.before(async () => {
  [hubspot, n8n, close] = await Promise.all([startHubSpot(), startN8n(), startClose()]);
  const { clientId, clientSecret } = hubspot.oauth;
  world = await createWorld({
    ownAddress: true,
    env: {
      HUBSPOT_CLIENT_ID: clientId,
      HUBSPOT_CLIENT_SECRET: clientSecret,
      INTEGRATION_RETRY_BASE_MS: '20',
      INTEGRATION_ENDPOINTS: JSON.stringify({
        hubspot: {
          api: hubspot.url,
          authorize: `${hubspot.url}/oauth/authorize`,
          token: `${hubspot.url}/oauth/v1/token`,
        },
        close: { api: `${close.url}/api/v1` },
      }),
    },
  });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(async () => {
  await world?.close();
  await Promise.all([hubspot, n8n, close].map((double) => double?.close()));
});

/** Connects HubSpot as the person of a tenant, through the browser. */
async function connectHubSpot(tenant: Awaited<ReturnType<World['tenant']>>, extra: object = {}) {
  const started = await call(world, 'POST', '/v1/integrations/oauth/start', {
    token: tenant.sessionToken,
    body: { provider: 'hubspot', ...extra },
  });
  if (started.status !== 200) throw new Error(started.text);
  const back = hubspot.oauth.consent(started.body.authorize_url);
  const cookie = await browserCookie(world, tenant);
  return { back, cookie, page: () => fetch(back, { headers: { cookie } }) };
}

const connections = async (token: string) =>
  (await call(world, 'GET', '/v1/integrations/connections', { token })).body.connections;

test('the catalogue says what can be connected, and what it can do', async (t) => {
  const { apiKey: token } = await world.tenant();
  const { body } = await call(world, 'GET', '/v1/integrations/catalog', { token });
  t.is(body.catalog.length, 12);
  const by = (id: string) => body.catalog.find(({ provider }: { provider: string }) => provider === id);
  t.like(by('hubspot'), { auth_method: 'oauth', configured: true, supports_push: true, category: 'crm' });
  t.like(by('slack'), { auth_method: 'oauth', configured: false });
  t.like(by('n8n'), { auth_method: 'webhook', configured: true, action_types: ['n8n.send_webhook'] });
});

test('a key is checked by a live call before it is stored, and is never shown', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token } = tenant;
  const wrong = await call(world, 'POST', '/v1/integrations/connections', {
    token,
    body: { provider: 'close', config: { api_key: 'api_0000000000wrong' } },
  });
  assertStatus(t, wrong, 400);
  t.deepEqual(await connections(token), []);
  const faults = await call(world, 'POST', '/v1/integrations/connections', {
    token,
    body: { provider: 'close', config: { api_key: 'x', more: 1 }, label: 'x'.repeat(101), surplus: true },
  });
  t.deepEqual(faults.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.config',
    'body.config.api_key',
    'body.label',
    'body.surplus',
  ]);
  t.regex(
    (await call(world, 'POST', '/v1/integrations/connections', { token, body: { provider: 'hubspot' } })).body
      .problems[0].message,
    /oauth\/start/,
  );
  assertStatus(
    t,
    await call(world, 'POST', '/v1/integrations/connections', { token, body: { provider: 'none' } }),
    400,
  );
  const made = await connect(world, tenant, 'close', { api_key: [...close.keys][0]! });
  t.like(made, { provider: 'close', status: 'connected', health: 'healthy', auth_method: 'api_key' });
  const detail = await call(world, 'GET', `/v1/integrations/connections/${made.id}`, { token });
  t.deepEqual(
    detail.body.runs.map(({ kind, status }: any) => [kind, status]),
    [['connect', 'success']],
  );
  const stored = await world.deps.db('integration_connections').where({ id: made.id }).first();
  assertNowhere(t, [made, detail.body, await connections(token), stored], [...close.keys]);
  const changed = await call(world, 'PATCH', `/v1/integrations/connections/${made.id}/config`, {
    token,
    body: { sync_direction: 'both', config_capabilities: { notes: true } },
  });
  t.like(changed.body.connection, { sync_direction: 'both', config_capabilities: { notes: true } });
  assertStatus(t, await call(world, 'DELETE', `/v1/integrations/connections/${made.id}`, { token }), 204);
  assertStatus(t, await call(world, 'GET', `/v1/integrations/connections/${made.id}`, { token }), 404);
});

test.serial(
  'an account is connected by consent: for the person who began, once, and its tokens are sealed',
  async (t) => {
    const tenant = await world.tenant();
    const { back, page } = await connectHubSpot(tenant, { label: 'Ours' });
    t.is((await fetch(back)).status, 401, 'nobody is signed in in that browser');
    const other = await browserCookie(world, await world.tenant());
    t.is((await fetch(back, { headers: { cookie: other } })).status, 403, 'somebody else is');
    t.deepEqual(await connections(tenant.apiKey), []);
    const [first, second] = await Promise.all([page(), page()]);
    t.deepEqual([first.status, second.status].sort(), [200, 404], 'a state counts once');
    const [made, ...others] = await connections(tenant.apiKey);
    t.deepEqual(others, []);
    t.like(made, { provider: 'hubspot', label: 'Ours', status: 'connected', auth_method: 'oauth' });
    const row = await world.deps.db('integration_connections').where({ id: made.id }).first();
    assertNowhere(t, row, hubspot.oauth.issued);
    const denied = await connectHubSpot(tenant);
    const refused = new URL(denied.back);
    refused.searchParams.delete('code');
    refused.searchParams.set('error', 'access_denied');
    t.is((await fetch(refused, { headers: { cookie: denied.cookie } })).status, 400);
    t.is((await connections(tenant.apiKey)).length, 1);
  },
);

test.serial(
  'many that meet an ended token refresh it once; a consent that was taken back asks for a person',
  async (t) => {
    const tenant = await world.tenant();
    await (await connectHubSpot(tenant)).page();
    const [{ id }] = await connections(tenant.apiKey);
    const { db, clock } = world.deps;
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_unused, n) =>
        createContact(db, clock.now(), tenant.organizationId, {
          email: `p${n}-${newId()}@lead.test`,
          first_name: `P${n}`,
        }),
      ),
    );
    hubspot.oauth.expire();
    hubspot.oauth.delayMs = 50;
    const before = hubspot.oauth.refreshes;
    const push = (contactIds: string[]) =>
      call(world, 'POST', `/v1/integrations/connections/${id}/push`, {
        token: tenant.apiKey,
        body: { contact_ids: contactIds },
      });
    const answers = await Promise.all([push(ids.slice(0, 4)), push([...ids.slice(4), ids[4]!])]);
    for (const { status, body, text } of answers) {
      t.is(status, 200, text);
      t.like(body, { provider: 'hubspot', pushed: 4, failed: 0 });
      t.regex(body.results[0].email, /@lead.test$/);
    }
    const blind = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
      permissions: maskOf(['INTEGRATIONS']),
    });
    const unseen = await call(world, 'POST', `/v1/integrations/connections/${id}/push`, {
      token: blind.apiKey,
      body: { contact_ids: ids.slice(0, 1) },
    });
    t.deepEqual(
      unseen.body.results,
      [{ contact_id: ids[0], ok: true }],
      'addresses are for those who may read contacts',
    );
    t.is(hubspot.oauth.refreshes - before, 1);
    t.is(hubspot.contacts.filter(({ properties }) => properties.firstname?.startsWith('P')).length, 8);
    await push(ids);
    t.is(
      hubspot.contacts.filter(({ properties }) => properties.firstname?.startsWith('P')).length,
      8,
      'a repetition converges',
    );

    hubspot.oauth.expire();
    const cut = await cutConnectionOnce(db, {
      table: 'integration_connections',
      before: 'update',
      where: 'new.sealed_version > old.sealed_version',
    });
    for (let round = 0; round < 2; round += 1) {
      const { body } = await push(ids.slice(0, 1));
      t.like(body, { pushed: 1 }, 'new tokens are stored once the database is back');
    }
    t.is(await cut.times(), 2);
    await cut.remove();

    hubspot.oauth.revokeAll();
    assertStatus(t, await push(ids), 409);
    t.like((await connections(tenant.apiKey))[0], { status: 'reauth_required', health: 'down' });
    assertStatus(t, await push(ids), 409);
    const ctx = world.system(tenant.organizationId);
    const conversation = openAccount(ctx, await db('integration_connections').where({ id }).first());
    const ask = () => conversation.call.request({ method: 'GET', path: '/crm/v3/properties/contacts' });
    const refusal = await t.throwsAsync(ask(), { instanceOf: ReauthRequired });
    const again = await connectHubSpot(tenant, { connection_id: id });
    t.is((await again.page()).status, 200);
    await ask();
    t.false(
      await recordReauth(ctx, conversation.refused(refusal), message('connect.slow_down')),
      'it is about the tokens from before',
    );
    assertStatus(t, await push(ids), 200);
    t.is((await connections(tenant.apiKey)).length, 1);
    assertStatus(t, await call(world, 'DELETE', `/v1/integrations/connections/${id}`, { token: tenant.apiKey }), 204);
    const revoked = hubspot.oauth.revoked.length;
    t.is(await revokeConnections(world.deps), 1);
    t.is(hubspot.oauth.revoked.length, revoked, 'another workspace is connected to the same account');
    await db('integration_connections').where({ provider: 'hubspot' }).delete();
    await (await connectHubSpot(tenant)).page();
    const [{ id: last }] = await connections(tenant.apiKey);
    await call(world, 'DELETE', `/v1/integrations/connections/${last}`, { token: tenant.apiKey });
    t.is(await revokeConnections(world.deps), 1);
    t.is(hubspot.oauth.revoked.length, revoked + 1, 'disconnecting the last one ends the consent');
  },
);

test.serial('fields are mapped with transforms, and compared with the schema of the provider', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token } = tenant;
  await (await connectHubSpot(tenant)).page();
  const [{ id }] = await connections(token);
  const path = `/v1/integrations/connections/${id}/field-mappings`;
  const defaults = await call(world, 'GET', path, { token });
  t.true(defaults.body.mappings.length > 0 && defaults.body.mappings.every((each: any) => each.is_default));
  const faulty = await call(world, 'PUT', path, {
    token,
    body: {
      mappings: [
        { external_field: 'nothing_there', sendsets_field: 'company' },
        { external_field: 'createdate', sendsets_field: 'phone' },
        { external_field: 'lifecyclestage', transform: 'static', static_value: 'friend' },
      ],
    },
  });
  t.deepEqual(
    faulty.body.problems.map(({ path: at }: any) => at),
    ['body.mappings.0.external_field', 'body.mappings.1.external_field', 'body.mappings.2.static_value'],
  );
  const shapeless = await call(world, 'PUT', path, {
    token,
    body: { mappings: [{ external_field: 'company' }, { external_field: 'phone', transform: 'static' }] },
  });
  t.is(shapeless.body.problems.length, 2, shapeless.text);
  const put = await call(world, 'PUT', path, {
    token,
    body: {
      object: 'contact',
      mappings: [
        { external_field: 'company', sendsets_field: 'company', transform: 'uppercase' },
        { external_field: 'jobtitle', sendsets_field: 'custom.role', transform: 'trim' },
        { external_field: 'lifecyclestage', transform: 'static', static_value: 'lead' },
      ],
    },
  });
  assertStatus(t, put, 200);
  const email = `mapped-${newId()}@lead.test`;
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
    email,
    company: 'Acme',
    custom_fields: { role: ' Head of tests ' },
  });
  const pushed = await call(world, 'POST', `/v1/integrations/connections/${id}/push`, {
    token,
    body: { contact_ids: [contactId] },
  });
  t.like(pushed.body, { pushed: 1 }, pushed.text);
  t.like(hubspot.contacts.find(({ properties }) => properties.email === email)?.properties, {
    company: 'ACME',
    jobtitle: 'Head of tests',
    lifecyclestage: 'lead',
  });
  await assertConcurrentChangeRefused(t, put.body.updated_at, (more) =>
    call(world, 'PUT', path, {
      token,
      body: { mappings: [{ external_field: 'website', sendsets_field: 'custom.site' }], ...more },
    }),
  );
  const { mappings, updated_at: at } = (await call(world, 'PUT', path, { token, body: { mappings: [] } })).body;
  t.deepEqual([mappings[0].is_default, at], [true, defaults.body.updated_at]);
});

test.serial(
  'an event goes to a webhook, signed, once and in order; a refusal is a dead letter that can be replayed',
  async (t) => {
    const tenant = await world.tenant();
    const { apiKey: token, organizationId: org } = tenant;
    const { id } = await connect(world, tenant, 'n8n', { webhook_url: n8n.hookUrl });
    const subscription = await subscribe(world, tenant, id, {
      event_type: 'contact.created',
      action: 'n8n.send_webhook',
    });
    t.like(subscription, { enabled: true, use_case: 'custom', automation_id: null, connection_id: id });
    const { events } = (await call(world, 'GET', `/v1/integrations/connections/${id}/events`, { token })).body;
    t.deepEqual(events, [subscription]);
    const wrong = await call(world, 'POST', `/v1/integrations/connections/${id}/events`, {
      token,
      body: { event_type: 'no.such', action: 'slack.notify' },
    });
    t.deepEqual(wrong.body.problems.map(({ path }: any) => path).sort(), ['body.action', 'body.event_type']);
    const secret = (await call(world, 'GET', `/v1/integrations/connections/${id}/webhook-secret`, { token })).body;
    t.is(secret.signature_header, 'X-Service-Signature');
    n8n.clear();
    n8n.taken.length = 0;
    const add = (email: string) => call(world, 'POST', '/v1/contacts', { token, body: [{ email }] });
    await add('one@lead.test');
    await add('two@lead.test');
    t.is((await deliverNow(world, org, id)).kind, 'done');
    t.is(n8n.taken.length, 2);
    const [heard] = n8n.heard;
    t.true(
      verifySignature(heard!.headers['x-service-signature'] as string, secret.signing_secret, heard!.raw, {
        now: new Date(),
      }),
    );
    t.is((await deliverNow(world, org, id)).kind, 'done');
    t.is(n8n.taken.length, 2, 'once');

    // The provider refuses the request, because it no longer has the webhook. The refusal is recorded.
    n8n.fail({ kind: 'broken' });
    await add('three@lead.test');
    t.is((await deliverNow(world, org, id)).kind, 'done', 'a short failure is waited out');
    t.is(n8n.taken.length, 3);
    const { runs } = (await call(world, 'GET', `/v1/integrations/connections/${id}/runs`, { token })).body;
    t.true(runs.some(({ kind, records_processed: records }: any) => kind === 'dispatch' && records === 2));
    t.is((await call(world, 'POST', `/v1/integrations/connections/${id}/test`, { token })).body.sent, true);
    t.like(JSON.parse(n8n.heard.at(-1)!.raw), { test: true, event: 'contact.created' });

    const gone = await connect(world, tenant, 'n8n', { webhook_url: `${n8n.url}/webhook/not-there` });
    await subscribe(world, tenant, gone.id, { event_type: 'contact.created', action: 'n8n.send_webhook' });
    t.is((await call(world, 'POST', `/v1/integrations/connections/${gone.id}/test`, { token })).body.sent, false);
    await add('four@lead.test');
    await deliverNow(world, org, gone.id);
    t.is((await deliverNow(world, org, id)).kind, 'done');
    t.is(n8n.taken.length, 5, 'the other connection is not held up');
    const letters = (await call(world, 'GET', '/v1/tasks/dlq?status=pending', { token })).body.data;
    t.like(letters[0], { task_type: 'integration_delivery', status: 'pending' });
    t.regex(letters[0].last_error, /404/);
    const replay = await call(world, 'POST', `/v1/tasks/dlq/${letters[0].id}/replay`, { token });
    t.true(replay.status < 300, replay.text);
    t.is((await world.deps.db('integration_deliveries').where({ connection_id: gone.id, state: 'pending' })).length, 1);
    t.is(
      (await call(world, 'DELETE', `/v1/integrations/connections/${id}/events/${subscription.id}`, { token })).status,
      204,
    );
    await add('five@lead.test');
    await deliverNow(world, org, id);
    t.is(n8n.taken.length, 5);
  },
);

test.serial('a tag is added by an action of Heron itself', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token, organizationId: org } = tenant;
  const { id } = await connect(world, tenant, 'n8n', { webhook_url: n8n.hookUrl });
  const category = await createLabel(world.deps, org, 'category');
  await subscribe(world, tenant, id, {
    event_type: 'contact.created',
    action: 'sendsets.add_tag',
    config: { category_id: category },
  });
  const gone = 'gone@lead.test';
  await call(world, 'POST', '/v1/contacts', { token, body: [{ email: gone }, { email: 'tagged@lead.test' }] });
  await world.deps.db('contacts').where({ organization_id: org, email: gone }).delete();
  await deliverNow(world, org, id);
  const filed = await world.deps.db('contact_categories').where({ label_id: category });
  t.is(filed.length, 1, 'a contact that is gone by then holds nothing up');
});

test('what could never be sent is refused before it is stored: addresses that are not called, keys that no header takes', async (t) => {
  const { apiKey: token } = await world.tenant();
  const secret = randomSecret();
  for (const [provider, config, at] of [
    ['n8n', { webhook_url: n8n.hookUrl.replace('://', `://user:${secret}@`) }, 'body.config.webhook_url'],
    ['calendly', { api_key: `${secret}\r\nx-more: 1` }, 'body.config.api_key'],
  ] as const) {
    const refused = await call(world, 'POST', '/v1/integrations/connections', { token, body: { provider, config } });
    assertStatus(t, refused, 400);
    t.deepEqual(
      refused.body.problems.map(({ path }: { path: string }) => path),
      [at],
    );
    assertNowhere(t, refused.text, [secret]);
  }
  t.deepEqual(await connections(token), []);
});

test.serial('health is kept by maintenance, and what is degraded comes back by itself', async (t) => {
  const tenant = await world.tenant();
  const { id } = await connect(world, tenant, 'close', { api_key: [...close.keys][0]! });
  const due = () =>
    world.deps
      .db('integration_connections')
      .where({ id })
      .update({ health_due_at: new Date(Date.now() - 1000) });
  await world.deps
    .db('integration_connections')
    .whereNot({ id })
    .update({ health_due_at: new Date(Date.now() + 3e6) });
  close.failAll({ kind: 'broken' });
  await due();
  t.is(await checkHealth(world.deps), 1);
  t.like((await connections(tenant.apiKey))[0], { status: 'degraded', health: 'down' });
  close.failAll(undefined);
  await due();
  await checkHealth(world.deps);
  t.like((await connections(tenant.apiKey))[0], { status: 'connected', health: 'healthy', health_detail: null });
  close.clear();
  close.fail({ kind: 'limited', retryAfterSeconds: 3_600 });
  for (let round = 0; round < 2; round += 1) {
    await due();
    await checkHealth(world.deps);
  }
  t.is(close.calls().length, 1, 'it asks to wait, and is not asked meanwhile');
  t.like((await connections(tenant.apiKey))[0], { status: 'connected', health: 'healthy' });
});

test('EXTENDED_SURFACES and the paid plan close what they say', async (t) => {
  const closed = await createWorld({ env: { EXTENDED_SURFACES: 'false' } });
  t.teardown(() => closed.close());
  const { apiKey } = await closed.tenant();
  for (const path of ['/v1/integrations/catalog', '/v1/pipelines', '/v1/templates'])
    t.is((await call(closed, 'GET', path, { token: apiKey })).status, 404, path);
  assertStatus(t, await call(closed, 'GET', '/v1/contacts', { token: apiKey }), 200);
  const paid = await createWorld({ env: { REQUIRE_PAID_PLAN: 'true' } });
  t.teardown(() => paid.close());
  const tenant = await paid.tenant();
  await paid.deps.db('organizations').where({ id: tenant.organizationId }).update({ plan: 'free' });
  const body = { provider: 'n8n', config: { webhook_url: n8n.hookUrl } };
  const create = () => call(paid, 'POST', '/v1/integrations/connections', { token: tenant.apiKey, body });
  assertStatus(t, await create(), 403);
  assertStatus(t, await call(paid, 'GET', '/v1/integrations/connections', { token: tenant.apiKey }), 200);
  await paid.deps.db('organizations').where({ id: tenant.organizationId }).update({ plan: 'paid' });
  assertStatus(t, await create(), 201);
});
