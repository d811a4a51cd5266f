import test from 'ava';
import { addMember } from '../../../../test/harness/factories.ts';
import * as oauth from 'oauth4webapi';
import type { Page } from 'playwright-core';
import { maskOf, namesOf } from '../../../../lib/permissions.ts';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../../../test/harness/browser.ts';
import { assertBothLanguagesIn } from '../../../../test/harness/both-languages.ts';
import { authorizeAddress, createApp, signInOn, tenantWithPassword } from '../../../../test/harness/consent.ts';
import { pkce, token } from '../../../../test/harness/oauth.ts';
import { startReceiver, type Receiver } from '../../../../test/harness/receiver.ts';
import { assertStatus, call, createWorld, type World } from '../../../../test/harness/world.ts';

const browserTest = browserTests(test);

let world: World;
let chrome: TestBrowser;
/** The application's own server, to which the browser returns. */
let app: Receiver;
let callback: string;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  app = await startReceiver();
  callback = `${app.url}/callback`;
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await app?.stop();
  await world?.close();
});
test.beforeEach(() => {
  app.clear();
  app.respond({ status: 200, body: '<!doctype html><title>Arrived</title>', headers: { 'content-type': 'text/html' } });
});

/** Waits until the browser is back at the application, and returns the URL with the answer. */
async function waitForAnswer(page: Page): Promise<URL> {
  await page.waitForURL((url) => url.origin === app.url);
  return new URL(page.url());
}

async function readGrants(userId: string): Promise<{ organization_id: string; scopes: number }[]> {
  return world.deps
    .db('oauth_grants')
    .where({ user_id: userId })
    .whereNull('revoked_at')
    .select('organization_id', 'scopes');
}

browserTest('sign in, consent, code, tokens: a client library of another project goes all the way', async (t) => {
  const tenant = await tenantWithPassword(world, 'Northwind <Traders>');
  const client = await createApp(world, tenant, callback, {
    name: 'Deal Desk',
    description: 'Keeps deals in step.',
    website_url: 'https://www.example.com/heron',
  });
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(world.url);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
  );
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const start = new URL(server.authorization_endpoint!);
  start.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: callback,
    scope: 'read_campaigns write_contacts send_campaigns',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();

  // The pages work without scripts.
  const { page } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(start.href);
  t.is(await page.getByRole('heading', { level: 1 }).innerText(), 'Sign in');
  await signInOn(page, tenant.email, 'not the password');
  t.regex(await page.getByRole('alert').innerText(), /email address or the password is wrong/);
  t.is(await page.getByLabel('Email address').inputValue(), tenant.email);
  await signInOn(page, tenant.email);

  const main = page.getByRole('main');
  await page.getByRole('heading', { name: 'Deal Desk asks for access' }).waitFor();
  const text = await main.innerText();
  for (const words of [
    'Keeps deals in step.',
    'www.example.com',
    new URL(callback).host,
    'Northwind <Traders>',
    tenant.email,
    'See campaigns',
    'Create, change and delete contacts',
    'Sends email',
  ])
    t.true(text.includes(words), words);
  t.false(text.includes('Not verified'));
  t.deepEqual(
    await page
      .getByRole('group')
      .evaluateAll((groups) => groups.map((group) => group.querySelector('legend')!.textContent)),
    ['See', 'Change', 'Special'],
  );
  const names = ['Keeps deals in step.', 'www.example.com', 'Northwind &lt;Traders&gt;', 'In'];
  await assertBothLanguagesIn(t, world, page, [...names, new URL(callback).host, tenant.email]);
  await page.getByRole('button', { name: 'Approve' }).click();

  const answer = oauth.validateAuthResponse(server, { client_id: client.clientId }, await waitForAnswer(page), state);
  t.is(answer.get('iss'), world.url);
  t.is(answer.get('state'), state);
  t.is(app.requests[0]!.headers.referer, undefined, 'the application learns nothing of the page before');
  const asClient = { client_id: client.clientId };
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    asClient,
    oauth.ClientSecretBasic(client.secret),
    answer,
    callback,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, asClient, response);
  t.deepEqual(tokens.scope!.split(' ').toSorted(), ['read_campaigns', 'send_campaigns', 'write_contacts']);
  assertStatus(t, await call(world, 'GET', '/v1/campaigns', { token: tokens.access_token }), 200);
  t.is(
    (await call(world, 'GET', '/v1/contacts', { token: tokens.access_token })).status,
    403,
    'read_contacts was not asked for',
  );
});

browserTest('deny: the application hears it, and nothing is granted', async (t) => {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback, { state: 'a b&c=d' }));
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Deny' }).click();
  const { searchParams } = await waitForAnswer(page);
  t.deepEqual(
    [searchParams.get('error'), searchParams.get('state'), searchParams.get('iss'), searchParams.get('code')],
    ['access_denied', 'a b&c=d', world.url, null],
  );
  t.deepEqual(await readGrants(tenant.userId), []);
});

browserTest('another workspace is chosen: the grant is for it, and only for what the role there allows', async (t) => {
  const tenant = await tenantWithPassword(world, 'First');
  const other = await world.tenant('Other workspace');
  await addMember(world.deps, other.organizationId, tenant.userId, 'Viewer');
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback));
  await signInOn(page, tenant.email);
  await page.getByLabel('Workspace').selectOption({ label: 'Other workspace (Viewer)' });
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByText('In Other workspace it could').waitFor();
  t.true(await page.getByLabel('Create, change and delete campaigns').isDisabled());
  t.true(await page.getByLabel('See campaigns').isChecked());
  await page.getByRole('button', { name: 'Approve' }).click();
  await waitForAnswer(page);
  t.deepEqual(await readGrants(tenant.userId), [
    { organization_id: other.organizationId, scopes: maskOf(['READ_CAMPAIGNS']) },
  ]);
});

browserTest('a workspace changed in another tab is not granted what the person saw for the first', async (t) => {
  const tenant = await tenantWithPassword(world, 'First');
  const other = await world.tenant('Second');
  await addMember(world.deps, other.organizationId, tenant.userId, 'Admin');
  const client = await createApp(world, tenant, callback);
  const { page, context } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback));
  await signInOn(page, tenant.email);
  await page.getByText('In First it could').waitFor();
  const tab = await context.newPage();
  await tab.goto(page.url());
  await tab.getByLabel('Workspace').selectOption({ label: 'Second (Admin)' });
  await tab.getByRole('button', { name: 'Change' }).click();
  await tab.getByText('In Second it could').waitFor();
  await page.getByRole('button', { name: 'Approve' }).click();
  t.regex(await page.getByRole('alert').innerText(), /workspace has been changed/);
  t.deepEqual(await readGrants(tenant.userId), []);
  await page.getByRole('button', { name: 'Approve' }).click();
  await waitForAnswer(page);
  t.deepEqual(
    (await readGrants(tenant.userId)).map((grant) => grant.organization_id),
    [other.organizationId],
  );
});

browserTest('fewer scopes than asked for; none at all is not an approval', async (t) => {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback, { scope: undefined }));
  await signInOn(page, tenant.email);
  const boxes = page.getByRole('checkbox');
  t.is(
    await boxes.count(),
    namesOf(2 ** 31 - 1).length,
    'without a scope, everything the application is registered for is asked',
  );
  for (const box of await boxes.all()) await box.uncheck();
  await page.getByRole('button', { name: 'Approve' }).click();
  t.regex(await page.getByRole('alert').innerText(), /Nothing was approved/);
  t.is(await page.getByRole('checkbox', { checked: true }).count(), 0, 'what was left out stays out');
  t.deepEqual(await readGrants(tenant.userId), []);
  await page.getByLabel('Publish product events').check();
  await page.getByLabel('See mailboxes').check();
  await page.getByRole('button', { name: 'Approve' }).click();
  await waitForAnswer(page);
  t.deepEqual(
    (await readGrants(tenant.userId)).map((grant) => namesOf(grant.scopes)),
    [['READ_EMAILS', 'WRITE_EVENTS']],
  );
});

browserTest('every scope there is can be approved at once', async (t) => {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback, { scope: undefined }));
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).click();
  await waitForAnswer(page);
  t.is((await readGrants(tenant.userId))[0]!.scopes, 2 ** 31 - 1);
});

browserTest('an application may go on to wherever it wants from its redirect URI', async (t) => {
  const tenant = await tenantWithPassword(world);
  const elsewhere = await startReceiver({ respond: { status: 200, body: 'done' } });
  t.teardown(() => elsewhere.stop());
  app.respond({ status: 302, headers: { location: `http://localhost:${elsewhere.port}/welcome` } });
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback));
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.waitForURL(`http://localhost:${elsewhere.port}/welcome`);
  t.is(app.requests.filter((request) => request.path.startsWith('/callback?code=')).length, 1);
});

browserTest('an application that lost a scope while the person was reading gets invalid_scope', async (t) => {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, callback);
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback));
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await world.deps
    .db('oauth_applications')
    .where('id', client.id)
    .update({ scopes: maskOf(['READ_CONTACTS']) });
  await page.getByRole('button', { name: 'Approve' }).click();
  t.is((await waitForAnswer(page)).searchParams.get('error'), 'invalid_scope');
  t.deepEqual(await readGrants(tenant.userId), []);
});

browserTest(
  'a client that registered itself is marked, with the place it leads to; a private-use scheme gets a link',
  async (t) => {
    const tenant = await tenantWithPassword(world);
    const redirect = 'com.example.tool:/callback';
    const client = await createApp(world, tenant, redirect, { self_registered: true, name: 'Google' });
    const { page } = await chrome.visit();
    await page.goto(authorizeAddress(world, client, redirect));
    await signInOn(page, tenant.email);
    await page.getByRole('heading', { name: 'Google asks for access' }).waitFor();
    const text = await page.getByRole('main').innerText();
    t.regex(text, /Not verified/);
    t.regex(text, /an app on this device \(com\.example\.tool\)/);
    await page.getByRole('button', { name: 'Approve' }).click();
    t.regex(
      (await page.getByRole('link', { name: 'Continue' }).getAttribute('href'))!,
      /^com\.example\.tool:\/callback\?code=ssac_/,
    );
  },
);

browserTest('what an application calls itself is text, wherever it stands', async (t) => {
  const tenant = await tenantWithPassword(world, '<img src=x onerror=alert(1)>');
  const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
  const client = await createApp(world, tenant, callback, {
    name: evil,
    description: evil,
    website_url: 'javascript:alert(3)//https://',
  });
  const { page } = await chrome.visit();
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs += 1;
    return dialog.dismiss();
  });
  const clean = async (where: string) => {
    t.is(await page.locator('main img, main script, [onerror]').count(), 0, where);
    t.is(await page.locator('a[href^="javascript"]').count(), 0, where);
  };
  await page.goto(authorizeAddress(world, client, callback, { state: evil, scope: 'read_campaigns' }));
  await clean('sign-in');
  await signInOn(page, tenant.email, evil);
  await clean('wrong password');
  await signInOn(page, tenant.email);
  await page.getByRole('heading', { name: evil }).waitFor();
  await clean('consent');
  await page.getByRole('button', { name: 'Approve' }).click();
  t.is((await waitForAnswer(page)).searchParams.get('state'), evil);
  await page.goto(`${world.url}/account/apps`);
  await page.getByRole('heading', { name: evil }).waitFor();
  await clean('authorized apps');
  t.is(dialogs, 0);
});

browserTest('revoking under authorized apps ends the tokens', async (t) => {
  const tenant = await tenantWithPassword(world, 'Revokers');
  const client = await createApp(world, tenant, callback, { name: 'Deal Desk' });
  const { verifier, challenge } = pkce();
  const { page } = await chrome.visit();
  await page.goto(authorizeAddress(world, client, callback, { code_challenge: challenge }));
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).click();
  const code = (await waitForAnswer(page)).searchParams.get('code')!;
  const form = (fields: Record<string, string>) =>
    token(world, { client_id: client.clientId, client_secret: client.secret, ...fields });
  const { body: tokens } = await form({
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
  });
  assertStatus(t, await call(world, 'GET', '/v1/campaigns', { token: tokens.access_token }), 200);

  await page.goto(`${world.url}/account/apps`);
  const text = await page.getByRole('main').innerText();
  for (const words of ['Deal Desk', 'Revokers', '2 permissions']) t.true(text.includes(words), words);
  await page.getByRole('button', { name: 'Revoke access of Deal Desk to Revokers' }).click();
  await page.getByText('No app has access').waitFor();
  world.actors.forget();
  assertStatus(t, await call(world, 'GET', '/v1/campaigns', { token: tokens.access_token }), 401);
  t.is((await form({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })).body.error, 'invalid_grant');
});

browserTest('signed out, or the session ended from elsewhere: the next page asks again', async (t) => {
  const tenant = await tenantWithPassword(world);
  const { page } = await chrome.visit();
  await page.goto(`${world.url}/account/apps`);
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Password').waitFor();
  t.is(
    await world.deps
      .db('sessions')
      .where('user_id', tenant.userId)
      .whereNotNull('revoked_at')
      .then((rows) => rows.length),
    1,
  );
  await signInOn(page, tenant.email);
  await page.getByRole('heading', { name: 'Authorized apps' }).waitFor();
  t.is(
    (await call(world, 'DELETE', '/v1/auth/sessions', { token: tenant.sessionToken })).status,
    204,
    'as a person ends other sessions in the dashboard',
  );
  await page.reload();
  await page.getByLabel('Password').waitFor();
});
