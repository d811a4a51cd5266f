import test from 'ava';
import { createApp, authorizeAddress, signInOn, tenantWithPassword } from '../../../../test/harness/consent.ts';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../../../test/harness/browser.ts';
import { createBrowserCookie } from '../../../../test/harness/factories.ts';
import { startReceiver, type Receiver, type ReceiverAnswer } from '../../../../test/harness/receiver.ts';
import { createWorld, type World } from '../../../../test/harness/world.ts';
import { html } from '../../../http/html.ts';

const browserTest = browserTests(test);
const CALLBACK = 'https://app.example.com/callback';
/** PNG image of one red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

let world: World;
let chrome: TestBrowser;
let host: Receiver;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  host = await startReceiver();
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await host?.stop();
  await world?.close();
});

const asked = (address: string, cookie = '') => fetch(address, { redirect: 'manual', headers: { cookie } });

/** The session cookie of a signed-in person's browser. */
const sessionCookie = ({ userId }: { userId: string }) => createBrowserCookie(world.deps, userId);

test("a request of an unknown client, or for an address that is not the client's, goes nowhere", async (t) => {
  const tenant = await world.tenant();
  const client = await createApp(world, tenant, CALLBACK);
  const wrong: [string, string][] = [
    ['unknown client', authorizeAddress(world, { clientId: 'sscid_unknown' }, CALLBACK)],
    ['no client', authorizeAddress(world, client, CALLBACK, { client_id: undefined })],
    ['no redirect URI', authorizeAddress(world, client, CALLBACK, { redirect_uri: undefined })],
    ['another redirect URI', authorizeAddress(world, client, 'https://evil.example/callback')],
    ['two clients', `${authorizeAddress(world, client, CALLBACK)}&client_id=${client.clientId}`],
    [
      'two redirect URIs',
      `${authorizeAddress(world, client, CALLBACK)}&redirect_uri=${encodeURIComponent('https://evil.example/')}`,
    ],
    ['nothing', `${world.url}/oauth/authorize`],
  ];
  for (const [what, address] of wrong) {
    const answer = await asked(address);
    const text = await answer.text();
    t.is(answer.status, 400, what);
    t.is(answer.headers.get('location'), null, what);
    t.regex(text, /role="alert"/, what);
    t.notRegex(text, /evil\.example/, what);
  }
});

test("a faulty request of the person's own application is answered by redirect; with any other the person decides", async (t) => {
  const [tenant, stranger] = [await world.tenant(), await world.tenant()];
  const owned = await createApp(world, tenant, CALLBACK);
  const selfMade = await createApp(world, tenant, CALLBACK, { self_registered: true, name: '<b>Anybody</b>' });
  const faults: [Record<string, string | undefined>, string][] = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'no_such_scope' }, 'invalid_scope'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge_method: undefined }, 'invalid_request'],
    [{ resource: 'https://evil.example/api' }, 'invalid_target'],
  ];
  for (const [fields, error] of faults) {
    const told = await asked(authorizeAddress(world, owned, CALLBACK, fields), await sessionCookie(tenant));
    t.is(told.status, 303, error);
    const location = new URL(told.headers.get('location')!);
    t.is(location.origin + location.pathname, CALLBACK);
    t.deepEqual(
      [location.searchParams.get('error'), location.searchParams.get('state'), location.searchParams.get('iss')],
      [error, 'af0ifjsldkj', world.url],
    );

    for (const [client, cookie] of [
      [selfMade, ''],
      [selfMade, await sessionCookie(tenant)],
      [owned, ''],
      [owned, await sessionCookie(stranger)],
    ] as const) {
      const shown = await asked(authorizeAddress(world, client, CALLBACK, fields), cookie);
      const text = await shown.text();
      t.is(shown.status, 400, error);
      t.is(shown.headers.get('location'), null);
      t.notRegex(text, /http-equiv="refresh"|<b>Anybody/);
      t.regex(text, new RegExp(`href="https://app\\.example\\.com/callback\\?error=${error}&amp;`));
    }
  }
});

test('the consent page says whose application it is, and warns when it is of another workspace', async (t) => {
  const [tenant, stranger] = [await world.tenant('Northwind & Sons'), await world.tenant('Elsewhere')];
  const client = await createApp(world, tenant, CALLBACK);
  const page = async (person: { userId: string }) =>
    (await asked(authorizeAddress(world, client, CALLBACK), await sessionCookie(person))).text();
  const own = await page(tenant);
  t.regex(own, /An app of <strong>Northwind &amp; Sons<\/strong>/);
  t.notRegex(own, /From another workspace/);
  const foreign = await page(stranger);
  t.regex(foreign, /From another workspace.*<strong>Northwind &amp; Sons<\/strong>/);
});

test('a template escapes what it is given', (t) => {
  const evil = `"'<>&`;
  t.is(
    html`<a title="${evil}">${[evil, html`<br>`]}${null}${undefined}${false}${0}</a>`.text,
    '<a title="&quot;&#39;&lt;&gt;&amp;">&quot;&#39;&lt;&gt;&amp;<br>0</a>',
  );
});

/** Returns a small PNG file whose header claims four gigapixels. */
function vast(): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(65_535, 16);
  bytes.writeUInt32BE(65_535, 20);
  return bytes;
}

test('a logo is not for strangers to ask for', async (t) => {
  const client = await createApp(world, await world.tenant(), CALLBACK, { logo_url: `${host.url}/stranger.png` });
  t.is((await fetch(`${world.url}/oauth/logo?client_id=${client.clientId}`)).status, 401);
  t.false(host.requests.some((request) => request.path === '/stranger.png'));
});

browserTest("logos come through this server: their hosts never meet the person's browser", async (t) => {
  host.respond((request): ReceiverAnswer => {
    if (request.path === '/logo.png') return { status: 200, body: PNG, headers: { 'content-type': 'text/plain' } };
    if (request.path === '/moved.png') return { status: 302, headers: { location: `${host.url}/logo.png` } };
    if (request.path === '/vast.png') return { status: 200, body: vast() };
    if (request.path === '/endless.png') return { status: 200, body: Buffer.concat([PNG, Buffer.alloc(1024 * 1024)]) };
    return {
      status: 200,
      body: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      headers: { 'content-type': 'image/png' },
    };
  });
  const tenant = await tenantWithPassword(world);
  const { page } = await chrome.visit();
  await page.goto(`${world.url}/account/apps`);
  await signInOn(page, tenant.email);
  await page.getByRole('heading', { name: 'Authorized apps' }).waitFor();
  const shown = async (path: string, fields: Record<string, unknown> = {}) => {
    const client = await createApp(world, tenant, CALLBACK, {
      name: 'Zebra & Co',
      logo_url: host.url + path,
      ...fields,
    });
    const loaded = fields.self_registered
      ? null
      : page.waitForResponse((response) => response.url().includes('/oauth/logo'));
    await page.goto(authorizeAddress(world, client, CALLBACK));
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    return loaded;
  };
  const real = (await shown('/logo.png'))!;
  t.is(real.headers()['content-type'], 'image/png', 'by its bytes, not by what its host says');
  t.deepEqual(await real.body(), PNG);
  for (const path of ['/moved.png', '/endless.png', '/vast.png', '/script.svg']) {
    const instead = (await shown(path))!;
    t.is(instead.headers()['content-type'], 'image/svg+xml', path);
    t.regex(await instead.text(), />Z<\/text>/, path);
  }
  for (const request of host.requests) {
    t.is(request.headers['user-agent'], 'Heron');
    t.is(request.headers.cookie, undefined);
    t.is(request.headers.referer, undefined);
  }
  const before = host.requests.length;
  await shown('/logo.png');
  t.is(host.requests.length, before, 'kept for a while');
  await shown('/unverified.png', { self_registered: true });
  t.is(await page.locator('main img').count(), 0, 'the picture of a client that registered itself is not shown');
  t.is(host.requests.length, before);
});
