import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { rawDb } from '../../../test/harness/database.ts';
import type { Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';

/** Stub of the AI provider that returns the configured answer and records its requests. */
interface Provider {
  server: Server;
  url: string;
  asked: { headers: Record<string, unknown>; body: any }[];
  answer: { status: number; body: unknown };
  /** Called before the stub answers. */
  before?: () => void;
}

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let provider: Provider;
let world: World;
test.before(async () => {
  const asked: Provider['asked'] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => {
      provider.before?.();
      asked.push({ headers: request.headers, body: JSON.parse(text) });
      response.writeHead(provider.answer.status, { 'content-type': 'application/json' });
      response.end(
        typeof provider.answer.body === 'string' ? provider.answer.body : JSON.stringify(provider.answer.body),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  provider = { server, url, asked, answer: { status: 200, body: '' } };
  world = await createWorld({
    clock,
    env: { AI_BASE_URL: url, AI_MODEL: 'judge-1', AI_API_KEY: 'sk-secret', AI_TOKENS_PER_DAY: '6000' },
  });
});
test.after.always(async () => {
  await world?.close();
  provider?.server.close();
});

const ask = (tenant: Tenant, method: string, path: string, body?: unknown) =>
  call(world, method, `/v1/templates${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });

async function make(tenant: Tenant, ...names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push((await ask(tenant, 'POST', '', { name, subject: `About ${name}` })).body.id);
  return ids;
}

const names = async (tenant: Tenant, query = '') =>
  (await ask(tenant, 'GET', query)).body.data.map((row: { name: string; position: number }) => [
    row.name,
    row.position,
  ]);

test('templates keep an order without gaps, whoever makes, moves and deletes them at once', async (t) => {
  const tenant = await world.tenant();
  const [a, b, c, d] = await make(tenant, 'a', 'b', 'c', 'd');
  t.deepEqual(await names(tenant), [
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', 4],
  ]);
  assertStatus(t, await ask(tenant, 'PATCH', '/reorder', { ids: [d, a] }), 200);
  t.deepEqual(await names(tenant), [
    ['d', 1],
    ['b', 2],
    ['c', 3],
    ['a', 4],
  ]);
  assertStatus(t, await ask(tenant, 'DELETE', `/${b}`), 204);
  t.deepEqual(await names(tenant), [
    ['d', 1],
    ['c', 2],
    ['a', 3],
  ]);
  const copy = await ask(tenant, 'POST', `/${c}/duplicate`);
  t.like(copy.body, { name: 'c (copy)', subject: 'About c', position: 4 });
  await Promise.all([
    ...['e', 'f', 'g'].map((name) => ask(tenant, 'POST', '', { name })),
    ask(tenant, 'DELETE', `/${a}`),
    ask(tenant, 'PATCH', '/reorder', { ids: [c, d] }),
  ]);
  const positions = (await names(tenant)).map(([, position]: [string, number]) => position);
  t.deepEqual(positions, [1, 2, 3, 4, 5, 6]);
});

test('a list by a part of name or subject; an edit changes what it names', async (t) => {
  const tenant = await world.tenant();
  const [id] = await make(tenant, '100% Sure', 'Other');
  t.like((await ask(tenant, 'GET', `/${id}`)).body, { id, name: '100% Sure', position: 1 });
  t.deepEqual(await names(tenant, '?q=100%25'), [['100% Sure', 1]]);
  t.deepEqual(await names(tenant, '?q=ABOUT%20o'), [['Other', 2]]);
  const edited = await ask(tenant, 'PATCH', `/${id}`, { body_plain: 'Hi {{.FirstName}}' });
  t.like(edited.body, { name: '100% Sure', subject: 'About 100% Sure', body_plain: 'Hi {{.FirstName}}' });
});

test('bad input names every fault, and another workspace sees nothing', async (t) => {
  const tenant = await world.tenant();
  const [id] = await make(tenant, 'a');
  const paths = (answer: { body: any }) => answer.body.problems.map(({ path }: { path: string }) => path).sort();
  t.deepEqual(paths(await ask(tenant, 'POST', '', { name: ' ', subject: 7, nonsense: 1 })), [
    'body.name',
    'body.nonsense',
    'body.subject',
  ]);
  t.deepEqual(paths(await ask(tenant, 'PATCH', '/reorder', { ids: [id, id, newId()] })), ['body.ids.1', 'body.ids.2']);
  const other = await world.tenant();
  assertStatus(t, await ask(other, 'GET', `/${id}`), 404);
  assertStatus(t, await ask(other, 'PATCH', '/reorder', { ids: [id] }), 400);
  t.deepEqual(await names(other), []);
});

test('placeholders are filled, holes are empty, and HTML is escaped', async (t) => {
  const tenant = await world.tenant();
  const { body } = await ask(tenant, 'POST', '', {
    name: 'a',
    subject: 'For {{.Company}}',
    body_plain: 'Hi {{.FirstName}}{{.Missing}}!',
    body_html: '<p>Hi {{.FirstName}}</p>',
  });
  const render = (given?: unknown) => ask(tenant, 'POST', `/${body.id}/render`, given);
  t.deepEqual((await render({ variables: { FirstName: '<b>Lea</b>', Company: 'Acme' } })).body, {
    subject: 'For Acme',
    body_html: '<p>Hi &lt;b&gt;Lea&lt;/b&gt;</p>',
    body_plain: 'Hi <b>Lea</b>!',
  });
  t.deepEqual((await render({})).body, { subject: 'For ', body_html: '<p>Hi </p>', body_plain: 'Hi !' });
});

const judgement = (said: object, tokens = 900) => ({
  status: 200,
  body: {
    model: 'judge-1-2026',
    choices: [{ message: { content: JSON.stringify(said) } }],
    usage: { total_tokens: tokens },
  },
});

test.serial('a judgement is tied to the copy; what the provider makes up about it is left out', async (t) => {
  const tenant = await world.tenant();
  provider.answer = judgement({
    score: 41.6,
    verdict: 'Reads like an advertisement.',
    findings: [
      { severity: 'info', issue: 'Long', suggestion: 'Shorten it', category: 'structure' },
      { severity: 'high', text: 'act now', field: 'body', issue: 'Pressure', suggestion: 'Drop it', category: 'tone' },
      { severity: 'warn', text: 'words that are not there', issue: 'Odd', suggestion: '', category: 'nonsense' },
    ],
    suggested_subject: 'A question',
    improvements: ['Ask one thing'],
  });
  const { status, body } = await ask(tenant, 'POST', '/analyze', {
    subject: 'FREE',
    body_plain: 'Hello\nact now please',
  });
  t.is(status, 200);
  t.like(body, { score: 42, model: 'judge-1-2026', tokens_used: 900, credits_charged: 900, credits_remaining: 5100 });
  t.deepEqual(
    body.findings.map(({ severity }: { severity: string }) => severity),
    ['high', 'warn', 'info'],
  );
  t.like(body.findings[0], { field: 'body', text: 'act now', line: 2, excerpt: 'act now please' });
  t.false('text' in body.findings[1]);
  t.is(body.findings[1].category, 'tone');
  t.true(body.rules.score < 100);
  const [asked] = provider.asked.slice(-1);
  t.is(asked!.headers.authorization, 'Bearer sk-secret');
  t.is(asked!.body.model, 'judge-1');
});

test.serial('a day of a workspace is bounded, also when many ask at once; failures cost nothing', async (t) => {
  const tenant = await world.tenant();
  const analyze = () => ask(tenant, 'POST', '/analyze', { subject: 'Hi', body_plain: 'Hello' });
  for (const answer of [{ status: 500, body: 'no' }, { status: 200, body: 'no json' }, judgement({ nonsense: true })]) {
    provider.answer = answer;
    t.is((await analyze()).body.code, 'service_unavailable');
  }
  provider.answer = judgement({ score: 90, verdict: 'Fine' }, 2500);
  const answers = await Promise.all([analyze(), analyze(), analyze(), analyze(), analyze()]);
  const passed = answers.filter(({ status }) => status === 200).length;
  t.true(passed >= 1 && passed <= 2, String(passed));
  t.true(answers.every(({ status, body }) => status === 200 || body.code === 'usage_cap_exceeded'));
  assertStatus(t, await ask(await world.tenant(), 'POST', '/analyze', { subject: 'Hi' }), 200);
});

test.serial('an answer that comes after midnight is paid by the day on which it was asked for', async (t) => {
  const tenant = await world.tenant();
  provider.answer = judgement({ score: 90, verdict: 'Fine' }, 500);
  provider.before = () => clock.set(new Date('2026-03-03T00:00:01Z'));
  const { body } = await ask(tenant, 'POST', '/analyze', { subject: 'Hi' });
  delete provider.before;
  t.is(body.credits_remaining, 5500);
  const usage = await rawDb(world.deps.db)('ai_usage').where({ organization_id: tenant.organizationId });
  t.deepEqual(
    usage.map(({ tokens }) => Number(tokens)),
    [500],
  );
});

test.serial('without a provider the answer says what is missing', async (t) => {
  const without = await createWorld();
  try {
    const tenant = await without.tenant();
    const { status, body } = await call(without, 'POST', '/v1/templates/analyze', {
      token: tenant.apiKey,
      body: { subject: 'Hi' },
    });
    t.deepEqual([status, body.code], [503, 'ai_not_configured']);
    t.regex(body.fix, /AI_BASE_URL/);
  } finally {
    await without.close();
  }
});
