import test from 'ava';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { SESSION_MS } from '../../domain/identity/sessions.ts';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../test/harness/browser.ts';
import { authorizeAddress, createApp, signInOn, tenantWithPassword } from '../../test/harness/consent.ts';
import { createSession, type Tenant } from '../../test/harness/factories.ts';
import { freshEmail, mailedCode, PASSWORD } from '../../test/harness/people.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../test/harness/world.ts';

const browserTest = browserTests(test);
const CALLBACK = 'https://app.example.com/callback';
const APP_URL = 'http://127.0.0.1:8080';

/** The clock advances only when a test advances it. */
const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
/**
 * World in which signing in on a new device needs a mailed code. Its public address is that of the server, so that a
 * browser can use it.
 */
let coded: World;
let chrome: TestBrowser;
test.before(async () => {
  world = await createWorld({ clock, env: { AUTH_LOGIN_CODE: 'off', TRUSTED_PROXIES: 'loopback' } });
  coded = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'new_device' } });
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await coded?.close();
  await world?.close();
});

/** Imitates a browser: keeps cookies, and sends a browser's headers with a form. */
function visitor(at: World = world, from = '192.0.2.1') {
  const cookies = new Map<string, string>();
  const keep = (answer: Answer) => {
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/Max-Age=0/.test(line)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return answer;
  };
  const headers = (extra: Record<string, string | undefined>) => {
    const all = {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'x-forwarded-for': from,
      ...extra,
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  };
  return {
    cookies,
    async get(path: string) {
      return keep(await call(at, 'GET', path, { headers: headers({}) }));
    },
    async send(path: string, fields: Record<string, string>, extra: Record<string, string | undefined> = {}) {
      const sent = headers({
        origin: at.deps.config.APP_URL,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...extra,
      });
      // Uses fetch instead of call(), because a redirect is checked and not followed.
      const response = await fetch(at.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: sent,
        body: new URLSearchParams(fields).toString(),
      });
      return keep({ status: response.status, headers: response.headers, text: await response.text(), body: undefined });
    },
  };
}

const csrfOf = (answer: Answer) => /name="csrf" value="([^"]+)"/.exec(answer.text)![1]!;

async function signedIn(tenant: Tenant) {
  const browser = visitor();
  const csrf = csrfOf(await browser.get('/account/apps'));
  const answer = await browser.send('/account/sign-in', { csrf, email: tenant.email, password: PASSWORD });
  return { browser, answer };
}

test('every page keeps to itself: headers', async (t) => {
  const { headers, status } = await visitor().get('/account/apps');
  t.is(status, 200);
  const policy = headers.get('content-security-policy')!;
  for (const rule of [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "base-uri 'none'",
    "img-src 'self'",
  ])
    t.true(policy.includes(rule), rule);
  t.notRegex(policy, /unsafe|script-src/);
  t.is(headers.get('x-frame-options'), 'DENY');
  t.is(headers.get('cache-control'), 'no-store');
  t.is(headers.get('referrer-policy'), 'same-origin');
});

test('cookies are out of reach of scripts and other sites; over https also of http and sibling hosts', async (t) => {
  const tenant = await tenantWithPassword(world);
  const { answer } = await signedIn(tenant);
  const session = answer.headers.getSetCookie().find((line) => line.startsWith('heron_session='))!;
  t.regex(session, /; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
  const overTls = await createWorld({ env: { APP_URL: 'https://heron.example.com', AUTH_LOGIN_CODE: 'off' } });
  t.teardown(() => overTls.close());
  const [line] = (await call(overTls, 'GET', '/account/apps')).headers.getSetCookie();
  t.regex(line!, /^__Host-heron_visitor=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
});

test('a form that does not come from our pages is refused, and makes no session', async (t) => {
  const tenant = await tenantWithPassword(world);
  const other = csrfOf(await visitor().get('/account/apps'));
  const cases: [string, Record<string, string | undefined>, string | undefined][] = [
    ['no origin', { origin: undefined, 'sec-fetch-site': undefined }, undefined],
    ['origin null', { origin: 'null', 'sec-fetch-site': undefined }, undefined],
    ['another origin', { origin: 'https://evil.example', 'sec-fetch-site': undefined }, undefined],
    ['another port', { origin: 'http://127.0.0.1:8081' }, undefined],
    ['our host as a prefix', { origin: `${APP_URL}.evil.example` }, undefined],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, undefined],
    ['from a sibling', { 'sec-fetch-site': 'same-site' }, undefined],
    ['the token of another browser', {}, other],
    ['no token', {}, ''],
  ];
  for (const [what, headers, token] of cases) {
    const browser = visitor();
    const csrf = token ?? csrfOf(await browser.get('/account/apps'));
    const answer = await browser.send('/account/sign-in', { csrf, email: tenant.email, password: PASSWORD }, headers);
    t.is(answer.status, 403, what);
    t.regex(answer.headers.get('content-type')!, /text\/html/, what);
    t.false(browser.cookies.has('heron_session'), what);
  }
  t.is((await signedIn(tenant)).answer.status, 303, 'the same form from our page');
});

test('a sign-in leads back to the request it interrupted, and nowhere else', async (t) => {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, CALLBACK);
  const request = new URL(authorizeAddress(world, client, CALLBACK, { state: '&=#/?ä %41' })).search.slice(1);
  const leads = async (given: string) => {
    const browser = visitor();
    const csrf = csrfOf(await browser.get('/account/apps'));
    return (
      await browser.send('/account/sign-in', { csrf, email: tenant.email, password: PASSWORD, request: given })
    ).headers.get('location')!;
  };
  const back = new URL(await leads(request), world.url);
  t.deepEqual([...back.searchParams], [...new URLSearchParams(request)]);
  for (const evil of [
    '//evil.example',
    'https://evil.example/',
    '/\\evil.example',
    '\r\nLocation: https://evil.example',
    '@evil.example',
    '?//evil.example',
    'javascript:alert(1)',
    '#',
  ]) {
    const location = await leads(evil);
    t.true(location.startsWith('/oauth/authorize?'), evil);
    t.is(new URL(location, world.url).origin, new URL(world.url).origin, evil);
  }
  t.is(await leads(''), '/account/apps');
});

test('guessing is limited as at the API, with the same count', async (t) => {
  const tenant = await tenantWithPassword(world);
  const from = '198.51.100.7';
  const browser = visitor(world, from);
  const csrf = csrfOf(await browser.get('/account/apps'));
  const attempt = (password: string) => browser.send('/account/sign-in', { csrf, email: tenant.email, password });
  for (let count = 0; count < 6; count += 1) t.is((await attempt('wrong')).status, 401);
  for (let count = 0; count < 4; count += 1) {
    t.is(
      (
        await call(world, 'POST', '/v1/auth/login', {
          body: { email: tenant.email, password: 'wrong' },
          headers: { 'x-forwarded-for': from },
        })
      ).status,
      401,
    );
  }
  const refused = await attempt(PASSWORD);
  assertStatus(t, refused, 429);
  t.true(Number(refused.headers.get('retry-after')) > 0);
  t.false(browser.cookies.has('heron_session'));
  t.regex(refused.text, /Too many requests/);
});

test('an unknown address and a wrong password look the same', async (t) => {
  const tenant = await tenantWithPassword(world);
  const shown = async (email: string) => {
    const browser = visitor();
    const csrf = csrfOf(await browser.get('/account/apps'));
    const answer = await browser.send('/account/sign-in', { csrf, email, password: 'wrong' });
    return { status: answer.status, text: answer.text.replaceAll(email, '').replaceAll(csrf, '') };
  };
  t.deepEqual(await shown(tenant.email), await shown(freshEmail()));
  for (const email of ['', 'not an address', `${'a'.repeat(300)}@example.com`])
    t.is((await shown(email)).status, 400, email);
});

test('the cookie is no API token, an API token no cookie, and neither outlives its session', async (t) => {
  const tenant = await tenantWithPassword(world);
  const { browser } = await signedIn(tenant);
  const isIn = async () => /Sign out/.test((await browser.get('/account/apps')).text);
  const value = browser.cookies.get('heron_session')!;
  t.true(await isIn());
  assertStatus(t, await call(world, 'GET', '/v1/auth/me', { token: value }), 401);
  assertStatus(t, await call(world, 'POST', '/v1/auth/refresh', { body: { refresh_token: value } }), 401);
  const bearer = await createSession(world.deps, tenant.userId, tenant.organizationId);
  for (const forged of [bearer, tenant.apiKey, `${value.slice(0, -2)}AA`, 'x']) {
    browser.cookies.set('heron_session', forged);
    t.false(await isIn());
  }
  browser.cookies.set('heron_session', value);
  t.true(await isIn());
  assertStatus(t, await call(world, 'DELETE', '/v1/auth/sessions', { token: bearer }), 204);
  t.false(await isIn());
});

test.serial('a browser session ends by itself', async (t) => {
  const tenant = await tenantWithPassword(world);
  const { browser } = await signedIn(tenant);
  clock.advance(SESSION_MS - 1000);
  t.regex((await browser.get('/account/apps')).text, /Sign out/);
  clock.advance(1000);
  t.notRegex((await browser.get('/account/apps')).text, /Sign out/);
});

browserTest('a mailed code finishes the sign-in; the device is known the next time', async (t) => {
  const tenant = await tenantWithPassword(coded);
  const client = await createApp(coded, tenant, CALLBACK);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(coded, client, CALLBACK));
  await signInOn(page, tenant.email);
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const code = mailedCode(coded, tenant.email);
  await page.getByLabel('Code').fill(code === '000000' ? '111111' : '000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  t.regex(await page.getByRole('alert').innerText(), /wrong, used or expired/);
  await page.reload();
  await page.getByLabel('Code').fill(` ${code} `);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Approve' }).waitFor();

  await page.getByRole('button', { name: 'Not you? Sign out' }).click();
  const mails = coded.outgoing.length;
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  t.is(coded.outgoing.length, mails, 'no second code');
});

browserTest('a sign-in that waits for its code can be given up', async (t) => {
  const first = await tenantWithPassword(coded);
  const second = await tenantWithPassword(coded);
  const { page } = await chrome.visit();
  await page.goto(`${coded.url}/account/apps`);
  await signInOn(page, first.email);
  await page.getByRole('button', { name: 'Start again' }).click();
  await signInOn(page, second.email);
  await page.getByLabel('Code').fill(mailedCode(coded, second.email));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText(second.email).waitFor();
  t.pass();
});
