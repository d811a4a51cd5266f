import test from 'ava';
import { throttle } from '../../../domain/identity/throttle.ts';
import { toSite } from '../../../lib/source.ts';
import { MAX_ATTEMPTS } from '../../../domain/identity/challenges.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { silentLogger } from '../../../lib/log.ts';
import { createSystemMail } from '../../../lib/mail/index.ts';
import { freePort } from '../../../local/servers.ts';
import { freshEmail, login, mailedCode, mailedToken, PASSWORD, post, register } from '../../../test/harness/people.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';
import { plainText } from '../../../test/harness/plain-history.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const clock = new ManualClock(new Date('2026-03-02T09:00:00Z'));
let world: World;

test.before(async () => {
  world = await createWorld({ clock, env: { AUTH_LOGIN_CODE: 'new_device', TRUSTED_PROXIES: 'loopback' } });
});
test.after.always(() => world?.close());
// Tests without their own source address share one, so the counts of failed attempts are reset before each test.
test.beforeEach(() => world.deps.db('auth_throttles').delete());

const me = (token: string) => call(world, 'GET', '/v1/auth/me', { token });

test.serial('a person signs up, signs in with a code, and reads and changes their profile', async (t) => {
  const email = freshEmail();
  const confirmed = await register(world, email);
  assertStatus(t, confirmed, 204);
  t.is(confirmed.text, '');
  const tokens = await login(world, email);
  const profile = await me(tokens.access_token);
  assertStatus(t, profile, 200);
  t.is(profile.body.email, email);
  t.is(profile.body.first_name, 'Pat');
  t.false(profile.body.is_admin);
  t.deepEqual(profile.body.roles, []);
  t.is(profile.body.organization_id, null);
  const changed = await call(world, 'PATCH', '/v1/auth/me', {
    token: tokens.access_token,
    body: { first_name: ' Pia ' },
  });
  t.is(changed.body.first_name, 'Pia');
  t.is(changed.body.last_name, 'Person');
});

test.serial('neither a password nor a code nor a token is stored as it is', async (t) => {
  const email = freshEmail();
  const begun = await post(world, '/v1/auth/register', { email, password: PASSWORD });
  const code = mailedCode(world, email);
  await post(world, '/v1/auth/register/confirm', { session: begun.body.session, code });
  const tokens = await login(world, email);
  const rows = [
    await world.deps.db('users').where({ email }),
    await world.deps.db('auth_challenges').where({ email }),
    await world.deps.db('sessions').join('users', 'users.id', 'sessions.user_id').where({ email }).select('sessions.*'),
  ];
  assertNowhere(t, rows, [PASSWORD, begun.body.session, tokens.refresh_token, tokens.device_token!]);
  // Other values may contain the same six digits, so the test only searches for values that equal the code.
  t.false(plainText(rows).split('\n').includes(code));
});

test.serial('the address is one whatever its case', async (t) => {
  const email = freshEmail('Mixed');
  assertStatus(t, await register(world, email.toLowerCase()), 204);
  const answer = await post(world, '/v1/auth/login', { email: ` ${email.toUpperCase()} `, password: PASSWORD });
  assertStatus(t, answer, 200);
});

test.serial('a weak password is named, before any mail leaves', async (t) => {
  const email = freshEmail();
  for (const password of ['short', 'aaaaaaaaaaaaaa', email]) {
    const answer = await post(world, '/v1/auth/register', { email, password });
    t.is(answer.status, 400, password);
    t.is(answer.body.problems[0].path, 'body.password');
  }
  t.false(world.outgoing.some((message) => message.to === email));
});

test.serial('a taken address is 401, as is a sign-up that loses the race to confirm', async (t) => {
  const email = freshEmail();
  const first = await post(world, '/v1/auth/register', { email, password: PASSWORD });
  const firstCode = mailedCode(world, email);
  const second = await post(world, '/v1/auth/register', { email, password: PASSWORD });
  const secondCode = mailedCode(world, email);
  assertStatus(
    t,
    await post(world, '/v1/auth/register/confirm', { session: first.body.session, code: firstCode }),
    204,
  );
  t.is(
    (await post(world, '/v1/auth/register/confirm', { session: second.body.session, code: secondCode })).status,
    401,
  );
  const third = await post(world, '/v1/auth/register', { email, password: PASSWORD });
  assertStatus(t, third, 401);
  t.is(third.body.code, 'unauthorized');
});

test.serial('an unknown address and a wrong password get the same answer', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const wrong = await post(world, '/v1/auth/login', { email, password: 'not the password' });
  const unknown = await post(world, '/v1/auth/login', { email: freshEmail('nobody'), password: 'not the password' });
  assertStatus(t, wrong, 401);
  t.deepEqual({ ...wrong.body, request_id: '' }, { ...unknown.body, request_id: '' });
});

test.serial('a code is good for one of two simultaneous confirmations', async (t) => {
  const email = freshEmail();
  await register(world, email);
  // Opens the connections of the pool first, because requests that wait for new connections would not be simultaneous.
  await Promise.all(Array.from({ length: 10 }, () => world.deps.db.raw('select pg_sleep(0.05)')));
  for (let round = 1; round <= 5; round += 1) {
    const begun = await post(world, '/v1/auth/login', { email, password: PASSWORD });
    const proof = { session: begun.body.session, code: mailedCode(world, email) };
    const answers = await Promise.all(
      Array.from({ length: MAX_ATTEMPTS }, () => post(world, '/v1/auth/login/confirm', proof)),
    );
    t.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401, 401, 401, 401]);
    const sessions = await world.deps
      .db('sessions')
      .join('users', 'users.id', 'sessions.user_id')
      .where({ email })
      .select('sessions.id');
    t.is(sessions.length, round);
  }
});

test.serial(`a code dies after ${MAX_ATTEMPTS} wrong guesses, also simultaneous ones`, async (t) => {
  const email = freshEmail();
  await register(world, email);
  const begun = await post(world, '/v1/auth/login', { email, password: PASSWORD });
  const code = mailedCode(world, email);
  const wrong = code === '000000' ? '000001' : '000000';
  const guesses = await Promise.all(
    Array.from({ length: MAX_ATTEMPTS + 3 }, () =>
      post(world, '/v1/auth/login/confirm', { session: begun.body.session, code: wrong }),
    ),
  );
  t.true(guesses.every((answer) => answer.status === 401));
  const row = await world.deps.db('auth_challenges').where({ email, kind: 'login' }).first('attempts');
  t.is(row.attempts, MAX_ATTEMPTS);
  assertStatus(t, await post(world, '/v1/auth/login/confirm', { session: begun.body.session, code }), 401);
});

test.serial('the last allowed guess may be the right one', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const begun = await post(world, '/v1/auth/login', { email, password: PASSWORD });
  const code = mailedCode(world, email);
  for (let i = 1; i < MAX_ATTEMPTS; i += 1)
    await post(world, '/v1/auth/login/confirm', { session: begun.body.session, code: 'wrong' });
  assertStatus(t, await post(world, '/v1/auth/login/confirm', { session: begun.body.session, code }), 200);
});

test.serial('a code expires, and one of a sign-up does not sign in', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const begun = await post(world, '/v1/auth/login', { email, password: PASSWORD });
  const code = mailedCode(world, email);
  assertStatus(t, await post(world, '/v1/auth/register/confirm', { session: begun.body.session, code }), 401);
  clock.advance(10 * MINUTE);
  assertStatus(t, await post(world, '/v1/auth/login/confirm', { session: begun.body.session, code }), 401);
});

test.serial('new_device: a device that proved itself signs in without a code, for ninety days', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const first = await login(world, email);
  t.is(typeof first.device_token, 'string');
  const again = await post(world, '/v1/auth/login', { email, password: PASSWORD, device_token: first.device_token });
  t.is(typeof again.body.access_token, 'string');
  t.is(again.body.device_token, undefined);

  const other = freshEmail();
  await register(world, other);
  const foreign = await post(world, '/v1/auth/login', {
    email: other,
    password: PASSWORD,
    device_token: first.device_token,
  });
  t.is(typeof foreign.body.session, 'string', 'another account does not know the device');

  clock.advance(91 * DAY);
  const late = await post(world, '/v1/auth/login', { email, password: PASSWORD, device_token: first.device_token });
  t.is(typeof late.body.session, 'string');
});

test.serial('signing out keeps the device known; signing out everywhere forgets it', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const first = await login(world, email);
  assertStatus(t, await post(world, '/v1/auth/logout', undefined, { token: first.access_token }), 204);
  t.is((await me(first.access_token)).status, 401, 'at once');
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: first.refresh_token }), 401);
  const second = (await post(world, '/v1/auth/login', { email, password: PASSWORD, device_token: first.device_token }))
    .body;
  assertStatus(t, await post(world, '/v1/auth/logout-all', undefined, { token: second.access_token }), 204);
  assertStatus(t, await me(second.access_token), 401);
  const third = await post(world, '/v1/auth/login', { email, password: PASSWORD, device_token: first.device_token });
  t.is(typeof third.body.session, 'string');
});

test.serial('refresh rotates; the replayed token ends the session for both holders', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const first = await login(world, email);
  const second = await post(world, '/v1/auth/refresh', { refresh_token: first.refresh_token });
  assertStatus(t, second, 200);
  t.not(second.body.refresh_token, first.refresh_token);
  assertStatus(t, await me(second.body.access_token), 200);
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: first.refresh_token }), 401);
  assertStatus(t, await me(second.body.access_token), 401);
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: second.body.refresh_token }), 401);
  const device = await post(world, '/v1/auth/login', { email, password: PASSWORD, device_token: first.device_token });
  t.is(typeof device.body.session, 'string', 'its device is not trusted any more');
});

test.serial('a token that was replaced many times over is known as a copy all the same', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const first = await login(world, email);
  let copied = first;
  for (let n = 0; n < 3; n += 1)
    copied = (await post(world, '/v1/auth/refresh', { refresh_token: copied.refresh_token })).body;
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: first.refresh_token }), 401);
  assertStatus(t, await me(copied.access_token), 401);
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: copied.refresh_token }), 401);
});

test.serial('of simultaneous refreshes with one token at most one pair comes out', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const { refresh_token } = await login(world, email);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(world, '/v1/auth/refresh', { refresh_token })),
  );
  t.is(answers.filter((answer) => answer.status === 200).length, 1);
});

test.serial('an access token ends after 15 minutes, a session 30 days after its last refresh', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const first = await login(world, email);
  clock.advance(16 * MINUTE);
  assertStatus(t, await me(first.access_token), 401);
  clock.advance(29 * DAY);
  const second = (await post(world, '/v1/auth/refresh', { refresh_token: first.refresh_token })).body;
  assertStatus(t, await me(second.access_token), 200);
  clock.advance(31 * DAY);
  assertStatus(t, await post(world, '/v1/auth/refresh', { refresh_token: second.refresh_token }), 401);
});

test.serial('sessions are listed with the current one first, and end one by one or all but this', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const a = await login(world, email);
  clock.advance(1000);
  const b = await login(world, email);
  clock.advance(1000);
  const c = await login(world, email);
  const list = await call(world, 'GET', '/v1/auth/sessions', { token: a.access_token, headers: { 'user-agent': 'x' } });
  t.is(list.body.length, 3);
  t.deepEqual(
    list.body.map((row: { current: boolean }) => row.current),
    [true, false, false],
  );
  t.true(list.body[1].last_active_at > list.body[2].last_active_at);

  const ended = await call(world, 'DELETE', `/v1/auth/sessions/${list.body[1].id}`, { token: a.access_token });
  assertStatus(t, ended, 204);
  assertStatus(t, await me(c.access_token), 401);
  assertStatus(t, await call(world, 'DELETE', `/v1/auth/sessions/${list.body[1].id}`, { token: a.access_token }), 404);

  const stranger = freshEmail();
  await register(world, stranger);
  const { access_token } = await login(world, stranger);
  assertStatus(t, await call(world, 'DELETE', `/v1/auth/sessions/${list.body[0].id}`, { token: access_token }), 404);

  assertStatus(t, await call(world, 'DELETE', '/v1/auth/sessions', { token: a.access_token }), 204);
  assertStatus(t, await me(b.access_token), 401);
  assertStatus(t, await me(a.access_token), 200);
});

test.serial('changing the password asks for the current one and ends the other sessions', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const here = await login(world, email);
  const there = await login(world, email);
  const change = (body: object) => post(world, '/v1/auth/me/password', body, { token: here.access_token });
  assertStatus(t, await change({ current_password: 'wrong', new_password: 'another password 7' }), 401);
  const weak = await change({ current_password: PASSWORD, new_password: 'short' });
  assertStatus(t, weak, 400);
  t.is(weak.body.problems[0].path, 'body.new_password');
  const done = await change({ current_password: PASSWORD, new_password: 'another password 7' });
  assertStatus(t, done, 200);
  t.is(done.text, '');
  assertStatus(t, await me(here.access_token), 200);
  assertStatus(t, await me(there.access_token), 401);
  assertStatus(t, await post(world, '/v1/auth/login', { email, password: PASSWORD }), 401);
  assertStatus(t, await post(world, '/v1/auth/login', { email, password: 'another password 7' }), 200);
});

test.serial('a reset looks the same for unknown addresses, and its link works once', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const before = await login(world, email);
  const unknown = freshEmail('nobody');
  for (const address of [email, unknown]) {
    const answer = await post(world, '/v1/auth/reset-password', { email: address });
    assertStatus(t, answer, 200);
    t.is(answer.text, '');
  }
  t.regex(world.outgoing.findLast((message) => message.to === unknown)!.text, /has no account/);
  const session = mailedToken(world, email);
  const weak = await post(world, '/v1/auth/reset-password/confirm', { session, password: 'short' });
  assertStatus(t, weak, 400);
  const confirm = () => post(world, '/v1/auth/reset-password/confirm', { session, password: 'reset password 9' });
  const answers = await Promise.all([confirm(), confirm()]);
  t.deepEqual(answers.map((answer) => answer.status).sort(), [200, 401]);
  t.is((await me(before.access_token)).status, 401, 'every session ended');
  t.is(
    (await post(world, '/v1/auth/login', { email, password: 'reset password 9', device_token: before.device_token }))
      .body.access_token,
    undefined,
  );
  assertStatus(t, await post(world, '/v1/auth/login', { email, password: PASSWORD }), 401);
});

test.serial('a reset link expires', async (t) => {
  const email = freshEmail();
  await register(world, email);
  await post(world, '/v1/auth/reset-password', { email });
  const session = mailedToken(world, email);
  clock.advance(31 * MINUTE);
  assertStatus(t, await post(world, '/v1/auth/reset-password/confirm', { session, password: 'reset password 9' }), 401);
});

test.serial(
  'sign-in attempts are limited per account and source, with Retry-After; a success starts afresh',
  async (t) => {
    const email = freshEmail();
    await register(world, email);
    const attempt = (password: string, from: string) => post(world, '/v1/auth/login', { email, password }, { from });
    for (let i = 0; i < 9; i += 1) t.is((await attempt('wrong', '198.51.100.1')).status, 401);
    assertStatus(t, await attempt(PASSWORD, '198.51.100.1'), 200);
    for (let i = 0; i < 10; i += 1) t.is((await attempt('wrong', '198.51.100.1')).status, 401);
    const refused = await attempt(PASSWORD, '198.51.100.1');
    assertStatus(t, refused, 429);
    t.is(refused.body.code, 'rate_limit_exceeded');
    t.is(refused.headers.get('retry-after'), '900');
    t.is(refused.body.retry_after, 900);
    t.is((await attempt(PASSWORD, '198.51.100.2')).status, 200, 'the owner elsewhere is not locked out');
    clock.advance(15 * MINUTE);
    assertStatus(t, await attempt(PASSWORD, '198.51.100.1'), 200);
  },
);

test.serial('one network cannot try many accounts, and those who have signed in from it go on', async (t) => {
  const [regular, newcomer] = [freshEmail(), freshEmail()];
  for (const email of [regular, newcomer]) await register(world, email);
  const from = (n: number) => `2001:db8:9:9::${n.toString(16)}`;
  const attempt = (email: string, password: string, source = from(1)) =>
    post(world, '/v1/auth/login', { email, password }, { from: source });
  assertStatus(t, await attempt(regular, PASSWORD), 200);
  const guess = async (n: number, source = from(n + 2)) =>
    (await attempt(`victim-${n}@example.com`, 'guess', source)).status === 401;
  const passed = await Promise.all(Array.from({ length: 150 }, (_, n) => guess(n)));
  t.is(passed.filter(Boolean).length, 30, 'of 150 guesses over as many accounts');
  t.is((await attempt(regular, 'mistyped')).status, 401, 'an account of the office has a budget of its own');
  assertStatus(t, await attempt(regular, PASSWORD), 200);
  const refused = await attempt(newcomer, PASSWORD);
  assertStatus(t, refused, 429);
  t.regex(refused.body.message, /wrong passwords from this address/);
  t.is((await attempt(newcomer, PASSWORD, '198.51.100.77')).status, 200, 'elsewhere');
  clock.advance(60 * MINUTE);
  assertStatus(t, await attempt(newcomer, PASSWORD), 200);

  for (let n = 0; n < 95; n += 1) await throttle(world.deps, 'sign_in_site_failures', toSite('2001:db8:a::1')!);
  const wide = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(n, `2001:db8:a:${n}::1`)));
  t.is(wide.filter(Boolean).length, 5, 'of 20 guesses from as many networks of a site with 95 wrong ones');
});

test.serial('a right password uses up no budget of an office, and a new one makes its source unknown', async (t) => {
  const from = '198.51.100.10';
  const [first, second] = [freshEmail(), freshEmail()];
  for (const email of [first, second]) await register(world, email);
  const attempt = async (email: string, password: string) =>
    (await post(world, '/v1/auth/login', { email, password }, { from })).status;
  for (let n = 0; n < 29; n += 1) await throttle(world.deps, 'sign_in_failures', from);
  t.deepEqual([await attempt(first, PASSWORD), await attempt(second, PASSWORD)], [200, 200]);
  t.deepEqual([await attempt('x@else.test', 'guess'), await attempt('y@else.test', 'guess')], [401, 429]);
  await post(world, '/v1/auth/reset-password', { email: first });
  const session = mailedToken(world, first);
  await post(world, '/v1/auth/reset-password/confirm', { session, password: 'another password 9' });
  t.deepEqual([await attempt(first, 'another password 9'), await attempt(second, PASSWORD)], [429, 200]);
});

test.serial('the addresses of one IPv6 network are one source', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const statuses = [];
  for (let i = 0; i < 12; i += 1)
    statuses.push(
      (await post(world, '/v1/auth/login', { email, password: 'wrong' }, { from: `2001:db8:7:7::${i + 1}` })).status,
    );
  t.deepEqual(statuses, [...Array<number>(10).fill(401), 429, 429]);
});

test.serial('guesses from ever new sources have to wait longer and longer; a known device does not', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const { device_token } = await login(world, email);
  let source = 0;
  const attempt = (password: string, extra: object = {}) =>
    post(world, '/v1/auth/login', { email, password, ...extra }, { from: `198.18.0.${(source += 1)}` });
  for (let i = 0; i < 10; i += 1) t.is((await attempt('wrong')).status, 401);
  const waits = [];
  for (let i = 0; i < 12; i += 1) {
    assertStatus(t, await attempt('wrong'), 401);
    const refused = await attempt(PASSWORD);
    assertStatus(t, refused, 429);
    waits.push(Number(refused.headers.get('retry-after')));
    clock.advance(waits.at(-1)! * 1000);
  }
  t.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  assertStatus(t, await attempt('wrong'), 401);
  assertStatus(t, await attempt(PASSWORD), 429);
  t.is((await attempt(PASSWORD, { device_token })).status, 200, 'the owner on their own device');
  assertStatus(t, await attempt(PASSWORD, { device_token: 'made up' }), 429);
  clock.advance(15 * MINUTE);
  assertStatus(t, await attempt(PASSWORD), 200);
  t.is((await attempt('wrong')).status, 401, 'and everything is forgiven');
  assertStatus(t, await attempt('wrong'), 401);
});

test.serial('guesses that come at the same moment count one by one', async (t) => {
  const email = freshEmail();
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      post(world, '/v1/auth/login', { email, password: 'wrong' }, { from: `198.18.1.${i}` }),
    ),
  );
  t.is(answers.filter(({ status }) => status === 401).length, 11);
});

test.serial('a reset link that is none is refused before anything is hashed, and sources are limited', async (t) => {
  const confirm = (session: string, password = PASSWORD) =>
    post(world, '/v1/auth/reset-password/confirm', { session, password }, { from: '2001:db8:8:8::1' });
  t.is((await confirm('made up', 'weak')).status, 401, 'the link is looked at before the password');
  for (let i = 1; i < 100; i += 1) await confirm('made up');
  assertStatus(t, await confirm('made up'), 429);

  const email = freshEmail();
  await register(world, email);
  await post(world, '/v1/auth/reset-password', { email });
  const session = mailedToken(world, email);
  for (let i = 0; i < 2 * MAX_ATTEMPTS; i += 1) {
    const { status } = await post(world, '/v1/auth/reset-password/confirm', { session, password: 'weak' });
    t.is(status, 400);
  }
  const good = await post(world, '/v1/auth/reset-password/confirm', { session, password: 'reset password 9' });
  t.is(good.status, 200, 'weak passwords do not use the link up');
});

test.serial('each kind of mail to an address has a budget of its own', async (t) => {
  const email = freshEmail('target');
  for (let i = 0; i < 9; i += 1)
    await post(world, '/v1/auth/register', { email, password: PASSWORD }, { from: `203.0.113.${i}` });
  assertStatus(t, await post(world, '/v1/auth/register', { email, password: PASSWORD }), 429);
  assertStatus(t, await post(world, '/v1/auth/reset-password', { email }), 200);
  const tenant = await world.tenant();
  const role = await world.deps.db('roles').where({ organization_id: tenant.organizationId, name: 'Member' }).first();
  const invitation = await post(
    world,
    '/v1/organizations/current/invitations',
    { email, role_id: role.id },
    { token: tenant.sessionToken },
  );
  assertStatus(t, invitation, 201);
});

test.serial('requests for resets are limited per address, so that no inbox is flooded', async (t) => {
  const email = freshEmail('target');
  const statuses = [];
  for (let i = 0; i < 9; i += 1)
    statuses.push((await post(world, '/v1/auth/reset-password', { email }, { from: `203.0.113.${i}` })).status);
  t.deepEqual(statuses, [...Array<number>(8).fill(200), 429]);
  t.is(world.outgoing.filter((message) => message.to === email).length, 8);
});

test.serial('what has long expired is swept when something new comes', async (t) => {
  const email = freshEmail();
  await post(world, '/v1/auth/reset-password', { email });
  clock.advance(2 * DAY);
  await post(world, '/v1/auth/reset-password', { email: freshEmail() });
  t.is(await world.deps.db('auth_challenges').where({ email }).first('id'), undefined);
});

test.serial('what a person does with their account is in the audit trail of the workspace they work in', async (t) => {
  const email = freshEmail();
  await register(world, email);
  const founder = await login(world, email);
  const { body: organization } = await post(
    world,
    '/v1/organizations',
    { name: 'Trail' },
    { token: founder.access_token },
  );
  const { access_token: token } = await login(world, email, { device_token: founder.device_token });
  await call(world, 'PATCH', '/v1/auth/me', { token, body: { first_name: 'Pia' } });
  await post(
    world,
    '/v1/auth/me/password',
    { current_password: PASSWORD, new_password: 'another password 7' },
    { token },
  );
  await call(world, 'DELETE', '/v1/auth/sessions', { token });
  await post(world, '/v1/auth/logout', undefined, { token });
  const rows = await world.deps.db('audit_logs').where({ organization_id: organization.id }).orderBy('id');
  t.deepEqual(
    rows.map((row) => `${row.action} ${row.entity_type}`),
    ['create organization', 'sign_in session', 'update user', 'update user', 'sign_out user', 'sign_out session'],
  );
  t.deepEqual(rows[3].changes, { password: { from: '(hidden)', to: '(hidden)' } });
});

test.serial('API keys are refused where a person is meant', async (t) => {
  const { apiKey } = await world.tenant();
  assertStatus(t, await me(apiKey), 403);
});

test('AUTH_LOGIN_CODE=off signs in at once; always asks even a known device', async (t) => {
  const off = await createWorld({ env: { AUTH_LOGIN_CODE: 'off' } });
  const always = await createWorld({ env: { AUTH_LOGIN_CODE: 'always' } });
  t.teardown(() => Promise.all([off.close(), always.close()]));
  const email = freshEmail();
  await register(off, email);
  const direct = await post(off, '/v1/auth/login', { email, password: PASSWORD, device_token: 'of my own making' });
  t.is(typeof direct.body.access_token, 'string');
  assertStatus(t, await call(off, 'GET', '/v1/auth/me', { token: direct.body.access_token }), 200);
  const remembered = await off.deps.db('sessions').whereNotNull('device_hash').first('id');
  t.is(remembered, undefined, 'a token that was never issued makes no device known');

  await register(always, email);
  const tokens = await login(always, email);
  t.is(tokens.device_token, undefined);
  t.is(typeof tokens.access_token, 'string');
  const again = await post(always, '/v1/auth/login', { email, password: PASSWORD, device_token: 'x' });
  t.is(typeof again.body.session, 'string');
});

test('mail that cannot leave is a 500 that says so, and leaves no account behind', async (t) => {
  const broken = await createWorld();
  t.teardown(() => broken.close());
  const port = await freePort();
  broken.deps.systemMail = createSystemMail(
    { ...broken.deps.config, MAIL_TRANSPORT: 'smtp', SMTP_HOST: '127.0.0.1', SMTP_PORT: port, SMTP_SECURITY: 'none' },
    silentLogger,
  );
  const tenant = await broken.tenant();
  for (const [path, body] of [
    ['/v1/auth/register', { email: freshEmail(), password: PASSWORD }],
    ['/v1/auth/reset-password', { email: tenant.email }],
    ['/v1/auth/reset-password', { email: freshEmail() }],
  ] as const) {
    const answer = await post(broken, path, body);
    t.is(answer.status, 500, path);
    t.is(answer.body.code, 'internal_error');
    t.regex(answer.body.message, /mail transport/);
    t.notRegex(answer.text, /127\.0\.0\.1|ECONNREFUSED/);
  }
});
