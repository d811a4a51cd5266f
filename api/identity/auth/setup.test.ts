import test from 'ava';
import { bootstrap, ensureSetupLink } from '../../../domain/identity/auth/setup.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { ALL_PERMISSIONS } from '../../../lib/permissions.ts';
import { freshEmail, login, mailedToken, PASSWORD, post, register } from '../../../test/harness/people.ts';
import { assertStatus, call, createWorld } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

const tokenOf = (url: string) => url.split('/').at(-1)!;
const claim = (token: string) => ({
  token,
  email: freshEmail('admin'),
  password: PASSWORD,
  first_name: 'Ada',
  organization: 'First',
});

test('the setup link makes the administrator, the first workspace and a session, once', async (t) => {
  const clock = new ManualClock();
  const world = await createWorld({ clock });
  t.teardown(() => world.close());
  const link = (await ensureSetupLink(world.deps))!;
  t.true(link.url.startsWith(`${world.deps.config.APP_URL}/setup/`));
  const token = tokenOf(link.url);
  // Only the hash of the link's token is stored.
  assertNowhere(t, await world.deps.db('setup_links'), [token]);

  const wrong = await post(world, '/v1/auth/setup', claim('wrong'));
  assertStatus(t, wrong, 401);
  t.is(wrong.body.code, 'setup_token_invalid');
  clock.advance(25 * 3600_000);
  t.is((await post(world, '/v1/auth/setup', claim(token))).body.code, 'setup_token_invalid', 'expired');

  const fresh = tokenOf((await ensureSetupLink(world.deps))!.url);
  const second = tokenOf((await ensureSetupLink(world.deps))!.url);
  const answers = await Promise.all([
    post(world, '/v1/auth/setup', claim(fresh)),
    post(world, '/v1/auth/setup', claim(fresh)),
    post(world, '/v1/auth/setup', claim(second)),
  ]);
  t.deepEqual(answers.map((answer) => answer.status).sort(), [200, 403, 403]);
  t.true(
    answers.filter((answer) => answer.status === 403).every((answer) => answer.body.code === 'setup_already_complete'),
  );
  const { access_token } = answers.find((answer) => answer.status === 200)!.body;

  const me = await call(world, 'GET', '/v1/auth/me', { token: access_token });
  t.true(me.body.is_admin);
  const organization = await call(world, 'GET', '/v1/organizations/current', { token: access_token });
  t.is(organization.body.name, 'First');
  t.true(organization.body.role.is_owner);
  t.is(await ensureSetupLink(world.deps), null);
});

test('before the setup link is claimed sign-up is refused, so that the link cannot be ended by another account', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const link = (await ensureSetupLink(world.deps))!;
  const early = await post(world, '/v1/auth/register', { email: freshEmail(), password: PASSWORD });
  assertStatus(t, early, 403);
  t.is(early.body.code, 'registration_closed');
  assertStatus(t, await post(world, '/v1/auth/setup', claim(tokenOf(link.url))), 200);
  t.is((await register(world, freshEmail())).status, 204, 'open afterwards');
});

test('bootstrap finds what exists and always hands out a session and a working key', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const first = await bootstrap(world.deps, { email: 'Ops@Example.com', organization: 'Acme', password: PASSWORD });
  const second = await bootstrap(world.deps, {
    email: 'ops@example.com',
    organization: 'Acme',
    password: 'ignored as it exists',
  });
  const other = await bootstrap(world.deps, { email: 'ops@example.com', organization: 'Other' });
  t.is(second.user.id, first.user.id);
  t.is(second.organization.id, first.organization.id);
  t.not(other.organization.id, first.organization.id);
  t.not(second.apiKey.secret, first.apiKey.secret);
  for (const made of [first, second, other]) {
    const key = await call(world, 'GET', `/v1/api-keys/${made.apiKey.id}`, { token: made.apiKey.secret });
    assertStatus(t, key, 200);
    t.is(key.body.permissions, ALL_PERMISSIONS);
    t.is(key.body.organization_id, made.organization.id);
    t.is(key.body.user_id, first.user.id);
    const current = await call(world, 'GET', '/v1/organizations/current', { token: made.session.accessToken });
    t.is(current.body.id, made.organization.id);
  }
  assertStatus(t, await post(world, '/v1/auth/login', { email: 'ops@example.com', password: PASSWORD }), 200);
  t.is(
    (await post(world, '/v1/auth/login', { email: 'ops@example.com', password: 'ignored as it exists' })).status,
    401,
  );
  const users = await world.deps.db('users').select('is_platform_admin');
  t.deepEqual(users, [{ is_platform_admin: true }]);

  const somebody = await bootstrap(world.deps, { email: 'second@example.com', organization: 'Acme' });
  t.not(somebody.organization.id, first.organization.id, 'a workspace of strangers is not joined by its name');
  t.is((await world.deps.db('users').where('id', somebody.user.id).first()).is_platform_admin, false);
});

test('in production sign-up is closed to strangers once an account exists; DISABLE_REGISTRATION=false opens it', async (t) => {
  const production = {
    APP_ENV: 'prod',
    ALLOW_INSECURE_DEFAULTS: 'true',
    AUTH_SECRET: 'a secret of more than thirty-two characters',
  };
  const world = await createWorld({ env: production });
  t.teardown(() => world.close());
  assertStatus(t, await register(world, freshEmail('first')), 204);
  const refused = await post(world, '/v1/auth/register', { email: freshEmail(), password: PASSWORD });
  assertStatus(t, refused, 403);
  t.is(refused.body.code, 'registration_closed');
  t.regex(refused.body.fix, /DISABLE_REGISTRATION=false/);
  const { token, email } = await invited(world);
  assertStatus(t, await register(world, email, { invitation: token }), 204);

  const open = await createWorld({ env: { ...production, DISABLE_REGISTRATION: 'false' } });
  t.teardown(() => open.close());
  assertStatus(t, await register(open, freshEmail('first')), 204);
  assertStatus(t, await register(open, freshEmail('second')), 204);
  const development = await createWorld();
  t.teardown(() => development.close());
  assertStatus(t, await register(development, freshEmail('first')), 204);
  assertStatus(t, await register(development, freshEmail('second')), 204);
});

test('the page of an invitation says that sign-up is closed, and shows no form', async (t) => {
  const world = await createWorld({ env: { DISABLE_REGISTRATION: 'true' } });
  t.teardown(() => world.close());
  const { token } = await invited(world);
  const shown = await call(world, 'GET', `/invitations/${token}`);
  assertStatus(t, shown, 403);
  t.regex(shown.text, /Sign-up is closed on this installation/);
  t.notRegex(shown.text, /<form/);
});

test('closed registration refuses invited people too', async (t) => {
  const world = await createWorld({ env: { DISABLE_REGISTRATION: 'true' } });
  t.teardown(() => world.close());
  const { token, email } = await invited(world);
  for (const extra of [{}, { invitation: token }]) {
    const answer = await post(world, '/v1/auth/register', { email, password: PASSWORD, ...extra });
    assertStatus(t, answer, 403);
    t.is(answer.body.code, 'registration_closed');
  }
});

test('invite_only takes invited addresses only, and makes them members', async (t) => {
  const clock = new ManualClock();
  const world = await createWorld({ clock, env: { DISABLE_REGISTRATION: 'invite_only' } });
  t.teardown(() => world.close());
  const { token, email, tenant, invitationId } = await invited(world);
  const refused = async (body: object, code: string) => {
    const answer = await post(world, '/v1/auth/register', { password: PASSWORD, ...body });
    assertStatus(t, answer, 403);
    t.is(answer.body.code, code);
  };
  await refused({ email }, 'registration_invite_only');
  await refused({ email, invitation: 'made up' }, 'invitation_invalid');
  await refused({ email: freshEmail(), invitation: token }, 'invitation_invalid');

  assertStatus(t, await register(world, email, { invitation: token }), 204);
  const { access_token } = await login(world, email);
  const current = await call(world, 'GET', '/v1/organizations/current', { token: access_token });
  t.is(current.body.id, tenant.organizationId, 'their session works in the workspace');
  t.is(current.body.role.name, 'Member');
  await refused({ email: freshEmail(), invitation: token }, 'invitation_invalid');
  const audit = await world.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, entity_type: 'member' })
    .first();
  t.is(audit.metadata.invitation_id, invitationId);

  const late = await invited(world);
  clock.advance(8 * 24 * 3600_000);
  await refused({ email: late.email, invitation: late.token }, 'invitation_invalid');
});

test('an invitation cancelled while its code is under way creates no account', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const { token, email, tenant, invitationId } = await invited(world);
  const begun = await post(world, '/v1/auth/register', { email, password: PASSWORD, invitation: token });
  const code = world.outgoing.findLast((message) => message.to === email)!.text.match(/\d{6}/)![0];
  await call(world, 'DELETE', `/v1/organizations/current/invitations/${invitationId}`, { token: tenant.sessionToken });
  const answer = await post(world, '/v1/auth/register/confirm', { session: begun.body.session, code });
  assertStatus(t, answer, 403);
  t.is(answer.body.code, 'invitation_invalid');
  t.is(await world.deps.db('users').where({ email }).first('id'), undefined);
});

async function invited(world: Awaited<ReturnType<typeof createWorld>>) {
  const tenant = await world.tenant();
  const role = await world.deps
    .db('roles')
    .where({ organization_id: tenant.organizationId, name: 'Member' })
    .first('id');
  const email = freshEmail('invited');
  const made = await post(
    world,
    '/v1/organizations/current/invitations',
    { email, role_id: role.id },
    { token: tenant.sessionToken },
  );
  return { tenant, email, invitationId: made.body.id as string, token: mailedToken(world, email) };
}
