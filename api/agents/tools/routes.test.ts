import test from 'ava';
import { recordInbound } from '../../../domain/sending/outcomes/record-inbound.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf, PRESETS } from '../../../lib/permissions.ts';
import {
  createApiKey,
  createCampaign,
  createMailbox,
  createMember,
  type Tenant,
} from '../../../test/harness/factories.ts';
import { connectMcp } from '../../../test/harness/mcp.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { idempotencyOf } from '../../http/route.ts';
import { routes } from '../../routes.ts';
import { AGENT_TOOLS } from './catalogue.ts';
import { asArgumentProblem, defineTool, toRequest } from './tool.ts';
import { message } from '../../../messages/index.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const list = (token: string): Promise<Answer> => call(world, 'GET', '/v1/ai/tools', { token });
const use = (token: string, name: string, args: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call(world, 'POST', `/v1/ai/tools/${name}/call`, { token, body: { arguments: args }, headers });
const keyWith = async (tenant: Tenant, permissions: number) =>
  (await createApiKey(world.deps, tenant.organizationId, tenant.userId, { permissions })).apiKey;

test('the list is that of the MCP endpoint, for each credential', async (t) => {
  const tenant = await world.tenant();
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  for (const token of [
    tenant.apiKey,
    await keyWith(tenant, PRESETS.read_only),
    await keyWith(tenant, maskOf(['SEND_CAMPAIGNS'])),
    viewer.sessionToken,
  ]) {
    const program = await connectMcp(`${world.url}/v1/mcp?groups=all`, token);
    const { tools } = await program.client.listTools();
    const answer = await list(token);
    assertStatus(t, answer, 200);
    t.deepEqual(
      answer.body.tools.map((tool: Record<string, unknown>) => [
        tool.name,
        tool.description,
        tool.input_schema,
        tool.read_only,
      ]),
      tools.map((tool) => [tool.name, tool.description, tool.inputSchema, tool.annotations?.readOnlyHint]),
    );
    await program.close();
  }
  const { tools } = (await list(await keyWith(tenant, maskOf(['SEND_CAMPAIGNS'])))).body;
  t.deepEqual(
    tools.map(({ name }: { name: string }) => name),
    ['preflight_campaign', 'test_campaign', 'cancel_test_run', 'start_campaign', 'stop_campaign', 'get_policy'],
  );
  const start = tools.find(({ name }: { name: string }) => name === 'start_campaign');
  t.like(start, {
    read_only: false,
    destructive: true,
    idempotent: true,
    operation: { operation_id: 'campaigns.start', method: 'POST', path: '/v1/campaigns/:id/start' },
  });
});

test('a call answers with the result of the endpoint', async (t) => {
  const tenant = await world.tenant();
  const made = await use(tenant.apiKey, 'create_campaign_draft', { name: 'By a tool' });
  assertStatus(t, made, 200);
  t.deepEqual(made.body, {
    result: (await call(world, 'GET', `/v1/campaigns/${made.body.result.id}`, { token: tenant.apiKey })).body,
  });
  const added = await use(tenant.apiKey, 'add_contacts', {
    contacts: [{ email: 'lea@lead.test', campaigns: [made.body.result.id] }],
  });
  t.deepEqual(
    added.body.result.map(({ email }: { email: string }) => email),
    ['lea@lead.test'],
  );
});

test('a conversation is read as text; its HTML is for those who show it', async (t) => {
  const tenant = await world.tenant();
  const box = { id: await createMailbox(world.deps, tenant.organizationId, 'you@ours.test'), email: 'you@ours.test' };
  const html = '<p>Yes, <b>gladly</b></p>';
  await recordInbound(
    world.system(tenant.organizationId),
    box,
    Buffer.from(`Message-ID: <1@lead.test>\r\nFrom: lea@lead.test\r\nContent-Type: text/html\r\n\r\n${html}`),
    { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: world.deps.clock.now() },
  );
  const { body: listed } = await use(tenant.apiKey, 'list_threads', {});
  const { thread_id: id } = listed.result.data[0];
  const [message] = (await use(tenant.apiKey, 'get_thread', { thread_id: id })).body.result.data;
  t.regex(message.body_plain, /Yes, gladly/);
  t.false('body_html' in message);
  const path = `/v1/unibox/thread?thread_id=${encodeURIComponent(id)}`;
  const { body: shown } = await call(world, 'GET', path, { token: tenant.apiKey });
  t.deepEqual({ ...shown.data[0], body_html: undefined }, { ...message, body_html: undefined });
  t.regex(shown.data[0].body_html, /<b>gladly/);
});

test('a call is refused as the endpoint refuses, with its status and code', async (t) => {
  const tenant = await world.tenant();
  const other = await world.tenant();
  const { campaignId } = await createCampaign(world.deps, other.organizationId, [], { status: 'draft' });
  const expect = async (status: number, code: string, answer: Promise<Answer>, paths?: string[]) => {
    const { status: got, body } = await answer;
    t.deepEqual([got, body.code], [status, code], body.message);
    if (paths) t.deepEqual(body.problems.map(({ path }: { path: string }) => path).sort(), paths);
  };
  await expect(404, 'not_found', use(tenant.apiKey, 'no_such_tool', {}));
  await expect(404, 'not_found', use(tenant.apiKey, '__proto__', {}));
  await expect(404, 'not_found', use(tenant.apiKey, 'get_campaign', { campaign_id: campaignId }));
  await expect(
    403,
    'forbidden',
    use(await keyWith(tenant, PRESETS.read_only), 'create_campaign_draft', { name: 'No' }),
  );
  await expect(
    403,
    'forbidden',
    use((await createMember(world.deps, tenant, 'Viewer')).sessionToken, 'create_campaign_draft', { name: 'No' }),
  );
  await expect(400, 'bad_request', use(tenant.apiKey, 'get_campaign', {}), ['body.arguments.campaign_id']);
  await expect(400, 'bad_request', use(tenant.apiKey, 'create_campaign_draft', { name: 7, wings: 2 }), [
    'body.arguments.name',
    'body.arguments.wings',
  ]);
  await expect(400, 'bad_request', use(tenant.apiKey, 'search_contacts', []), ['body.arguments']);
  await expect(
    400,
    'bad_request',
    call(world, 'POST', '/v1/ai/tools/search_contacts/call', { token: tenant.apiKey, body: {} }),
    ['body.arguments'],
  );
  const own = await createCampaign(world.deps, tenant.organizationId, [], { status: 'draft' });
  await expect(400, 'campaign_invalid', use(tenant.apiKey, 'start_campaign', { campaign_id: own.campaignId }));
  await expect(401, 'unauthorized', call(world, 'GET', '/v1/ai/tools'));
});

test('a missing scope says which, for those who can ask for it', async (t) => {
  const tenant = await world.tenant();
  const answer = await use(await keyWith(tenant, 0), 'start_campaign', { campaign_id: newId() });
  assertStatus(t, answer, 403);
  t.regex(
    answer.headers.get('www-authenticate') ?? '',
    /^Bearer error="insufficient_scope", scope="send_campaigns", resource_metadata="/,
  );
});

test('the key of a write may be an argument or a header, and the argument counts', async (t) => {
  const tenant = await world.tenant();
  const [key, second] = [newId(), newId()];
  const first = await use(tenant.apiKey, 'create_campaign_draft', { name: 'Once', idempotency_key: key });
  t.deepEqual(
    (await use(tenant.apiKey, 'create_campaign_draft', { name: 'Once', idempotency_key: key })).body,
    first.body,
  );
  t.deepEqual(
    (await use(tenant.apiKey, 'create_campaign_draft', { name: 'Once' }, { 'idempotency-key': key })).body,
    first.body,
  );
  t.deepEqual(
    (
      await use(
        tenant.apiKey,
        'create_campaign_draft',
        { name: 'Once', idempotency_key: key },
        { 'idempotency-key': second },
      )
    ).body,
    first.body,
  );
  assertStatus(t, await use(tenant.apiKey, 'create_campaign_draft', { name: 'Twice', idempotency_key: key }), 409);
  t.is(
    (await use(tenant.apiKey, 'publish_event', { name: 'a.b', email: 'x@example.com' }, { 'idempotency-key': newId() }))
      .body.code,
    'event_contact_not_found',
  );
  t.is((await use(tenant.apiKey, 'list_campaigns', {}, { 'idempotency-key': newId() })).body.result.data.length, 1);
});

test('every tool stands for an endpoint, and says what it may be given', (t) => {
  t.is(new Set(AGENT_TOOLS.map(({ name }) => name)).size, AGENT_TOOLS.length);
  for (const tool of AGENT_TOOLS) {
    t.true(routes.includes(tool.route), tool.name);
    t.regex(tool.name, /^[a-z][a-z_]{2,63}$/);
    t.not(tool.route.scope, 'public', tool.name);
    t.is('idempotency_key' in tool.inputSchema.properties!, idempotencyOf(tool.route) !== 'none', tool.name);
    // Every parameter of the route's path is a required argument of the tool.
    for (const [, parameter] of tool.route.path.matchAll(/:(\w+)/g)) {
      const argument = Object.entries(tool.arguments).find(
        ([, spec]) => (typeof spec === 'string' ? spec : spec.at) === `params.${parameter}`,
      )?.[0];
      t.true(tool.inputSchema.required?.includes(argument ?? ''), `${tool.name} ${parameter}`);
    }
    t.notRegex(JSON.stringify(tool.inputSchema), /\$ref|\$defs/, `${tool.name}: a model reads no references`);
  }
});

test('arguments become a request, and faults of the request faults of arguments', (t) => {
  const [start, suppress, search] = ['start_campaign', 'suppress_contact', 'search_leads'].map((name) =>
    AGENT_TOOLS.find((tool) => tool.name === name)!,
  );
  t.like(toRequest(start!, { campaign_id: 'x', acknowledge_list_risk: true, idempotency_key: 'k' }), {
    params: { id: 'x' },
    body: { acknowledge_list_risk: true },
    headers: { 'idempotency-key': 'k' },
  });
  t.deepEqual(toRequest(suppress!, { email: 'a@b.c', reason: 'x' }).body, {
    entries: [{ value: 'a@b.c', reason: 'x' }],
  });
  t.like(toRequest(search!, { campaign_id: 'x', limit: 5 }), { query: { limit: '5' }, body: { campaign_ids: ['x'] } });
  t.deepEqual(toRequest(suppress!, JSON.parse('{"__proto__":{"email":"a@b.c"},"toString":1}')).body, {});
  t.is(
    asArgumentProblem(start!, { path: 'headers.Idempotency-Key', message: message('field.required') }, '').path,
    'idempotency_key',
  );
  t.is(
    asArgumentProblem(suppress!, { path: 'body.entries.0.value', message: message('field.required') }, 'arguments.')
      .path,
    'arguments.email',
  );
  t.is(
    asArgumentProblem(search!, { path: 'body.campaign_ids.0', message: message('field.required') }, '').path,
    'campaign_id',
  );
  t.is(
    asArgumentProblem(start!, { path: 'steps.5.body_plain', message: message('field.required') }, '').path,
    'steps.5.body_plain',
  );
  const spec = { name: 'x', title: 'x', description: 'x', route: start!.route };
  t.throws(() => defineTool({ ...spec, arguments: { colour: 'body.colour' } }).inputSchema, {
    message: /no body\.colour/,
  });
  t.throws(() => defineTool({ ...spec, arguments: { q: 'query.q' } }).inputSchema, { message: /no query\.q/ });
});

test('an email that waits for a person is 202, with its approval', async (t) => {
  const { deps } = world;
  const tenant = await world.tenant();
  const mailboxId = await createMailbox(deps, tenant.organizationId, 'agent@ours.test');
  const { apiKey } = await createApiKey(deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['SEND_DIRECT_EMAIL', 'WRITE_UNIBOX']),
  });
  const args = { mailbox_id: mailboxId, to: ['lea@else.test'], subject: 'Hello', body_plain: 'Hi' };
  const send = (token: string) =>
    call(world, 'POST', '/v1/ai/tools/send_email/call', { token, body: { arguments: args } });
  const held = await send(apiKey);
  assertStatus(t, held, 202);
  t.like(held.body.result, { result: 'awaiting_approval' });
  t.truthy(held.body.result.approval_id && held.body.result.approval_url);
  const cancelled = await call(world, 'POST', '/v1/ai/tools/cancel_email/call', {
    token: apiKey,
    body: { arguments: { task_id: held.body.result.task_id } },
  });
  assertStatus(t, cancelled, 200);
  const person = await send(tenant.sessionToken);
  t.like([person.status, person.body.result.result], [200, 'executed']);
});
