import test from 'ava';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { basic, createApplication, createFlow, refused, token } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('a confidential client proves itself in exactly one way', async (t) => {
  const owner = await world.tenant();
  const client = await createApplication(world.deps, owner.organizationId);
  const other = await createApplication(world.deps, owner.organizationId);
  const it = await createFlow(world, { client });
  const { client_id: _id, ...anonymous } = it.form;
  const right = basic(client);
  for (const [what, form, headers, status, error] of [
    ['nobody', anonymous, {}, 401, 'invalid_client'],
    ['no secret', it.form, {}, 401, 'invalid_client'],
    ['an empty secret', { ...it.form, client_secret: '' }, {}, 401, 'invalid_client'],
    ['a wrong secret', { ...it.form, client_secret: newSecret(SECRET_PREFIX.clientSecret) }, {}, 401, 'invalid_client'],
    ['a wrong secret in the header', anonymous, basic({ ...client, secret: 'sscs_wrong' }), 401, 'invalid_client'],
    ["another client's secret", anonymous, basic({ ...client, secret: other.secret }), 401, 'invalid_client'],
    [
      'an unknown client',
      anonymous,
      basic({ clientId: newSecret(SECRET_PREFIX.clientId), secret: client.secret }),
      401,
      'invalid_client',
    ],
    [
      'a client id that is none',
      anonymous,
      basic({ clientId: 'a\u0000b', secret: client.secret }),
      401,
      'invalid_client',
    ],
    ['a header that is not Basic', anonymous, { authorization: `Bearer ${client.secret}` }, 401, 'invalid_client'],
    ['a header that is not base64', anonymous, { authorization: 'Basic ???' }, 401, 'invalid_client'],
    [
      'a header without a colon',
      anonymous,
      { authorization: `Basic ${Buffer.from('nothing').toString('base64')}` },
      401,
      'invalid_client',
    ],
    [
      'a header that is badly encoded',
      anonymous,
      { authorization: `Basic ${Buffer.from('%E0%A4%A:x').toString('base64')}` },
      401,
      'invalid_client',
    ],
    ['two ways at once', { ...anonymous, client_secret: client.secret }, right, 400, 'invalid_request'],
    ['two clients at once', { ...anonymous, client_id: other.clientId }, right, 400, 'invalid_request'],
  ] as const) {
    const answer = await token(world, form as Record<string, string>, headers as Record<string, string>);
    refused(t, answer, status, error, what);
    if (status === 401 && 'authorization' in headers)
      t.regex(answer.headers.get('www-authenticate') ?? '', /^Basic /, what);
  }
  t.is((await token(world, it.form, right)).status, 200, 'client_id beside the header is fine when it is the same');
});

test('a public client has no secret to send', async (t) => {
  const it = await createFlow(world);
  refused(t, await token(world, { ...it.form, client_secret: 'sscs_made-up' }), 401, 'invalid_client');
  const { client_id: _id, ...rest } = it.form;
  refused(t, await token(world, rest, basic(it.client)), 401, 'invalid_client');
  assertStatus(t, await token(world, it.form), 200);
});

test('bad requests: every field once, in a form, not in the URL', async (t) => {
  const { form } = await createFlow(world);
  for (const name of Object.keys(form))
    refused(
      t,
      await token(world, { ...form, [name]: [form[name]!, form[name]!] }),
      400,
      'invalid_request',
      `${name} twice`,
    );
  refused(t, await token(world, { ...form, other: ['a', 'b'] }), 400, 'invalid_request');
  refused(t, await token(world, { ...form, 'code[]': 'x' }), 400, 'invalid_request');
  refused(t, await token(world, {}), 400, 'invalid_request');
  refused(
    t,
    await token(world, { ...form, grant_type: 'password', username: 'a', password: 'b' }),
    400,
    'unsupported_grant_type',
  );
  refused(t, await token(world, { ...form, grant_type: 'client_credentials' }), 400, 'unsupported_grant_type');
  refused(t, await token(world, { ...form, code: '' }), 400, 'invalid_request');
  refused(t, await token(world, { ...form, code: 'ssac_made-up' }), 400, 'invalid_grant');
  refused(t, await token(world, { grant_type: 'refresh_token', client_id: form.client_id! }), 400, 'invalid_request');
  refused(t, await call(world, 'POST', '/v1/oauth/token', { body: form }), 400, 'invalid_request', 'JSON');
  refused(
    t,
    await call(world, 'POST', `/v1/oauth/token?code=${form.code}`, {
      body: new URLSearchParams({ ...form, code: '' }),
    }),
    400,
    'invalid_request',
    'a code in the URL does not count',
  );
  refused(
    t,
    await token(world, { ...form, code: 'x'.repeat(70_000) }),
    400,
    'invalid_request',
    'a body that is too large',
  );
  const body = new URLSearchParams({ ...form, unknown_field: 'ignored' });
  assertStatus(t, await call(world, 'POST', '/v1/oauth/token?utm_source=ignored', { body }), 200);
});

test("resource has to be this server's, in a request for tokens too", async (t) => {
  const it = await createFlow(world);
  refused(t, await token(world, { ...it.form, resource: 'https://other.example.com' }), 400, 'invalid_target');
  refused(
    t,
    await token(world, { ...it.form, resource: [world.deps.config.API_PUBLIC_URL, 'https://other.example.com'] }),
    400,
    'invalid_target',
  );
  const own = await token(world, { ...it.form, resource: `${world.deps.config.API_PUBLIC_URL}/mcp` });
  assertStatus(t, own, 200);
});
