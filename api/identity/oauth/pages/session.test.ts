import test from 'ava';
import { createBrowserCookie } from '../../../../test/harness/factories.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../../../test/harness/world.ts';
import { setCookie } from '../../../pages/cookies.ts';

const clock = new ManualClock();
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

/** Returns the headers that a browser sends from a page of this server. */
const own = (cookie: string, headers: Record<string, string> = {}) => ({
  headers: { cookie, origin: world.deps.config.APP_URL, 'sec-fetch-site': 'same-origin', ...headers },
});
const renew = (cookie: string, headers?: Record<string, string>) =>
  call(world, 'POST', '/account/session', own(cookie, headers));
const cookieOf = (answer: { headers: Headers }) => answer.headers.getSetCookie()[0]!.split(';')[0]!;

test.serial("a browser's session gives its pages an access token, and the cookie a new value", async (t) => {
  const { userId, organizationId } = await world.tenant();
  const cookie = await createBrowserCookie(world.deps, userId);
  const answer = await renew(cookie);
  assertStatus(t, answer, 200);
  t.is(answer.body.user_id, userId);
  t.deepEqual(Object.keys(answer.body).toSorted(), [
    'access_token',
    'access_token_expires_at',
    'session_id',
    'user_id',
  ]);
  const line = answer.headers.getSetCookie()[0]!;
  t.regex(line, /; HttpOnly/);
  t.regex(line, /; Path=\/;/);
  t.not(cookieOf(answer), cookie);
  const me = await call(world, 'GET', '/v1/auth/me', { token: answer.body.access_token });
  t.is(me.body.organization_id, organizationId);
  assertStatus(t, await renew(cookieOf(answer)), 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
});

test.serial(
  'a value that was replaced works for a minute more, as tabs ask at once; used later it ends the session',
  async (t) => {
    const { userId } = await world.tenant();
    const first = await createBrowserCookie(world.deps, userId);
    const second = await renew(first);
    const beside = await renew(first);
    t.is(beside.status, 200, 'another tab, or an answer that was lost');
    const third = await renew(cookieOf(beside));
    assertStatus(t, third, 200);
    t.is(cookieOf(second), cookieOf(beside));
    clock.advance(61_000);
    assertStatus(t, await renew(cookieOf(beside)), 401);
    t.is((await renew(cookieOf(third))).status, 401, 'a copy was used: the session has ended');
    assertStatus(t, await call(world, 'GET', '/v1/auth/me', { token: third.body.access_token }), 401);
  },
);

test.serial(
  'tabs that ask at once get the same value, so that the browser has a good one whichever answer comes last',
  async (t) => {
    const { userId } = await world.tenant();
    const first = await createBrowserCookie(world.deps, userId);
    const tabs = await Promise.all([renew(first), renew(first), renew(first)]);
    t.deepEqual(
      tabs.map(({ status }) => status),
      [200, 200, 200],
    );
    t.is(new Set(tabs.map(cookieOf)).size, 1);
    assertStatus(t, await renew(cookieOf(tabs[0])), 200);
  },
);

test.serial('a copy of the value before does not live longer by being used, and pushes out nobody', async (t) => {
  const { userId } = await world.tenant();
  const first = await createBrowserCookie(world.deps, userId);
  const one = await renew(first);
  clock.advance(40_000);
  assertStatus(t, await renew(first), 200);
  clock.advance(40_000);
  t.is((await renew(first)).status, 401, 'a copy does not live on by being used');
  t.is((await renew(cookieOf(one))).status, 401, 'and has ended the session');
});

test.serial('a copy that was renewed many times is found out when its owner comes back', async (t) => {
  const { userId } = await world.tenant();
  const owners = await createBrowserCookie(world.deps, userId);
  let copied = owners;
  let last = await renew(copied);
  for (let n = 0; n < 6; n += 1) {
    copied = cookieOf(last);
    last = await renew(copied);
  }
  assertStatus(t, await renew(owners), 401);
  t.is((await renew(cookieOf(last))).status, 401, 'the copy ends with the session');
  assertStatus(t, await call(world, 'GET', '/v1/auth/me', { token: last.body.access_token }), 401);
});

test.serial("a request that others of its browser overtook is refused, and ends nobody's session", async (t) => {
  const { userId } = await world.tenant();
  const first = await createBrowserCookie(world.deps, userId);
  const third = cookieOf(await renew(cookieOf(await renew(first))));
  assertStatus(t, await renew(first), 401);
  const fourth = await renew(third);
  assertStatus(t, fourth, 200);
  clock.advance(61_000);
  t.is((await renew(first)).status, 401, 'it is not late any more');
  assertStatus(t, await renew(cookieOf(fourth)), 401);
});

test.serial("nobody ends another person's session by a value that was never issued", async (t) => {
  const { userId } = await world.tenant();
  const cookie = await createBrowserCookie(world.deps, userId);
  const [name, value] = cookie.split('=') as [string, string];
  const bytes = Buffer.from(value, 'base64url');
  bytes[20]! ^= 1;
  assertStatus(t, await renew(`${name}=${bytes.toString('base64url')}`), 401);
  assertStatus(t, await renew(cookie), 200);
});

test.serial('other sites cannot renew a session', async (t) => {
  const { userId } = await world.tenant();
  const cookie = await createBrowserCookie(world.deps, userId);
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: '' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign) t.is((await renew(cookie, headers)).status, 403, JSON.stringify(headers));
  t.is((await renew(cookie)).status, 200, 'and none of them used it up');
  assertStatus(t, await renew(''), 401);
  assertStatus(t, await renew('heron_session=nothing'), 401);
});

test.serial('the sign-in page leads back to where somebody was, and nowhere else', async (t) => {
  const { userId } = await world.tenant();
  const cookie = await createBrowserCookie(world.deps, userId);
  const leads = async (to: string) => {
    const answer = await fetch(`${world.url}/account/sign-in?to=${encodeURIComponent(to)}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    return answer.headers.get('location');
  };
  t.is(await leads('/campaigns/1?tab=log'), '/campaigns/1?tab=log');
  for (const elsewhere of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/%0d%0aSet-Cookie:x',
    '',
    '/a/..//evil.example',
  ])
    t.regex((await leads(elsewhere)) ?? '', /^\/(?![/\\])/, elsewhere);
  const stranger = await call(world, 'GET', '/account/sign-in?to=/inbox');
  assertStatus(t, stranger, 200);
  t.true(stranger.text.includes('Sign in to your workspace'));
  t.true(stranger.text.includes('name="request" value="to=%2Finbox"'));
});

test('over TLS the cookie is bound to the host; over plain http it has no prefix, as browsers would refuse it', (t) => {
  const secure = { ...world.deps.config, APP_URL: 'https://heron.example.com' };
  t.regex(
    setCookie(secure, '__Host-heron_session', 'x'),
    /^__Host-heron_session=x; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  t.regex(setCookie(world.deps.config, 'heron_session', 'x'), /^heron_session=x; Path=\/; HttpOnly; SameSite=Lax$/);
});
