import test from 'ava';
import { newId } from '../../lib/ids.ts';
import { createMailbox, NO_SERVER } from '../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('text that cannot be kept and endless nesting are refused at the edge of every route, with their paths', async (t) => {
  const tenant = await world.tenant();
  const send = (method: string, path: string, body?: unknown) =>
    call(world, method, path, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });
  const settings = await send('PATCH', '/v1/outreach/settings', { settings: { unsubscribe: { text: 'a\0b' } } });
  assertStatus(t, settings, 400);
  t.true(settings.body.problems.some(({ path }: { path: string }) => path === 'body.settings.unsubscribe.text'));
  const contact = await send('POST', '/v1/contacts', [{ email: 'a@b.test', first_name: '\ud800' }]);
  t.like(contact.body.problems, [{ path: 'body.0.first_name', code: 'field.surrogate' }]);
  for (const [data, path] of [
    [{ a: 'x\0' }, 'body.data.a'],
    [{ 'k\0': 1 }, 'body.data'],
    [{ a: ['\udc00'] }, 'body.data.a.0'],
  ] as const) {
    const event = await send('POST', '/v1/events', { name: 'a', email: 'a@b.test', data });
    assertStatus(t, event, 400);
    t.true(
      event.body.problems.some((problem: { path: string }) => problem.path === path),
      path,
    );
  }
  assertStatus(t, await send('GET', '/v1/campaigns?q=%00'), 400);
  t.like((await send('GET', '/v1/crm/deals?limit=1&limit=2&status=won&status=lost')).body.problems, [
    { path: 'query.status', code: 'field.repeated' },
    { path: 'query.limit', code: 'field.repeated' },
  ]);
  const deep = `{"name":${'['.repeat(150_000)}${']'.repeat(150_000)}}`;
  const nested = await fetch(`${world.url}/v1/campaigns`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: deep,
  });
  t.is(nested.status, 400);
});

test('a body of a type that is not read is refused with what to send, and is not taken for none', async (t) => {
  const { apiKey } = await world.tenant();
  const send = (path: string, type: string | undefined, body: string | Uint8Array) =>
    fetch(world.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, ...(type ? { 'content-type': type } : {}) },
      body,
    });
  const won = '{"statuses":["won"]}';
  // Content types of `curl -d`, of `fetch` with a text, and of a client that sets none.
  for (const [type, body] of [
    ['application/x-www-form-urlencoded', won],
    ['text/plain', won],
    [undefined, Buffer.from(won)],
  ] as const) {
    const answer = await send('/v1/crm/deals/search', type, body);
    t.is(answer.status, 400, type);
    const { problems, fix } = (await answer.json()) as { problems: { path: string }[]; fix: string };
    t.deepEqual(
      problems.map(({ path }) => path),
      ['headers.Content-Type'],
    );
    t.regex(fix, /Content-Type: application\/json/);
  }
  for (const type of ['application/json', 'application/json; charset=utf-8', 'application/vnd.api+json'])
    t.is((await send('/v1/crm/deals/search', type, won)).status, 200, type);
  for (const [body, place] of [
    ['{"statuses":["won"]', /character 20$/],
    ['{"statuses":[won]}', /^The body is not valid JSON/],
    ['"won"', /object or list$/],
  ] as const) {
    const answer = await send('/v1/crm/deals/search', 'application/json', body);
    t.is(answer.status, 400);
    t.regex(((await answer.json()) as { message: string }).message, place);
  }
  const list = await send('/v1/contacts/import/preview', 'text/csv', 'email\na@b.test');
  t.is(list.status, 400);
  t.regex(((await list.json()) as { fix: string }).fix, /multipart/);
});

test('a number that is not whole hides no rule about several fields', async (t) => {
  const tenant = await world.tenant();
  const policy = {
    name: 'Both',
    capabilities: [],
    mailbox_ids: [],
    max_recipients_per_run: 1.5,
    max_actions_per_day: 2.5,
  };
  const answer = await call(world, 'POST', '/v1/agent-policies', { token: tenant.sessionToken, body: policy });
  assertStatus(t, answer, 400);
  t.deepEqual(answer.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.api_key_id',
    'body.expires_at',
    'body.mailbox_ids',
    'body.max_actions_per_day',
    'body.max_recipients_per_day',
    'body.max_recipients_per_run',
  ]);
});

test('a method that a path does not take is refused with those that it takes', async (t) => {
  const fixOf = async (method: string, path: string) => {
    const { status, body } = await call(world, method, path);
    t.is(status, 404);
    return body.fix;
  };
  t.is(await fixOf('PUT', '/v1/goals'), 'This path takes GET and POST.');
  t.is(await fixOf('POST', `/v1/templates/${newId()}`), 'This path takes DELETE, GET, and PATCH.');
  t.is(await fixOf('GET', '/v1/nowhere'), 'See /docs for every endpoint.');
});

test('an id in capitals in a path names the same row, and the same run', async (t) => {
  const tenant = await world.tenant();
  const id = await createMailbox(world.deps, tenant.organizationId, 'capitals@b.test', {
    ...NO_SERVER,
    imap: NO_SERVER.smtp,
  });
  const path = `/v1/emails/${id.toUpperCase()}/warmup/start`;
  const { status, text } = await call(world, 'POST', path, { token: tenant.apiKey });
  t.is(status, 200, text);
  const runs = await world.deps.db('outbox').whereILike('workflow_id', `%${id}%`).pluck('workflow_id');
  t.deepEqual(
    runs.map((run) => run.split('/').at(-1)),
    [id],
  );
});
