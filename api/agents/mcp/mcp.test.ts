import { Agent, request } from 'node:http';
import test from 'ava';
import { ProtocolError } from '@modelcontextprotocol/client';
import { newId } from '../../../lib/ids.ts';
import { maskOf, PRESETS } from '../../../lib/permissions.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  createMember,
  type KeyOptions,
  type Tenant,
} from '../../../test/harness/factories.ts';
import { allowEverything } from '../../../test/harness/approvals.ts';
import { connectMcp, type McpProgram } from '../../../test/harness/mcp.ts';
import { createAccessToken } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const connect = (token: string, path = '/mcp?groups=all'): Promise<McpProgram> => connectMcp(world.url + path, token);
const rest = (tenant: Tenant, method: string, path: string, body?: unknown): Promise<Answer> =>
  call(world, method, `/v1${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });
const keyWith = async (tenant: Tenant, options: KeyOptions): Promise<string> =>
  (await createApiKey(world.deps, tenant.organizationId, tenant.userId, options)).apiKey;
const mailbox = (tenant: Tenant, email = `${newId()}@example.com`) =>
  createMailbox(world.deps, tenant.organizationId, email);
const paths = (data: { problems?: { path: string }[] }) => (data.problems ?? []).map(({ path }) => path).sort();

/** Sends one message without the SDK, with the headers that the transport requires. */
function post(token: string | undefined, message: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(world, 'POST', '/mcp', {
    ...(token ? { token } : {}),
    body: message,
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
  });
}
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

test("the protocol's own client connects below the root and below /v1, and learns the server's name", async (t) => {
  const tenant = await world.tenant();
  for (const path of ['/mcp', '/v1/mcp'])
    for (const era of ['auto', 'legacy'] as const) {
      const { client, close } = await connectMcp(world.url + path, tenant.apiKey, era);
      t.is(client.getProtocolEra(), era === 'auto' ? 'modern' : 'legacy');
      t.like(client.getServerVersion(), { name: 'heron', title: 'Heron' });
      t.deepEqual(client.getServerCapabilities(), { tools: {} });
      t.regex(client.getInstructions() ?? '', /start_campaign/);
      t.true((await client.listTools()).tools.length > 20, era);
      await close();
    }
});

test('tools are those the credential may call, with schemas and hints', async (t) => {
  const tenant = await world.tenant();
  const all = await connect(tenant.apiKey);
  const { tools } = await all.client.listTools();
  const asked = [
    'list_mailboxes',
    'get_mailbox',
    'list_campaigns',
    'get_campaign',
    'get_campaign_log',
    'search_contacts',
    'get_contact',
    'list_threads',
    'get_thread',
    'create_campaign_draft',
    'add_campaign_step',
    'add_contacts',
    'suppress_contact',
    'stop_lead',
    'add_contacts_to_campaign',
    'validate_campaign',
    'preflight_campaign',
    'test_campaign',
    'get_test_run',
    'list_test_runs',
    'cancel_test_run',
    'start_campaign',
    'publish_event',
    'search_leads',
    'get_policy',
    'get_campaign_report',
    'get_workspace_report',
    'get_outcomes_report',
  ];
  t.deepEqual(
    asked.filter((name) => !tools.some((tool) => tool.name === name)),
    [],
  );
  for (const tool of tools) {
    t.is(tool.inputSchema.type, 'object', tool.name);
    t.true((tool.description ?? '').length > 40, tool.name);
    t.is(tool.inputSchema.additionalProperties, false, tool.name);
    t.is(tool.outputSchema?.type, 'object', tool.name);
  }
  t.like(
    tools.find(({ name }) => name === 'get_campaign'),
    {
      annotations: { readOnlyHint: true, openWorldHint: false },
      inputSchema: { required: ['campaign_id'] },
    },
  );
  t.like(
    tools.find(({ name }) => name === 'start_campaign'),
    { annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true } },
  );
  t.like(
    tools.find(({ name }) => name === 'add_contacts'),
    { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true } },
  );
  t.deepEqual(tools.find(({ name }) => name === 'publish_event')?.inputSchema.required, ['name', 'idempotency_key']);
  await all.close();

  const reader = await connect(await keyWith(tenant, { permissions: PRESETS.read_only }));
  const readable = await reader.toolNames();
  t.true(readable.includes('list_campaigns') && readable.includes('validate_campaign'));
  t.deepEqual(
    readable.filter((name) => /^(create|add|update|preflight|test|cancel|start|stop|publish)_|thread/.test(name)),
    [],
  );
  await reader.close();

  const viewer = await createMember(world.deps, tenant, 'Viewer');
  const person = await connect(viewer.sessionToken);
  t.deepEqual(
    (await person.toolNames()).filter((name) => !/^(list|get|search|validate)_/.test(name)),
    [],
  );
  await person.close();

  const none = await connect(await keyWith(tenant, { permissions: 0 }));
  t.deepEqual(await none.toolNames(), ['get_policy']);
  await none.close();
});

test('reads give what the endpoints give', async (t) => {
  const tenant = await world.tenant();
  const box = await mailbox(tenant);
  const { campaignId } = await createCampaign(
    world.deps,
    tenant.organizationId,
    [{ subject: 'Hello', body_plain: 'Hi' }],
    { status: 'draft' },
  );
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, {
    email: 'lea@lead.test',
    first_name: 'Lea',
  });
  await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email: 'max@lead.test' });
  const program = await connect(tenant.apiKey);
  const same = async (tool: string, args: Record<string, unknown>, method: string, path: string, body?: unknown) => {
    const [answer, expected] = [await program.call(tool, args), await rest(tenant, method, path, body)];
    t.is(expected.status, 200, path);
    t.false(answer.isError, `${tool}: ${answer.text}`);
    t.deepEqual(Array.isArray(expected.body) ? answer.data.result : answer.data, expected.body, tool);
  };
  await same('list_mailboxes', {}, 'GET', '/emails');
  await same('get_mailbox', { mailbox_id: box }, 'GET', `/emails/${box}`);
  await same(
    'list_campaigns',
    { q: 'Spring', status: 'draft', limit: 5 },
    'GET',
    '/campaigns?q=Spring&status=draft&limit=5',
  );
  await same('get_campaign', { campaign_id: campaignId }, 'GET', `/campaigns/${campaignId}`);
  await same('list_campaign_steps', { campaign_id: campaignId }, 'GET', `/campaigns/${campaignId}/steps`);
  await same('search_contacts', { limit: 1 }, 'POST', '/contacts/search?limit=1', {});
  await same('search_contacts', { query: 'lea@', limit: 2 }, 'POST', '/contacts/search?limit=2', { query: 'lea@' });
  await same('get_contact', { contact_id: contactId }, 'GET', `/contacts/${contactId}`);
  await same('search_leads', { campaign_id: campaignId, lead_status: 'active' }, 'POST', '/contacts/search', {
    campaign_ids: [campaignId],
    lead_status: 'active',
  });
  await same('list_threads', { unseen: true }, 'GET', '/unibox?unseen=true');
  await same('validate_campaign', { campaign_id: campaignId }, 'POST', `/campaigns/${campaignId}/validate`);
  const first = await program.call('search_contacts', { limit: 1 });
  const second = await program.call('search_contacts', { limit: 1, cursor: first.data.pagination.next_cursor });
  t.is(second.data.data.length, 1);
  t.not(second.data.data[0].id, first.data.data[0].id);
  await program.close();
});

test('a campaign from draft to start, by tools alone', async (t) => {
  const tenant = await world.tenant();
  await mailbox(tenant);
  const program = await connect(tenant.apiKey);
  const done = async (tool: string, args: Record<string, unknown>) => {
    const answer = await program.call(tool, args);
    t.false(answer.isError, `${tool}: ${answer.text}`);
    return answer.data;
  };
  const draft = await done('create_campaign_draft', {
    name: 'Autumn',
    timezone: 'Europe/Berlin',
    daily_limit: 20,
    steps: [{ subject: 'Hello', body_plain: 'Hi {{.FirstName | default "there"}}' }],
  });
  t.like(draft, { name: 'Autumn', status: 'draft', timezone: 'Europe/Berlin', daily_limit: 20 });
  const step = await done('add_campaign_step', {
    campaign_id: draft.id,
    body_plain: 'Just asking again',
    wait_after: 4,
  });
  t.like(step, { kind: 'email', subject: '', body_plain: 'Just asking again', wait_after: 4, thread_reply: true });
  t.like(await done('update_campaign_step', { campaign_id: draft.id, step_id: step.id, wait_after: 5 }), {
    id: step.id,
    wait_after: 5,
    body_plain: 'Just asking again',
  });

  const before = await done('validate_campaign', { campaign_id: draft.id });
  t.deepEqual(
    [before.valid, before.problems.map(({ code }: { code: string }) => code)],
    [false, ['campaign_no_contacts']],
  );
  const refused = await program.call('start_campaign', { campaign_id: draft.id });
  t.true(refused.isError);
  t.like(refused.data, { code: 'no_leads' });
  t.truthy(refused.data.fix);

  const {
    result: [lea],
  } = await done('add_contacts', {
    contacts: [{ email: 'Lea <LEA@lead.test>', first_name: 'Lea', custom_fields: { plan: 'pro' } }],
  });
  t.like(lea, { email: 'lea@lead.test', first_name: 'Lea', custom_fields: { plan: 'pro' } });
  const { result: two } = await done('add_contacts', {
    contacts: [{ email: 'max@lead.test' }, { email: 'mia@lead.test' }],
  });
  t.deepEqual(
    await done('add_contacts_to_campaign', {
      campaign_id: draft.id,
      contact_ids: [lea.id, ...two.map(({ id }: { id: string }) => id)],
    }),
    { added: 3, already: 0 },
  );
  t.deepEqual(await done('validate_campaign', { campaign_id: draft.id }), {
    campaign_id: draft.id,
    valid: true,
    problems: [],
  });
  const held = await done('start_campaign', { campaign_id: draft.id });
  t.like(held, { result: 'awaiting_approval', reasons: [{ code: 'no_policy' }] });
  t.regex(held.approval_url, new RegExp(`/approvals/${held.approval_id}$`));
  await allowEverything(world.deps, tenant);
  t.deepEqual(await done('start_campaign', { campaign_id: draft.id }), { status: 'started' });
  t.is((await rest(tenant, 'GET', `/campaigns/${draft.id}`)).body.status, 'active');
  t.is((await done('search_leads', { campaign_id: draft.id })).data.length, 3);

  const event = { name: 'signup.completed', email: 'lea@lead.test', data: { plan: 'pro' }, idempotency_key: newId() };
  const published = await done('publish_event', event);
  t.like(published, { contact_id: lea.id, name: 'signup.completed' });
  t.deepEqual(await done('publish_event', event), published);
  t.is((await rest(tenant, 'GET', '/events')).body.data.length, 1);
  t.deepEqual(await done('stop_campaign', { campaign_id: draft.id }), { status: 'stopped' });
  await program.close();
});

test('bad arguments: every fault is named by its argument, and nothing is done', async (t) => {
  const tenant = await world.tenant();
  const program = await connect(tenant.apiKey);
  const faults = async (tool: string, args: Record<string, unknown>) => {
    const answer = await program.call(tool, args);
    t.true(answer.isError, tool);
    t.is(answer.data.code, 'bad_request', answer.text);
    return paths(answer.data);
  };
  t.deepEqual(await faults('get_campaign', {}), ['arguments.campaign_id']);
  t.deepEqual(
    await faults('list_campaigns', { limit: 0, status: 'flying', q: 7, colour: 'red', color: 'red' }),
    ['arguments.color', 'arguments.colour', 'arguments.limit', 'arguments.status'].sort(),
  );
  t.deepEqual(await faults('search_leads', { query: 5, constructor: 1 }), [
    'arguments.campaign_id',
    'arguments.constructor',
    'arguments.query',
  ]);
  t.deepEqual(
    await faults('create_campaign_draft', { name: '', daily_limit: 0, steps: [{ subject: 5 }, { wait_after: 99 }] }),
    ['arguments.daily_limit', 'arguments.name', 'arguments.steps.0.subject', 'arguments.steps.1.wait_after'],
  );
  t.deepEqual(
    await faults('add_contacts', { contacts: [{ email: 'nobody', custom_fields: { a: 1 } }], nickname: 'x' }),
    ['arguments.contacts.0.custom_fields.a', 'arguments.contacts.0.email', 'arguments.nickname'],
  );
  t.deepEqual(await faults('add_contacts', { contacts: [{ email: 'ok@example.com' }, { email: 'bad' }] }), [
    'arguments.contacts.1.email',
  ]);
  t.deepEqual(await faults('add_contacts', { contacts: 'all' }), ['arguments.contacts']);
  t.deepEqual(await faults('publish_event', { name: 'a.b', email: 'x@example.com' }), ['arguments.idempotency_key']);
  t.deepEqual(await faults('publish_event', { name: 'A B' }), [
    'arguments.contact_id',
    'arguments.email',
    'arguments.idempotency_key',
    'arguments.name',
  ]);
  t.deepEqual(
    await faults('publish_event', { name: 'A B', email: 'x@example.com', contact_id: newId(), idempotency_key: 5 }),
    ['arguments.contact_id', 'arguments.email', 'arguments.idempotency_key', 'arguments.name'],
  );
  t.deepEqual(
    await faults('add_contacts', { contacts: [{ email: 'a@example.com' }], idempotency_key: 'k'.repeat(256) }),
    ['arguments.idempotency_key'],
  );
  t.deepEqual((await rest(tenant, 'GET', '/contacts')).body.data, []);
  t.deepEqual((await rest(tenant, 'GET', '/campaigns')).body.data, []);
  await program.close();
});

test('a tool that is none is a fault of the protocol', async (t) => {
  const program = await connect((await world.tenant()).apiKey);
  const error = await t.throwsAsync(program.call('drop_table'), { instanceOf: ProtocolError });
  t.is(error.code, -32602);
  await program.close();
});

test("another workspace's ids are not found", async (t) => {
  const [own, other] = [await world.tenant(), await world.tenant()];
  const box = await mailbox(other);
  const { campaignId } = await createCampaign(
    world.deps,
    other.organizationId,
    [{ subject: 'Hello', body_plain: 'Hi' }],
    { status: 'draft' },
  );
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), other.organizationId);
  const program = await connect(own.apiKey);
  const calls: [string, Record<string, unknown>][] = [
    ['get_mailbox', { mailbox_id: box }],
    ['get_campaign', { campaign_id: campaignId }],
    ['get_campaign_log', { campaign_id: campaignId }],
    ['list_campaign_steps', { campaign_id: campaignId }],
    ['get_contact', { contact_id: contactId }],
    ['add_campaign_step', { campaign_id: campaignId, subject: 'x' }],
    ['validate_campaign', { campaign_id: campaignId }],
    ['add_contacts_to_campaign', { campaign_id: campaignId, contact_ids: [contactId] }],
    ['preflight_campaign', { campaign_id: campaignId }],
    ['test_campaign', { campaign_id: campaignId, prospect_email: 'me@example.com' }],
    ['list_test_runs', { campaign_id: campaignId }],
    ['start_campaign', { campaign_id: campaignId }],
    ['stop_campaign', { campaign_id: campaignId }],
    ['get_thread', { thread_id: '<nobody@nowhere>' }],
    ['get_campaign', { campaign_id: 'not-an-id' }],
  ];
  for (const [name, args] of calls) {
    const answer = await program.call(name, args);
    t.deepEqual([answer.isError, answer.data.code], [true, 'not_found'], `${name}: ${answer.text}`);
  }
  const event = await program.call('publish_event', { name: 'a.b', contact_id: contactId, idempotency_key: newId() });
  t.is(event.data.code, 'event_contact_not_found');
  t.deepEqual((await program.call('search_leads', { campaign_id: campaignId })).data.data, []);
  await program.close();
});

test('a key keeps its restrictions: scopes, mailboxes, rate', async (t) => {
  const tenant = await world.tenant();
  const [mine, theirs] = [await mailbox(tenant), await mailbox(tenant)];
  const narrow = await connect(
    await keyWith(tenant, { permissions: maskOf(['READ_EMAILS']), allowedMailboxes: [mine] }),
  );
  t.deepEqual(
    (await narrow.call('list_mailboxes')).data.data.map(({ id }: { id: string }) => id),
    [mine],
  );
  t.false((await narrow.call('get_mailbox', { mailbox_id: mine })).isError);
  t.like((await narrow.call('get_mailbox', { mailbox_id: theirs })).data, { code: 'forbidden' });
  const scope = await narrow.call('search_contacts', { colour: 'red' });
  t.true(scope.isError);
  t.like(scope.data, { code: 'forbidden' });
  t.regex(scope.data.message, /READ_CONTACTS/);
  await narrow.close();

  const slow = await keyWith(tenant, { ratePerMinute: 3 });
  const statuses = [];
  for (let i = 0; i < 4; i += 1) statuses.push((await post(slow, ping)).status);
  t.deepEqual(statuses, [200, 200, 200, 429]);
  const over = await post(slow, ping);
  t.is(over.body.code, 'rate_limit_exceeded');
  t.truthy(over.headers.get('retry-after'));
});

test("writes count against the workspace's write limit, reads do not", async (t) => {
  const strict = await createWorld({ env: { ORG_WRITES_PER_MINUTE: '2' } });
  t.teardown(() => strict.close());
  const tenant = await strict.tenant();
  const program = await connectMcp(`${strict.url}/mcp`, tenant.apiKey);
  for (let i = 0; i < 5; i += 1) t.false((await program.call('search_contacts')).isError);
  const added = [];
  for (let i = 0; i < 3; i += 1)
    added.push(await program.call('add_contacts', { contacts: [{ email: `n${i}@example.com` }] }));
  t.deepEqual(
    added.map(({ isError }) => isError),
    [false, false, true],
  );
  t.is(added[2]!.data.code, 'rate_limit_exceeded');
  t.is(typeof added[2]!.data.retry_after, 'number');
  t.is((await program.call('search_contacts')).data.data.length, 2);
  await program.close();
});

test('an idempotency key repeats the first answer, over tools and endpoint alike', async (t) => {
  const tenant = await world.tenant();
  const program = await connect(tenant.apiKey);
  const key = newId();
  const first = await program.call('create_campaign_draft', { name: 'Once', idempotency_key: key });
  t.deepEqual(await program.call('create_campaign_draft', { name: 'Once', idempotency_key: key }), first);
  const over = await call(world, 'POST', '/v1/campaigns', {
    token: tenant.apiKey,
    body: { name: 'Once' },
    headers: { 'idempotency-key': key },
  });
  t.deepEqual([over.status, over.headers.get('idempotent-replayed'), over.body.id], [201, 'true', first.data.id]);
  t.like((await program.call('create_campaign_draft', { name: 'Other', idempotency_key: key })).data, {
    code: 'conflict',
  });
  t.is((await rest(tenant, 'GET', '/campaigns')).body.data.length, 1);
  await program.close();
});

test('many programs at once, of two workspaces, see their own', async (t) => {
  const tenants = [await world.tenant(), await world.tenant()];
  const programs = await Promise.all(Array.from({ length: 10 }, (_, i) => connect(tenants[i % 2]!.apiKey)));
  await Promise.all(
    programs.map((program, i) =>
      Promise.all(
        Array.from({ length: 5 }, (_, n) =>
          program.call('add_contacts', { contacts: [{ email: `p${i}n${n}@example.com` }] }),
        ),
      ),
    ),
  );
  const seen = await Promise.all(programs.map((program) => program.call('search_contacts', { limit: 100 })));
  for (const [i, answer] of seen.entries()) {
    const emails = answer.data.data.map(({ email }: { email: string }) => email);
    t.is(emails.length, 25);
    t.true(emails.every((email: string) => Number(email[1]) % 2 === i % 2));
  }
  await Promise.all(programs.map((program) => program.close()));
});

test('without a credential: 401 and the way to one', async (t) => {
  const tenant = await world.tenant();
  for (const [path, metadata] of [
    ['/mcp', '/mcp'],
    ['/v1/mcp', '/v1/mcp'],
  ]) {
    const answer = await call(world, 'POST', path!, { body: ping });
    assertStatus(t, answer, 401);
    t.regex(
      answer.headers.get('www-authenticate') ?? '',
      new RegExp(
        `^Bearer scope="[a-z_ ]*write_contacts[a-z_ ]*", resource_metadata="http://127.0.0.1:8080/.well-known/oauth-protected-resource${metadata}"$`,
      ),
    );
  }
  const expired = await keyWith(tenant, { expiresAt: new Date(world.deps.clock.now().getTime() - 1000) });
  for (const token of [expired, 'ssk_none', 'ssat_none']) {
    const answer = await post(token, ping);
    assertStatus(t, answer, 401);
    t.regex(
      answer.headers.get('www-authenticate') ?? '',
      /^Bearer error="invalid_token", .*scope="[a-z_ ]+", resource_metadata="[^"]+\/mcp"$/,
    );
  }
  assertStatus(t, await post(await keyWith(tenant, { allowedIps: ['203.0.113.1'] }), ping), 403);
  assertStatus(t, await post(undefined, ping, { authorization: 'Basic eA==' }), 401);
  assertStatus(t, await call(world, 'POST', `/mcp?access_token=${tenant.apiKey}`, { body: ping }), 401);
});

test('what is not the protocol is refused in its terms', async (t) => {
  const { apiKey: token } = await world.tenant();
  const refusal = async (status: number, code: number, answer: Promise<Answer>) => {
    const { status: got, body } = await answer;
    t.deepEqual([got, body.error?.code, body.jsonrpc], [status, code, '2.0']);
  };
  await refusal(405, -32000, call(world, 'GET', '/mcp', { token, headers: { accept: 'text/event-stream' } }));
  await refusal(405, -32000, call(world, 'DELETE', '/v1/mcp', { token }));
  await refusal(405, -32000, call(world, 'PUT', '/mcp/', { token, body: ping }));
  t.is((await call(world, 'GET', '/mcp')).headers.get('allow'), 'POST');
  await refusal(406, -32000, post(token, ping, { accept: 'application/json' }));
  await refusal(415, -32000, post(token, JSON.stringify(ping), { 'content-type': 'text/plain' }));
  await refusal(400, -32700, post(token, '{"jsonrpc":'));
  await refusal(400, -32600, post(token, { hello: 'world' }));
  await refusal(400, -32600, post(token, [ping, ping]));
  await refusal(400, -32000, post(token, ping, { 'mcp-protocol-version': '1999-01-01' }));
  await refusal(413, -32000, post(token, JSON.stringify({ ...ping, params: { pad: 'x'.repeat(5 * 1024 * 1024) } })));
  await refusal(200, -32601, post(token, { ...ping, method: 'no/such' }));
  const notified = await post(token, { jsonrpc: '2.0', method: 'notifications/initialized' });
  t.deepEqual([notified.status, notified.text], [202, '']);
  const answered = await post(token, ping);
  t.deepEqual(
    [answered.status, answered.body, answered.headers.get('cache-control')],
    [200, { jsonrpc: '2.0', id: 1, result: {} }, 'no-store'],
  );
});

test('a message that is too large does not stand in the way of the next one on its connection', async (t) => {
  const { apiKey: token } = await world.tenant();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const send = (body: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      };
      const sent = request(`${world.url}/mcp`, { method: 'POST', agent, headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode!));
      });
      sent.once('error', reject);
      sent.end(body);
    });
  const statuses = [];
  for (let i = 0; i < 3; i += 1) {
    statuses.push(
      await send(JSON.stringify({ ...ping, params: { pad: 'x'.repeat(8 * 1024 * 1024) } })),
      await send(JSON.stringify(ping)),
    );
  }
  t.deepEqual(statuses, [413, 200, 413, 200, 413, 200]);
});

test('an access token opens what was granted; for more, the refusal names the scopes to ask for', async (t) => {
  const tenant = await world.tenant();
  const { campaignId } = await createCampaign(
    world.deps,
    tenant.organizationId,
    [{ subject: 'Hello', body_plain: 'Hi' }],
    { status: 'draft' },
  );
  const { accessToken } = await createAccessToken(world, tenant, ['READ_CAMPAIGNS']);
  const program = await connect(accessToken);
  const names = await program.toolNames();
  t.true(names.includes('get_campaign') && names.includes('validate_campaign'));
  t.deepEqual(
    names.filter((name) => /contact|mailbox|thread|create|add|start/.test(name)),
    [],
  );
  t.is((await program.call('get_campaign', { campaign_id: campaignId })).data.id, campaignId);
  await program.close();
  const more = await post(accessToken, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'create_campaign_draft', arguments: { name: 'More' } },
  });
  t.deepEqual([more.status, more.body.code], [403, 'forbidden']);
  t.is(
    more.headers.get('www-authenticate'),
    'Bearer error="insufficient_scope", scope="read_campaigns write_campaigns", resource_metadata="http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp"',
  );
  t.is((await rest(tenant, 'GET', '/campaigns')).body.data.length, 1);
});

test('a page of any site is served with a credential of its own, and only so', async (t) => {
  const { apiKey: token } = await world.tenant();
  const headers = { accept: 'application/json, text/event-stream', origin: 'https://inspector.example' };
  const answer = await call(world, 'POST', '/mcp', { token, body: ping, headers });
  t.is(answer.status, 200);
  t.is(answer.headers.get('access-control-allow-origin'), '*');
  t.is((await call(world, 'POST', '/mcp', { body: ping, headers })).status, 401);
});

test('calls are in the usage of the key', async (t) => {
  const tenant = await world.tenant();
  const program = await connect(tenant.apiKey);
  await program.call('search_contacts');
  await program.close();
  await world.usage.flush();
  const logs = await call(world, 'GET', `/v1/api-keys/${tenant.apiKeyId}/logs`, { token: tenant.sessionToken });
  const used = logs.body.data.filter(({ endpoint }: { endpoint: string }) => endpoint === '/mcp');
  t.true(used.length >= 2);
  t.true(used.every((entry: Record<string, unknown>) => entry.method === 'POST'));
});
