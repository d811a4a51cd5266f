import test from 'ava';
import { ensureSetupLink } from '../../../../domain/identity/auth/setup.ts';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../../../test/harness/browser.ts';
import { assertBothLanguages } from '../../../../test/harness/both-languages.ts';
import { signInOn, tenantWithPassword } from '../../../../test/harness/consent.ts';
import { freshEmail, login, mailedCode, mailedToken, PASSWORD, post } from '../../../../test/harness/people.ts';
import { assertStatus, call, createWorld, type World } from '../../../../test/harness/world.ts';

const browserTest = browserTests(test);
const NEW_PASSWORD = 'another long passphrase';

let world: World;
let chrome: TestBrowser;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await world?.close();
});

/** Creates an invitation by a tenant's owner. Returns the invited address and the path of the mailed link. */
async function invited(name: string) {
  const tenant = await tenantWithPassword(world, name);
  const role = await world.deps
    .db('roles')
    .where({ organization_id: tenant.organizationId, name: 'Member' })
    .first('id');
  const email = freshEmail('guest');
  await post(
    world,
    '/v1/organizations/current/invitations',
    { email, role_id: role.id },
    { token: tenant.sessionToken },
  );
  return { tenant, email, link: `${world.url}/invitations/${mailedToken(world, email)}` };
}

browserTest('a fresh installation is claimed with a form; the key it shows once works', async (t) => {
  const fresh = await createWorld({ ownAddress: true, env: { TEMPORAL_UI_URL: 'http://127.0.0.1:8233' } });
  t.teardown(() => fresh.close());
  const { page, context } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(fresh.url);
  await page.getByText('no account yet').waitFor();

  const link = await ensureSetupLink(fresh.deps);
  await page.goto(link!.url);
  await page.getByLabel('Your name').fill('Ada <b> Lovelace King');
  await page.getByLabel('Email address').fill('Ada@Example.com');
  await page.getByLabel('Password').fill('aaaaaaaaaaaa');
  await page.getByLabel('Workspace').fill('Engines & <Sons>');
  await page.getByRole('button', { name: 'Set up' }).click();
  t.regex(await page.getByRole('alert').innerText(), /too weak.*different characters/);
  t.is(await page.getByLabel('Workspace').inputValue(), 'Engines & <Sons>');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('heading', { name: 'Engines & <Sons> is ready' }).waitFor();
  const key = await page.locator('p.key code').innerText();
  const commands = await page.locator('ol.next pre').allInnerTexts();
  t.is(commands.length, 3);
  t.true(commands[0]!.includes(`HERON_API_KEY=${key}`));
  for (const place of [fresh.url, `${fresh.url}/docs`, 'http://127.0.0.1:3000', 'http://127.0.0.1:8233'])
    t.true((await page.locator('dl.places').innerText()).includes(place), place);

  assertStatus(t, await call(fresh, 'GET', '/v1/contacts', { token: key }), 200);
  const me = await call(fresh, 'GET', '/v1/auth/me', {
    token: (await login(fresh, 'ada@example.com')).access_token,
  });
  t.like(me.body, { first_name: 'Ada', last_name: '<b> Lovelace King', is_admin: true });

  await page.goto(`${fresh.url}/account/apps`);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.goto(link!.url);
  await page.getByRole('heading', { name: 'This installation has an owner' }).waitFor();
  await page.goto(fresh.url);
  // Accepts either the dashboard, which needs scripts, or the page with a link to the API reference that is shown if
  // web/ was not built.
  await page.locator('a[href="/docs"], script[src^="/assets/"]').first().waitFor({ state: 'attached' });
  await context.close();
});

browserTest('who has no account makes one from the invitation, with the mailed code', async (t) => {
  const { tenant, email, link } = await invited('Lamps <Ltd>');
  const { page } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(link);
  await page.getByRole('heading', { name: 'Join Lamps <Ltd>' }).waitFor();
  t.true((await page.getByRole('main').innerText()).includes(email));
  await page.getByLabel('Your name').fill('Gwen Guest');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Code').fill(mailedCode(world, email) === '111111' ? '222222' : '111111');
  await page.getByRole('button', { name: 'Join Lamps <Ltd>' }).click();
  t.regex(await page.getByRole('alert').innerText(), /wrong, used or expired/);
  await page.getByLabel('Code').fill(mailedCode(world, email));
  await page.getByRole('button', { name: 'Join Lamps <Ltd>' }).click();
  await page.getByRole('heading', { name: 'You are now a member of Lamps <Ltd>' }).waitFor();
  const current = await call(world, 'GET', '/v1/organizations/current', {
    token: (await login(world, email)).access_token,
  });
  t.is(current.body.id, tenant.organizationId);
  await page.goto(link);
  t.regex(await page.getByRole('alert').innerText(), /expired, cancelled, used/);
});

browserTest('who has an account signs in and joins; an invitation for another address says so', async (t) => {
  const { email, link } = await invited('Chairs');
  const other = await tenantWithPassword(world);
  const { page } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(`${world.url}/account/apps`);
  await signInOn(page, other.email);
  await page.getByRole('heading', { name: 'Authorized apps' }).waitFor();
  await page.goto(link);
  await page.getByRole('heading', { name: 'This invitation is for another address' }).waitFor();

  await world.deps.db('users').where('id', other.userId).update({ email });
  await page.getByRole('button', { name: 'Sign out and continue' }).click();
  await page.getByText('to accept the invitation').waitFor();
  t.is(await page.getByLabel('Email address').inputValue(), email);
  await signInOn(page, email);
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'You are now a member of Chairs' }).waitFor();
});

browserTest('a forgotten password: the mailed link sets a new one, once', async (t) => {
  const { email } = await tenantWithPassword(world);
  const { page } = await chrome.visit({ javaScriptEnabled: false });
  await page.goto(`${world.url}/account/apps`);
  await page.getByRole('link', { name: 'Forgotten your password?' }).click();
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Email the link' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const link = `${world.url}/reset-password/${mailedToken(world, email)}`;
  await page.goto(link);
  await page.getByLabel('New password').fill('aaaaaaaaaaaa');
  await page.getByRole('button', { name: 'Set the password' }).click();
  t.regex(await page.getByRole('alert').innerText(), /too weak/);
  await page.getByLabel('New password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await signInOn(page, email, NEW_PASSWORD);
  await page.getByRole('heading', { name: 'Authorized apps' }).waitFor();

  await page.goto(link);
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
});

test('the pages of links run no script, and their forms are taken from our own pages alone', async (t) => {
  const { link } = await invited('Closed');
  const fresh = await createWorld();
  t.teardown(() => fresh.close());
  const setup = new URL((await ensureSetupLink(fresh.deps))!.url).pathname;
  const paths: [World, string, string?][] = [
    [fresh, '/'],
    [fresh, setup, setup],
    [world, new URL(link).pathname, `${new URL(link).pathname}/account`],
    [world, '/reset-password/made-up', '/reset-password/made-up'],
    [world, '/account/forgotten-password', '/account/forgotten-password'],
  ];
  for (const [at, path, action] of paths) {
    const shown = await call(at, 'GET', path);
    t.is(shown.status, 200, path);
    t.regex(shown.headers.get('content-security-policy')!, /default-src 'none'.*form-action 'self'/, path);
    t.notRegex(shown.headers.get('content-security-policy')!, /script-src|unsafe/, path);
    t.is(shown.headers.get('cache-control'), 'no-store', path);
    if (!action) continue;
    const csrf = /name="csrf" value="([^"]+)"/.exec(shown.text)![1]!;
    const cookie = shown.headers.getSetCookie()[0]!.split(';')[0]!;
    const fields = { csrf, name: 'A', email: 'eve@example.com', password: PASSWORD, organization: 'Eve' };
    const send = (headers: Record<string, string>) =>
      call(at, 'POST', action, { body: new URLSearchParams(fields), headers: { cookie, ...headers } });
    t.is((await send({ origin: 'https://evil.example' })).status, 403, path);
    t.is((await send({ origin: at.deps.config.APP_URL, cookie: '' })).status, 403, path);
  }
  t.is(await fresh.deps.db('users').first('id'), undefined);
});

test('a setup link that is wrong or old says what to do, and uses nothing up', async (t) => {
  const fresh = await createWorld();
  t.teardown(() => fresh.close());
  const answer = await call(fresh, 'GET', '/setup/made-up');
  assertStatus(t, answer, 401);
  t.regex(answer.text, /Restart the API/);
});

test('the pages of setting up, signing in and passwords are in the language of the browser, and so are their refusals', async (t) => {
  const { email, link } = await invited('Lamps');
  const fresh = await createWorld();
  t.teardown(() => fresh.close());
  const setup = new URL((await ensureSetupLink(fresh.deps))!.url).pathname;
  const invitation = new URL(link).pathname;
  const shown: [World, path: string, alike?: string[]][] = [
    [fresh, '/'],
    [fresh, setup],
    [fresh, '/setup/made-up'],
    [world, '/account/sign-in'],
    [world, '/account/apps'],
    [world, '/account/forgotten-password'],
    [world, '/reset-password/made-up'],
    [world, '/invitations/made-up'],
    [world, '/approvals/made-up'],
    [world, '/weekly-report/made-up'],
    [world, '/oauth/authorize?client_id=made-up'],
    [world, '/mailboxes/consent?state=made-up'],
    [world, invitation, [email, 'Member']],
  ];
  for (const [at, path, alike] of shown)
    await assertBothLanguages(
      t,
      (language) => call(at, 'GET', path, { headers: { 'accept-language': language } }),
      alike,
    );

  const refused: [World, path: string, action: string, fields: Record<string, string>][] = [
    [world, '/account/sign-in', '/account/sign-in', { email: 'nobody@example.com', password: PASSWORD }],
    [world, '/account/sign-in', '/account/sign-in/code', { code: '123456' }],
    [world, '/account/sign-in', '/account/sign-in', { csrf: 'another' }],
    [world, '/account/forgotten-password', '/account/forgotten-password', { email: 'nobody' }],
    [world, '/account/forgotten-password', '/account/forgotten-password', { email: 'nobody@example.com' }],
    [world, '/reset-password/made-up', '/reset-password/made-up', { password: NEW_PASSWORD }],
    [world, invitation, `${invitation}/account`, { name: 'Gwen', password: 'aaaaaaaaaaaa' }],
    [world, invitation, `${invitation}/account`, { name: 'Gwen', password: NEW_PASSWORD }],
    [fresh, setup, setup, { email: 'ada@example.com', password: PASSWORD }],
    [fresh, setup, setup, { email: 'ada@example.com', password: 'aaaaaaaaaaaa', organization: 'Engines' }],
  ];
  const alike = ['nobody@example.com', email, 'Member', 'Code'];
  for (const [at, path, action, fields] of refused) {
    const form = await call(at, 'GET', path);
    const cookie = form.headers.getSetCookie()[0]!.split(';')[0]!;
    const csrf = /name="csrf" value="([^"]+)"/.exec(form.text)![1]!;
    await assertBothLanguages(
      t,
      (language) =>
        call(at, 'POST', action, {
          body: new URLSearchParams({ csrf, ...fields }),
          headers: { cookie, origin: at.deps.config.APP_URL, 'accept-language': language },
        }),
      alike,
    );
  }
  t.deepEqual(
    world.outgoing.filter(({ to }) => to === 'nobody@example.com').map(({ subject }) => subject),
    ['There is no account for this address', 'Für diese Adresse gibt es kein Konto'],
    'the mail is in the language of the page that asked for it',
  );
});

browserTest('a German claims an installation in German', async (t) => {
  const fresh = await createWorld({ ownAddress: true });
  t.teardown(() => fresh.close());
  const { page, context } = await chrome.visit({ javaScriptEnabled: false, locale: 'de-DE' });
  await page.goto((await ensureSetupLink(fresh.deps))!.url);
  await page.getByLabel('Dein Name').fill('Ada Lovelace');
  await page.getByLabel('E-Mail-Adresse').fill('ada@example.com');
  await page.getByLabel('Passwort').fill(PASSWORD);
  await page.getByLabel('Arbeitsbereich').fill('Maschinen & <Söhne>');
  await page.getByRole('button', { name: 'Einrichten' }).click();
  await page.getByRole('heading', { name: 'Maschinen & <Söhne> ist bereit' }).waitFor();
  t.notRegex(await page.getByRole('main').innerText(), /\b(?:the|is|your|and)\b/);
  await context.close();
});
