import test from 'ava';
import WebSocket from 'ws';
import { EVENT_TYPES } from '../../../domain/platform/kernel/events.ts';
import { startRealtime } from '../realtime.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createApiKey, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { createAccessToken } from '../../../test/harness/oauth.ts';
import { openStream, type StreamOptions } from '../../../test/harness/stream-client.ts';
import { emit, assignPositionsTo } from '../../../test/harness/stream-events.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
let gateway: Awaited<ReturnType<typeof startRealtime>>;
/** Gateway with short timeouts for silent clients. */
let impatient: typeof gateway;
const metrics = createMetrics();

test.before(async () => {
  world = await createWorld({
    env: { REALTIME_KEY_CONNECTIONS: '3', CORS_ALLOW_ORIGINS: 'https://dashboard.example' },
  });
  gateway = await startRealtime(world.deps, metrics, { port: 0, checkMs: 100 });
  impatient = await startRealtime(world.deps, createMetrics(), { port: 0, heartbeatMs: 1_000, authenticateMs: 1_000 });
});
test.after.always(async () => {
  await gateway?.close();
  await impatient?.close();
  await world?.close();
});

const open = (options: StreamOptions) => openStream(gateway.url, options);
const subscribed = async (token: string, message: object = {}) => {
  const client = await open({ token });
  client.say({ type: 'subscribe', ...message });
  await client.next('subscribed');
  return client;
};
const keyFor = (tenant: Tenant, scopes: Parameters<typeof maskOf>[0], more: object = {}) =>
  createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions: maskOf(scopes), ...more });
const refused = (t: { throwsAsync: (work: Promise<unknown>) => Promise<any> }, options: StreamOptions) =>
  t.throwsAsync(open(options));

test('a socket hears the events of its organization from the moment it subscribed, and of no other', async (t) => {
  const [mine, theirs] = [await world.tenant(), await world.tenant()];
  await assignPositionsTo(world.deps, await emit(world, mine.organizationId, 'contact.created', 2));
  const client = await subscribed(mine.apiKey);
  const other = await emit(world, theirs.organizationId, 'contact.created', 3);
  const sent = await emit(world, mine.organizationId, 'contact.created', 2);
  await assignPositionsTo(world.deps, [...other, ...sent]);
  await eventually(async () => client.events().length === 2);
  t.deepEqual(client.ids(), sent);
  const [first] = client.events();
  const row = await world.deps.db('domain_events').where({ id: sent[0] }).first();
  t.deepEqual(first, {
    type: 'event',
    id: row.id,
    event_type: 'contact.created',
    organization_id: mine.organizationId,
    created_at: row.created_at.toISOString(),
    data: row.data,
  });
  await client.close();
});

test('an empty list is every event but firehose ones; a named firehose event comes', async (t) => {
  const tenant = await world.tenant();
  const [all, opens] = [
    await subscribed(tenant.apiKey),
    await subscribed(tenant.apiKey, { event_types: ['campaign.email_opened'] }),
  ];
  const quiet = Object.entries(EVENT_TYPES)
    .filter(([, facts]) => !facts.firehose)
    .map(([type]) => type);
  t.deepEqual(all.messages.find(({ type }) => type === 'subscribed').event_types, quiet);
  const created = await emit(world, tenant.organizationId, 'contact.created', 1);
  const opened = await emit(world, tenant.organizationId, 'campaign.email_opened', 1);
  const deleted = await emit(world, tenant.organizationId, 'contact.deleted', 1);
  await assignPositionsTo(world.deps, [...created, ...opened, ...deleted]);
  await eventually(async () => all.events().length === 2 && opens.events().length === 1);
  t.deepEqual(all.ids(), [...created, ...deleted]);
  t.deepEqual(opens.ids(), opened);
  await Promise.all([all.close(), opens.close()]);
});

test('a key needs REALTIME_SUBSCRIBE, and hears the families its scopes open', async (t) => {
  const tenant = await world.tenant();
  const without = await keyFor(tenant, ['READ_CONTACTS']);
  t.like(await refused(t, { token: without.apiKey }), { status: 403, body: { code: 'forbidden' } });

  const { apiKey } = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS']);
  const client = await open({ token: apiKey });
  client.say({ type: 'subscribe', event_types: ['contact.created', 'campaign.started', 'team.member_joined'] });
  const error = await client.next('error');
  t.is(error.code, 'forbidden');
  t.deepEqual(
    error.problems.map(({ path }: { path: string }) => path),
    ['event_types.1', 'event_types.2'],
  );
  client.say({ type: 'subscribe' });
  const { event_types: types } = await client.next('subscribed');
  t.true(
    (types as string[]).every((type) => /^(contact|form|bulk_operation)\./.test(type)) &&
      types.includes('contact.created'),
    String(types),
  );
  const campaign = await emit(world, tenant.organizationId, 'campaign.started', 1);
  const contact = await emit(world, tenant.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, [...campaign, ...contact]);
  await eventually(async () => client.events().length > 0);
  t.deepEqual(client.ids(), contact);
  await client.close();

  const bare = await keyFor(tenant, ['REALTIME_SUBSCRIBE']);
  const nothing = await open({ token: bare.apiKey });
  nothing.say({ type: 'subscribe' });
  t.is((await nothing.next('error')).code, 'forbidden');
  nothing.say({ type: 'subscribe', event_types: ['custom.event'] });
  t.deepEqual((await nothing.next('subscribed')).event_types, ['custom.event']);
  await nothing.close();
});

test('a person hears what their role may see', async (t) => {
  const tenant = await world.tenant();
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  await world.deps
    .db('roles')
    .where({ organization_id: tenant.organizationId, name: 'Viewer' })
    .update({ permissions: ['view_contacts'] });
  const client = await open({ token: viewer.sessionToken });
  client.say({ type: 'subscribe', event_types: ['campaign.started'] });
  t.is((await client.next('error')).code, 'forbidden');
  client.say({ type: 'subscribe', event_types: ['contact.created'] });
  await client.next('subscribed');
  const sent = await emit(world, tenant.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, sent);
  await eventually(async () => client.events().length === 1);
  await client.close();
  const nowhere = await createMember(world.deps, tenant, 'Viewer');
  await world.deps.db('sessions').where({ user_id: nowhere.userId }).update({ organization_id: null });
  t.like(await refused(t, { token: nowhere.sessionToken }), { status: 400, body: { code: 'no_organization' } });
});

test('a key for some mailboxes hears nothing of the others', async (t) => {
  const tenant = await world.tenant();
  const [allowed, other] = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002'];
  const { apiKey } = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_EMAILS', 'READ_CONTACTS'], {
    allowedMailboxes: [allowed],
  });
  const client = await subscribed(apiKey);
  const hidden = await emit(world, tenant.organizationId, 'email_account.removed', 1, { email_account_id: other });
  hidden.push(...(await emit(world, tenant.organizationId, 'email_account.removed', 1, { email_account_id: null })));
  const seen = await emit(world, tenant.organizationId, 'email_account.removed', 1, { email_account_id: allowed });
  const contact = await emit(world, tenant.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, [...hidden, ...seen, ...contact]);
  await eventually(async () => client.events().length === 2);
  t.deepEqual(client.ids(), [...seen, ...contact]);
  await client.close();
});

test('every fault of a message is named, and the socket stays', async (t) => {
  const tenant = await world.tenant();
  const client = await open({ token: tenant.apiKey });
  client.say({ type: 'subscribe', event_types: ['contact.created', 'contact.born', 'webhook.test'], colour: 1 });
  t.like(await client.next('error'), { code: 'bad_request', problems: [{ path: 'colour' }] });
  client.say({ type: 'subscribe', event_types: ['contact.created', 'contact.born', 'webhook.test'] });
  const { problems } = await client.next('error');
  t.deepEqual(
    problems.map(({ path }: { path: string }) => path),
    ['event_types.1', 'event_types.2'],
  );
  client.say('not json');
  t.is((await client.next('error')).code, 'bad_request');
  client.say({ type: 'dance' });
  t.is((await client.next('error')).code, 'bad_request');
  client.socket.send(Buffer.from('{"type":"subscribe"}'), { binary: true });
  t.is((await client.next('error')).code, 'bad_request');
  client.say({ type: 'authenticate', token: tenant.apiKey });
  t.is((await client.next('error')).code, 'conflict');
  t.is(client.socket.readyState, WebSocket.OPEN);
  client.say('x'.repeat(20_000));
  t.is((await client.closed).code, 1009);

  const chatter = await open({ token: tenant.apiKey });
  for (let n = 0; n < 61; n += 1) chatter.say('{}');
  t.is((await chatter.closed).code, 4429);
});

test('credentials come in the header, the first message or the subprotocol, never in the address', async (t) => {
  const tenant = await world.tenant();
  const byMessage = await open({});
  byMessage.say({ type: 'authenticate', token: tenant.apiKey });
  t.is((await byMessage.next('authenticated')).organization_id, tenant.organizationId);
  const byProtocol = await open({ protocols: ['realtime.v1', `bearer.${tenant.sessionToken}`] });
  t.is(byProtocol.socket.protocol, 'realtime.v1');
  await byProtocol.next('authenticated');
  const atRoot = await open({ token: tenant.apiKey, path: '/' });
  await atRoot.next('authenticated');
  await Promise.all([byMessage.close(), byProtocol.close(), atRoot.close()]);

  t.like(await refused(t, { path: `/v1/realtime?token=${tenant.apiKey}` }), {
    status: 400,
    body: { code: 'bad_request' },
  });
  t.like(await refused(t, { token: tenant.apiKey, path: '/v1/other' }), { status: 404 });
  t.like(await refused(t, { token: 'ssk_unknown' }), {
    status: 401,
    body: { code: 'unauthorized' },
    headers: { 'www-authenticate': 'Bearer' },
  });
  t.like(await refused(t, { headers: { authorization: 'Basic abc' } }), { status: 401 });

  const wrong = await open({});
  wrong.say({ type: 'authenticate', token: 'ssk_unknown' });
  t.is((await wrong.next('error')).code, 'unauthorized');
  t.is((await wrong.closed).code, 4401);
  const early = await open({});
  early.say({ type: 'subscribe' });
  t.is((await early.next('error')).code, 'unauthorized');
  t.is((await early.closed).code, 4401);
  const silent = await openStream(impatient.url);
  t.is((await silent.closed).code, 4408);
});

test('pages of the dashboard and of listed origins may open the stream, others not', async (t) => {
  const tenant = await world.tenant();
  for (const origin of ['https://dashboard.example', new URL(world.deps.config.APP_URL).origin]) {
    const client = await open({ token: tenant.apiKey, headers: { origin } });
    await client.next('authenticated');
    await client.close();
  }
  t.like(await refused(t, { token: tenant.apiKey, headers: { origin: 'https://evil.example' } }), { status: 403 });
  t.like(await refused(t, { token: tenant.apiKey, headers: { origin: 'null' } }), { status: 403 });
});

test('a key for other addresses is refused', async (t) => {
  const tenant = await world.tenant();
  const { apiKey } = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS'], { allowedIps: ['203.0.113.0/24'] });
  t.like(await refused(t, { token: apiKey }), { status: 403 });
});

test('one credential has so many sockets and no more; one that closes makes room', async (t) => {
  const tenant = await world.tenant();
  const clients = [
    await open({ token: tenant.apiKey }),
    await open({ token: tenant.apiKey }),
    await open({ token: tenant.apiKey }),
  ];
  t.like(await refused(t, { token: tenant.apiKey }), { status: 429, body: { code: 'rate_limit_exceeded' } });
  const late = await open({});
  late.say({ type: 'authenticate', token: tenant.apiKey });
  t.is((await late.closed).code, 4429);
  await clients[0]!.close();
  const again = await eventually(async () => open({ token: tenant.apiKey }).catch(() => undefined));
  await Promise.all([...clients.slice(1), again].map((client) => client.close()));
});

test('a revoked, expired, narrowed or removed credential loses its sockets', async (t) => {
  const tenant = await world.tenant();
  const { db } = world.deps;
  const revoked = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS']);
  const expiring = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS']);
  const narrowed = await keyFor(tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS', 'READ_CAMPAIGNS']);
  const member = await createMember(world.deps, tenant, 'Member');
  const signedOut = await createMember(world.deps, tenant, 'Member');
  const staying = await subscribed(tenant.apiKey);
  const clients = {
    revoked: await subscribed(revoked.apiKey),
    expiring: await subscribed(expiring.apiKey),
    narrowed: await subscribed(narrowed.apiKey),
    member: await subscribed(member.sessionToken),
    signedOut: await subscribed(signedOut.sessionToken),
  };
  await db('api_keys').where({ id: revoked.apiKeyId }).update({ status: 'revoked', revoked_at: new Date() });
  await db('api_keys')
    .where({ id: expiring.apiKeyId })
    .update({ expires_at: new Date(Date.now() - 1000) });
  await db('api_keys')
    .where({ id: narrowed.apiKeyId })
    .update({ permissions: maskOf(['REALTIME_SUBSCRIBE', 'READ_CONTACTS']) });
  await db('memberships').where({ user_id: member.userId }).delete();
  await db('sessions').where({ user_id: signedOut.userId }).update({ revoked_at: new Date() });
  t.is((await clients.revoked.closed).code, 4401);
  t.is((await clients.expiring.closed).code, 4401);
  t.is((await clients.narrowed.closed).code, 4409);
  t.is((await clients.member.closed).code, 4409);
  t.is((await clients.signedOut.closed).code, 4401);
  t.is(clients.revoked.messages.at(-1).code, 'unauthorized');
  t.is(staying.socket.readyState, WebSocket.OPEN);
  await staying.close();
});

test('open sockets are heard from, with the place they can resume at; a dead one is cut', async (t) => {
  const tenant = await world.tenant();
  const client = await openStream(impatient.url, { token: tenant.apiKey });
  client.say({ type: 'subscribe', event_types: ['contact.created'] });
  await client.next('subscribed');
  const passed = await emit(world, tenant.organizationId, 'contact.deleted', 1);
  await assignPositionsTo(world.deps, passed);
  await eventually(
    async () => client.messages.findLast(({ type }) => type === 'heartbeat')?.last_event_id === passed[0],
  );
  t.deepEqual(client.ids(), []);
  await client.close();

  const dead = await openStream(impatient.url, { token: tenant.apiKey });
  Reflect.set(dead.socket, '_autoPong', false);
  t.is((await dead.closed).code, 1006);
});

test('the port answers plain HTTP with its health', async (t) => {
  const health = await fetch(`${gateway.url}/health`);
  t.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
  const plain = await fetch(`${gateway.url}/v1/realtime`);
  t.deepEqual([plain.status, ((await plain.json()) as { code: string }).code], [400, 'bad_request']);
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  t.regex(text, /heron_realtime_connections \d/);
  t.is((await fetch(`${gateway.url}/nothing`)).status, 404);
});

test('a stopping gateway sends its sockets away and takes no more', async (t) => {
  const tenant = await world.tenant();
  const own = await startRealtime(world.deps, createMetrics(), { port: 0 });
  const clients = await Promise.all(Array.from({ length: 3 }, () => openStream(own.url, { token: tenant.apiKey })));
  const mute = clients[2]!;
  // The client does not answer the close, so the gateway cuts its connection.
  mute.socket.pause();
  await own.close();
  t.is((await clients[0]!.closed).code, 1012);
  t.is((await clients[1]!.closed).code, 1012);
  await t.throwsAsync(openStream(own.url, { token: tenant.apiKey }));
  mute.socket.terminate();
});

test('an OAuth token hears what was granted, and loses its sockets with the grant', async (t) => {
  const tenant = await world.tenant();
  const { accessToken } = await createAccessToken(world, tenant, ['REALTIME_SUBSCRIBE', 'READ_CONTACTS']);
  const client = await open({ token: accessToken });
  client.say({ type: 'subscribe', event_types: ['campaign.started'] });
  t.is((await client.next('error')).code, 'forbidden');
  client.say({ type: 'subscribe', event_types: ['contact.created'] });
  await client.next('subscribed');
  const sent = await emit(world, tenant.organizationId, 'contact.created', 1);
  await assignPositionsTo(world.deps, sent);
  await eventually(async () => client.ids().length === 1);

  const without = await createAccessToken(world, tenant, ['READ_CONTACTS']);
  t.like(await refused(t, { token: without.accessToken }), { status: 403 });
  t.like(await refused(t, { token: without.refreshToken }), { status: 401 });

  await world.deps
    .db('oauth_grants')
    .where({ organization_id: tenant.organizationId })
    .update({ revoked_at: new Date() });
  t.is((await client.closed).code, 4401);
});

test('sockets that have not signed in are counted per source; one that signs in or goes makes room', async (t) => {
  const crowded = await createWorld({ env: { REALTIME_SOURCE_PENDING: '2', TRUSTED_PROXIES: 'loopback' } });
  const at = await startRealtime(crowded.deps, createMetrics(), { port: 0 });
  t.teardown(async () => {
    await at.close();
    await crowded.close();
  });
  const { apiKey } = await crowded.tenant();
  const from = (address: string) => openStream(at.url, { headers: { 'x-forwarded-for': address } });
  const [first, second] = [await from('2001:db8:9:9::1'), await from('2001:db8:9:9::2')];
  t.is(((await t.throwsAsync(from('2001:db8:9:9::3'))) as { status?: number }).status, 429);
  await from('192.0.2.7');
  first.say({ type: 'authenticate', token: apiKey });
  await first.next('authenticated');
  await from('2001:db8:9:9::3');
  await t.throwsAsync(from('2001:db8:9:9::4'));
  await second.close();
  await eventually(async () => ((await from('2001:db8:9:9::4').catch(() => undefined)) ? true : undefined));
  const known = await openStream(at.url, { token: apiKey, headers: { 'x-forwarded-for': '2001:db8:9:9::5' } });
  await known.next('authenticated');
  t.pass();
});
