import test from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import { ALL_PERMISSIONS, maskOf, type Permission } from '../../../lib/permissions.ts';
import {
  basic,
  CALLBACK,
  createApplication,
  createCode,
  createFlow,
  createPublicClient,
  pkce,
  refused,
  revoke,
  token,
  type Flow,
} from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { awaitLockWaits } from '../../../test/harness/statements.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Calls a route that needs read_contacts, and returns the HTTP status. */
async function tried(accessToken: string, where: World = world): Promise<number> {
  where.actors.forget();
  return (await call(where, 'GET', '/v1/contacts', { token: accessToken })).status;
}

const refreshForm = ({ client }: Flow, refreshToken: string) => ({
  grant_type: 'refresh_token',
  refresh_token: refreshToken,
  client_id: client.clientId,
});

test('a code is good once: used again, the tokens it gave and their successors are revoked', async (t) => {
  const it = await createFlow(world);
  const first = await token(world, it.form);
  assertStatus(t, first, 200);
  t.deepEqual(Object.keys(first.body).sort(), ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type']);
  const second = await token(world, refreshForm(it, first.body.refresh_token));
  assertStatus(t, second, 200);
  refused(t, await token(world, it.form), 400, 'invalid_grant');
  for (const { body } of [first, second]) t.is(await tried(body.access_token), 401);
  refused(t, await token(world, refreshForm(it, second.body.refresh_token)), 400, 'invalid_grant');
  const audit = await world.deps
    .db('audit_logs')
    .where({ organization_id: it.tenant.organizationId, entity_type: 'oauth_grant', action: 'revoke' });
  t.is(audit.length, 1);
  t.is(audit[0].metadata.reason, 'code_replayed');
});

test('a code used again without its verifier ends no token', async (t) => {
  const it = await createFlow(world);
  const { body } = await token(world, it.form);
  refused(t, await token(world, { ...it.form, code_verifier: pkce().verifier }), 400, 'invalid_grant');
  t.is(await tried(body.access_token), 200);
});

test('of many who use a code at once, one gets tokens, and those are revoked', async (t) => {
  const it = await createFlow(world);
  const answers = await Promise.all(Array.from({ length: 8 }, () => token(world, it.form)));
  const good = answers.filter(({ status }) => status === 200);
  t.is(good.length, 1);
  for (const answer of answers) if (answer.status !== 200) refused(t, answer, 400, 'invalid_grant');
  const alive = await world.deps
    .db('oauth_tokens as x')
    .join('oauth_grants as g', 'g.id', 'x.grant_id')
    .where('g.organization_id', it.tenant.organizationId)
    .whereNull('x.revoked_at');
  t.deepEqual(alive, []);
});

for (const [what, table] of [
  ['a code', 'oauth_codes'],
  ['a refresh token', 'oauth_tokens'],
] as const) {
  test.serial(`of requests that all find ${what} unused, one gets a pair`, async (t) => {
    const it = await createFlow(world);
    const form = table === 'oauth_codes' ? it.form : refreshForm(it, (await token(world, it.form)).body.refresh_token);
    const held = await world.deps.db.transaction();
    await held(table)
      .whereIn('grant_id', held('oauth_grants').where({ organization_id: it.tenant.organizationId }).select('id'))
      .forUpdate()
      .select('id');
    const attempts = [1, 2, 3].map(() => token(world, form));
    await awaitLockWaits(world.deps.db, { count: 3, like: `%update%${table}%` });
    await held.commit();
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    t.deepEqual(statuses.sort(), [200, 400, 400]);
  });
}

test('PKCE: the verifier must be there, right, and long enough', async (t) => {
  const { form } = await createFlow(world);
  const { code_verifier: verifier, ...without } = form;
  for (const [what, attempt] of Object.entries({
    missing: without,
    empty: { ...form, code_verifier: '' },
    wrong: { ...form, code_verifier: pkce().verifier },
    'cut short': { ...form, code_verifier: verifier!.slice(0, 42) },
    'the challenge itself': { ...form, code_verifier: pkce(verifier).challenge },
  }))
    refused(t, await token(world, attempt), 400, 'invalid_grant', what);
  t.is((await token(world, form)).status, 200, 'a wrong verifier uses no code up');

  const short = pkce('too-short');
  const it = await createFlow(world, { query: { code_challenge: short.challenge, code_challenge_method: 'S256' } });
  refused(
    t,
    await token(world, { ...it.form, code_verifier: short.verifier }),
    400,
    'invalid_grant',
    'short although it fits',
  );
});

test('PKCE cannot be taken out of a flow, nor put into one', async (t) => {
  const tenant = await world.tenant();
  const client = await createApplication(world.deps, tenant.organizationId);
  const withChallenge = await createFlow(world, { client });
  const { code_verifier: _verifier, ...without } = withChallenge.form;
  refused(t, await token(world, { ...without, client_secret: client.secret }), 400, 'invalid_grant');
  const plain = await createFlow(world, { client, query: { code_challenge: '', code_challenge_method: '' } });
  refused(t, await token(world, { ...plain.form, client_secret: client.secret }), 400, 'invalid_grant');
  const { code_verifier: _unused, ...bare } = plain.form;
  assertStatus(t, await token(world, { ...bare, client_secret: client.secret }), 200);
});

test('a code is bound to its client and to its redirect URI', async (t) => {
  const it = await createFlow(world);
  const other = await createPublicClient(world.deps);
  refused(t, await token(world, { ...it.form, client_id: other.clientId }), 400, 'invalid_grant');
  const confidential = await createApplication(world.deps, it.tenant.organizationId);
  refused(
    t,
    await token(world, { ...it.form, client_id: confidential.clientId, client_secret: confidential.secret }),
    400,
    'invalid_grant',
  );
  for (const uri of [
    `${CALLBACK}/`,
    `${CALLBACK}?x=1`,
    CALLBACK.toUpperCase(),
    `${CALLBACK}#`,
    'https://evil.example.com/callback',
    `${CALLBACK}%20`,
  ]) {
    refused(t, await token(world, { ...it.form, redirect_uri: uri }), 400, 'invalid_grant', uri);
  }
  const { redirect_uri: _uri, ...without } = it.form;
  refused(t, await token(world, without), 400, 'invalid_request');
  t.is((await token(world, it.form)).status, 200, 'none of it used the code up');
});

test('a code of a loopback client is bound to the port it was sent to', async (t) => {
  const client = await createPublicClient(world.deps, { redirect_uris: ['http://127.0.0.1/cb'] });
  const it = await createFlow(world, { client, query: { redirect_uri: 'http://127.0.0.1:49152/cb' } });
  refused(t, await token(world, { ...it.form, redirect_uri: 'http://127.0.0.1:49153/cb' }), 400, 'invalid_grant');
  refused(t, await token(world, { ...it.form, redirect_uri: 'http://127.0.0.1/cb' }), 400, 'invalid_grant');
  assertStatus(t, await token(world, { ...it.form, redirect_uri: 'http://127.0.0.1:49152/cb' }), 200);
});

test('codes, access and refresh tokens live 10 minutes, one hour and 90 days', async (t) => {
  const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
  const later = await createWorld({ clock });
  t.teardown(() => later.close());
  const late = await createFlow(later);
  clock.advance(10 * MINUTE);
  refused(t, await token(later, late.form), 400, 'invalid_grant', 'a code of ten minutes ago');

  const it = await createFlow(later);
  clock.advance(10 * MINUTE - 1);
  const first = await token(later, it.form);
  t.is(first.status, 200, 'a code just under ten minutes old');
  clock.advance(60 * MINUTE - 1);
  t.is(await tried(first.body.access_token, later), 200);
  clock.advance(1);
  t.is(await tried(first.body.access_token, later), 401, 'an access token of an hour ago');
  clock.advance(90 * DAY - 60 * MINUTE - 1);
  const second = await token(later, refreshForm(it, first.body.refresh_token));
  t.is(second.status, 200, 'a refresh token just under ninety days old');
  clock.advance(90 * DAY);
  refused(
    t,
    await token(later, refreshForm(it, second.body.refresh_token)),
    400,
    'invalid_grant',
    'a refresh token of ninety days ago',
  );
});

test('a refresh token is good once: used again, all that came from the same approval is revoked', async (t) => {
  const it = await createFlow(world);
  const first = await token(world, it.form);
  const second = await token(world, refreshForm(it, first.body.refresh_token));
  const third = await token(world, refreshForm(it, second.body.refresh_token));
  assertStatus(t, third, 200);
  refused(t, await token(world, refreshForm(it, first.body.refresh_token)), 400, 'invalid_grant');
  for (const { body } of [first, second, third]) t.is(await tried(body.access_token), 401);
  refused(t, await token(world, refreshForm(it, third.body.refresh_token)), 400, 'invalid_grant', 'the newest one');

  const again = await createFlow(world, { client: it.client });
  const fresh = await token(world, again.form);
  refused(t, await token(world, refreshForm(it, first.body.refresh_token)), 400, 'invalid_grant');
  t.is(await tried(fresh.body.access_token), 200, "another approval's tokens stay");
});

test('of many who use a refresh token at once, one gets a pair, and nothing of the family lives on', async (t) => {
  for (let round = 0; round < 2; round += 1) {
    const it = await createFlow(world);
    const { body } = await token(world, it.form);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => token(world, refreshForm(it, body.refresh_token))),
    );
    const good = answers.filter(({ status }) => status === 200);
    t.is(good.length, 1);
    for (const answer of good) t.is(await tried(answer.body.access_token), 401);
    const alive = await world.deps
      .db('oauth_tokens as x')
      .join('oauth_grants as g', 'g.id', 'x.grant_id')
      .where('g.organization_id', it.tenant.organizationId)
      .whereNull('x.revoked_at');
    t.deepEqual(alive, []);
  }
});

test('a replay that meets honest refreshes leaves nothing alive behind them', async (t) => {
  for (let round = 0; round < 2; round += 1) {
    const it = await createFlow(world);
    const stolen = (await token(world, it.form)).body.refresh_token as string;
    let newest = (await token(world, refreshForm(it, stolen))).body.refresh_token as string;
    const honest = async () => {
      for (let index = 0; index < 6; index += 1) {
        const answer = await token(world, refreshForm(it, newest));
        if (answer.status !== 200) return;
        newest = answer.body.refresh_token;
      }
    };
    await Promise.all([honest(), token(world, refreshForm(it, stolen))]);
    refused(t, await token(world, refreshForm(it, newest)), 400, 'invalid_grant');
    const alive = await world.deps
      .db('oauth_tokens as x')
      .join('oauth_grants as g', 'g.id', 'x.grant_id')
      .where('g.organization_id', it.tenant.organizationId)
      .whereNull('x.revoked_at');
    t.deepEqual(alive, []);
  }
});

test.serial('a replay also ends the pair of a refresh that was not done yet when the replay came', async (t) => {
  const it = await createFlow(world);
  const stolen = (await token(world, it.form)).body.refresh_token as string;
  const newest = (await token(world, refreshForm(it, stolen))).body.refresh_token as string;
  const { db, clock } = world.deps;
  const refreshing = await db.transaction();
  const current = await refreshing('oauth_tokens')
    .where({ token_hash: sha256(newest) })
    .first();
  await refreshing('oauth_tokens').where({ id: current.id }).update({ replaced_at: clock.now() });
  await refreshing('oauth_tokens').insert({ ...current, id: newId(), token_hash: sha256('the next') });
  const replay = token(world, refreshForm(it, stolen));
  await awaitLockWaits(world.deps.db, { like: '%update%oauth_tokens%' });
  await refreshing.commit();
  refused(t, await replay, 400, 'invalid_grant');
  t.deepEqual(await db('oauth_tokens').where({ family_id: current.family_id }).whereNull('revoked_at'), []);
});

test('a refresh may ask for less, never for more, and less is for that access token alone', async (t) => {
  const it = await createFlow(world, { scopes: ['READ_CONTACTS', 'READ_CAMPAIGNS'] });
  const first = await token(world, it.form);
  t.is(first.body.scope, 'read_campaigns read_contacts');
  for (const scope of ['read_contacts write_contacts', 'write_contacts', 'no_such_scope', 'READ_CONTACTS', ' ']) {
    refused(
      t,
      await token(world, { ...refreshForm(it, first.body.refresh_token), scope }),
      400,
      'invalid_scope',
      scope,
    );
  }
  const narrow = await token(world, { ...refreshForm(it, first.body.refresh_token), scope: 'read_campaigns' });
  t.is(narrow.body.scope, 'read_campaigns');
  t.is(await tried(narrow.body.access_token), 403);
  const whole = await token(world, refreshForm(it, narrow.body.refresh_token));
  t.is(whole.body.scope, 'read_campaigns read_contacts');
  t.is(await tried(whole.body.access_token), 200);
});

test('another client cannot use a refresh token, and does not end it by trying', async (t) => {
  const it = await createFlow(world);
  const { body } = await token(world, it.form);
  const other = await createPublicClient(world.deps);
  const confidential = await createApplication(world.deps, it.tenant.organizationId);
  refused(
    t,
    await token(world, { ...refreshForm(it, body.refresh_token), client_id: other.clientId }),
    400,
    'invalid_grant',
  );
  refused(
    t,
    await token(world, { grant_type: 'refresh_token', refresh_token: body.refresh_token }, basic(confidential)),
    400,
    'invalid_grant',
  );
  assertStatus(t, await token(world, refreshForm(it, body.refresh_token)), 200);
});

test('an access token is no refresh token, and nothing but an access token is a credential', async (t) => {
  const it = await createFlow(world, {
    client: await createApplication(world.deps, (await world.tenant()).organizationId),
  });
  const { body } = await token(world, { ...it.form, client_secret: it.client.secret });
  refused(
    t,
    await token(world, { ...refreshForm(it, body.access_token), client_secret: it.client.secret }),
    400,
    'invalid_grant',
  );
  for (const credential of [body.refresh_token, it.form.code!, it.client.secret, it.client.clientId])
    t.is(await tried(credential), 401, credential.slice(0, 6));
  t.is(await tried(body.access_token), 200);
  t.is(await tried(`${body.access_token}x`), 401);
});

test('a token counts in the Authorization header only', async (t) => {
  const { body } = await token(world, (await createFlow(world)).form);
  world.actors.forget();
  assertStatus(t, await call(world, 'GET', `/v1/contacts?access_token=${body.access_token}`), 401);
  t.is(
    (await call(world, 'POST', '/v1/contacts', { body: new URLSearchParams({ access_token: body.access_token }) }))
      .status,
    401,
  );
  t.is(
    (await call(world, 'POST', '/v1/contacts', { body: { access_token: body.access_token, email: 'a@example.com' } }))
      .status,
    401,
  );
});

test('what a token carries follows approval, application and role, within their limits', async (t) => {
  const tenant = await world.tenant();
  const client = await createApplication(world.deps, tenant.organizationId);
  const scopes: Permission[] = ['READ_CONTACTS', 'READ_CAMPAIGNS', 'API_KEYS'];
  const { code, verifier } = await createCode(world.deps, tenant, client, { scopes });
  const { body } = await token(
    world,
    { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK },
    basic(client),
  );
  t.is(body.scope, 'read_campaigns read_contacts api_keys');
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: body.access_token }), 200);
  t.is(
    (await call(world, 'POST', '/v1/contacts', { token: body.access_token, body: { email: 'a@example.com' } })).status,
    403,
  );
  t.is((await call(world, 'GET', '/v1/auth/sessions', { token: body.access_token })).status, 403, 'a route for people');

  await world.deps
    .db('oauth_applications')
    .where({ id: client.id })
    .update({ scopes: ALL_PERMISSIONS & ~maskOf(['READ_CONTACTS']) });
  t.is(await tried(body.access_token), 403, 'the application lost the scope');
  await world.deps.db('oauth_applications').where({ id: client.id }).update({ scopes: ALL_PERMISSIONS });
  t.is(await tried(body.access_token), 200);

  const role = await world.deps
    .db('roles')
    .where({ organization_id: tenant.organizationId, name: 'Viewer' })
    .first('id');
  await world.deps.db('memberships').where({ user_id: tenant.userId }).update({ role_id: role.id });
  t.is(await tried(body.access_token), 200);
  world.actors.forget();
  t.is(
    (await call(world, 'GET', '/v1/api-keys', { token: body.access_token })).status,
    403,
    'the person may no longer hand this out',
  );
  const next = await token(world, { grant_type: 'refresh_token', refresh_token: body.refresh_token }, basic(client));
  t.is(next.body.scope, 'read_campaigns read_contacts');

  await world.deps.db('memberships').where({ user_id: tenant.userId }).delete();
  t.is(await tried(next.body.access_token), 401, 'the person has left');
  refused(
    t,
    await token(world, { grant_type: 'refresh_token', refresh_token: next.body.refresh_token }, basic(client)),
    400,
    'invalid_grant',
  );
});

test('revoking ends the grant behind a token, for its own client only', async (t) => {
  const it = await createFlow(world);
  const { body } = await token(world, it.form);
  const other = await createPublicClient(world.deps);
  const confidential = await createApplication(world.deps, it.tenant.organizationId);
  const nothing = async (answer: Answer, what: string) => {
    t.is(answer.status, 200, what);
    t.is(answer.text, '', what);
    t.is(answer.headers.get('cache-control'), 'no-store', what);
  };
  await nothing(await revoke(world, { token: 'ssat_made-up', client_id: it.client.clientId }), 'an unknown token');
  await nothing(await revoke(world, { token: body.access_token, client_id: other.clientId }), "another client's token");
  await nothing(
    await revoke(world, { token: body.refresh_token }, basic(confidential)),
    "another client's refresh token",
  );
  refused(t, await revoke(world, { token: body.access_token }), 401, 'invalid_client');
  refused(
    t,
    await revoke(world, { token: body.access_token }, basic({ ...confidential, secret: 'x' })),
    401,
    'invalid_client',
  );
  refused(t, await revoke(world, { client_id: it.client.clientId }), 400, 'invalid_request');
  refused(
    t,
    await revoke(world, { token: [body.access_token, 'x'], client_id: it.client.clientId }),
    400,
    'invalid_request',
  );
  t.is(await tried(body.access_token), 200, 'nothing of it changed anything');

  const sibling = await createCode(world.deps, it.tenant, it.client);
  const second = await token(world, { ...it.form, code: sibling.code, code_verifier: sibling.verifier });
  await nothing(
    await revoke(world, { token: body.access_token, token_type_hint: 'refresh_token', client_id: it.client.clientId }),
    'a wrong hint',
  );
  for (const accessToken of [body.access_token, second.body.access_token]) t.is(await tried(accessToken), 401);
  refused(t, await token(world, refreshForm(it, second.body.refresh_token)), 400, 'invalid_grant');
  await nothing(await revoke(world, { token: body.access_token, client_id: it.client.clientId }), 'again');
});

test('the rate of a grant is that of a key that sets none', async (t) => {
  const { body } = await token(world, (await createFlow(world)).form);
  const counted: number[] = [];
  // Sends more requests than two minutes allow, so that the test also works if a new minute begins meanwhile.
  for (let index = 0; index < 130; index += 1)
    counted.push((await call(world, 'GET', '/v1/contacts', { token: body.access_token })).status);
  t.true(counted.includes(429));
  t.true(counted.slice(0, 50).every((status) => status === 200));
});

test('the last use of a grant is kept without a write per request', async (t) => {
  const it = await createFlow(world);
  const { body } = await token(world, it.form);
  t.is(await tried(body.access_token), 200);
  await world.actors.flush();
  const grant = await world.deps
    .db('oauth_grants')
    .where({ organization_id: it.tenant.organizationId })
    .first('last_used_at', 'last_request_ip');
  t.truthy(grant.last_used_at);
  t.is(grant.last_request_ip, '127.0.0.1');
});
