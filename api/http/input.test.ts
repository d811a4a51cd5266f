import test from 'ava';
import { createMailbox, NO_SERVER } from '../../test/harness/factories.ts';
import { call, createWorld, type World } from '../../test/harness/world.ts';

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
  t.is(settings.status, 400, settings.text);
  t.true(settings.body.problems.some(({ path }: { path: string }) => path === 'body.settings.unsubscribe.text'));
  const contact = await send('POST', '/v1/contacts', [{ email: 'a@b.test', first_name: '\ud800' }]);
  t.deepEqual(contact.body.problems, [{ path: 'body.0.first_name', message: 'Contains half of a surrogate pair' }]);
  for (const [data, path] of [
    [{ a: 'x\0' }, 'body.data.a'],
    [{ 'k\0': 1 }, 'body.data'],
    [{ a: ['\udc00'] }, 'body.data.a.0'],
  ] as const) {
    const event = await send('POST', '/v1/events', { name: 'a', email: 'a@b.test', data });
    t.is(event.status, 400);
    t.true(
      event.body.problems.some((problem: { path: string }) => problem.path === path),
      path,
    );
  }
  t.is((await send('GET', '/v1/campaigns?q=%00')).status, 400);
  const deep = `{"name":${'['.repeat(150_000)}${']'.repeat(150_000)}}`;
  const nested = await fetch(`${world.url}/v1/campaigns`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: deep,
  });
  t.is(nested.status, 400);
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
  t.is(answer.status, 400);
  t.deepEqual(answer.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.api_key_id',
    'body.expires_at',
    'body.mailbox_ids',
    'body.max_actions_per_day',
    'body.max_recipients_per_day',
    'body.max_recipients_per_run',
  ]);
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
