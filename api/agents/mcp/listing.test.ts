import { request } from 'node:http';
import test from 'ava';
import { ProtocolError } from '@modelcontextprotocol/client';
import { createCampaign } from '../../../test/harness/factories.ts';
import { connectMcp, type McpProgram } from '../../../test/harness/mcp.ts';
import { call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const connect = (token: string, path = '/mcp?groups=all'): Promise<McpProgram> => connectMcp(world.url + path, token);

/** Sends one message without the SDK, in a protocol revision before 2026-07-28. */
const post = (token: string, body: unknown, headers: Record<string, string> = {}, path = '/mcp'): Promise<Answer> =>
  call(world, 'POST', path, {
    token,
    body,
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
  });
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

test('a client that does not know structured answers gets text, every other one gets them once', async (t) => {
  const tenant = await world.tenant();
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_contacts', arguments: {} } };
  const old = (await post(tenant.apiKey, body)).body.result;
  t.is(old.structuredContent, undefined);
  t.deepEqual(JSON.parse(old.content[0].text).data, []);
  const known = (await post(tenant.apiKey, body, { 'mcp-protocol-version': '2025-11-25' })).body.result;
  t.deepEqual(known.structuredContent.data, []);
  t.true(known.content[0].text.length < 50);
  const program = await connect(tenant.apiKey);
  const modern = await program.call('search_contacts');
  t.deepEqual(modern.data.data, []);
  t.true(modern.text.length < 50);
  await program.close();
});

test('the list of a caller who may do everything has at most 25 kB, and other groups are reached on demand', async (t) => {
  const tenant = await world.tenant();
  const program = await connect(tenant.apiKey, '/mcp');
  const listed = (await program.client.listTools()).tools;
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  t.true(bytes <= 25_000, `${bytes} bytes`);
  const names = listed.map(({ name }) => name);
  t.is(names.indexOf('create_deal'), -1);
  const { tools } = (await program.call('list_tools', { group: 'crm' })).data;
  const described = tools.map(({ name }: { name: string }) => name);
  t.true(described.includes('create_deal') && described.includes('list_pipelines'));
  const pipelines = await program.call('call_tool', { name: 'list_pipelines', arguments: {} });
  t.deepEqual(pipelines.data, (await program.call('list_pipelines')).data);
  t.is((await program.call('call_tool', { name: 'create_deal', arguments: {} })).data.code, 'bad_request');
  const unknown = await t.throwsAsync(program.call('call_tool', { name: 'drop_table', arguments: {} }), {
    instanceOf: ProtocolError,
  });
  t.is(unknown.code, -32602);
  await program.close();

  const some = await connect(tenant.apiKey, '/mcp?groups=crm,events');
  const more = await some.toolNames();
  t.true(more.includes('create_deal') && more.includes('publish_event') && more.includes('list_tools'));
  t.false(more.includes('get_workspace_report'));
  await some.close();
  const all = await (await connect(tenant.apiKey)).toolNames();
  t.deepEqual(
    all.filter((name) => ['list_tools', 'call_tool'].includes(name)),
    [],
  );
  t.is((await post(tenant.apiKey, ping, {}, '/mcp?groups=none')).status, 400);
});

test('an agent that reads a request to be left alone can obey it', async (t) => {
  const tenant = await world.tenant();
  const { campaignId } = await createCampaign(
    world.deps,
    tenant.organizationId,
    [{ subject: 'Hello', body_plain: 'Hi' }],
    { status: 'draft' },
  );
  const program = await connect(tenant.apiKey, '/mcp');
  const { result: made } = (
    await program.call('add_contacts', { contacts: [{ email: 'lea@lead.test', campaigns: [campaignId] }] })
  ).data;
  const held = await program.call('stop_lead', { campaign_id: campaignId, contact_id: made[0].id, reason: 'asked' });
  t.like(held.data.hold, { reason: 'asked' });
  t.like((await program.call('suppress_contact', { email: 'lea@lead.test', reason: 'remove me' })).data, { added: 1 });
  const contact = (await program.call('get_contact', { contact_id: made[0].id })).data;
  t.false(contact.subscribed);
  t.like(contact.suppression, { reason: 'remove me' });
  await program.close();
});

test('on this machine a foreign Host is refused, as DNS rebinding would bring it', async (t) => {
  const { apiKey: token } = await world.tenant();
  const withHost = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = {
        host,
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      };
      const sent = request(`${world.url}/mcp`, { method: 'POST', headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode!));
      });
      sent.once('error', reject);
      sent.end(JSON.stringify(ping));
    });
  for (const host of ['localhost', '127.0.0.1:8080', '[::1]:1', 'LOCALHOST:9']) t.is(await withHost(host), 200, host);
  for (const host of ['evil.example.com', 'localhost.evil.example.com', '127.0.0.1.evil.example:80'])
    t.is(await withHost(host), 403, host);
});
