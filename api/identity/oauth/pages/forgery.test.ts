import test from 'ava';
import type { BrowserContext, Page } from 'playwright-core';
import { browserTests, findChromium, launchBrowser, type TestBrowser } from '../../../../test/harness/browser.ts';
import { authorizeAddress, createApp, signInOn, tenantWithPassword } from '../../../../test/harness/consent.ts';
import { startReceiver, type Receiver } from '../../../../test/harness/receiver.ts';
import { createWorld, type World } from '../../../../test/harness/world.ts';

const browserTest = browserTests(test);

let world: World;
let chrome: TestBrowser;
/**
 * A server of a third party. At http://127.0.0.1 it belongs to the same site as Heron, at http://localhost to another
 * site.
 */
let stranger: Receiver;
let callback: string;
test.before(async () => {
  world = await createWorld({ ownAddress: true, env: { AUTH_LOGIN_CODE: 'off' } });
  stranger = await startReceiver();
  callback = `${stranger.url}/callback`;
  if (findChromium()) chrome = await launchBrowser();
});
test.after.always(async () => {
  await chrome?.close();
  await stranger?.stop();
  await world?.close();
});

async function consentShown() {
  const tenant = await tenantWithPassword(world);
  const client = await createApp(world, tenant, callback);
  const address = authorizeAddress(world, client, callback);
  const { page, context } = await chrome.visit();
  await page.goto(address);
  await signInOn(page, tenant.email);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  return { tenant, page, context, address };
}

const grantCount = async (userId: string) => (await world.deps.db('oauth_grants').where('user_id', userId)).length;

/** Reads the fields of the consent form from the page. */
async function consentFields(page: Page): Promise<Record<string, string>> {
  const form = page.locator('form', { has: page.getByRole('button', { name: 'Approve' }) });
  const pairs = await form
    .locator('input')
    .evaluateAll((inputs) =>
      (inputs as unknown as { name: string; value: string }[]).map(({ name, value }) => [name, value]),
    );
  return { ...Object.fromEntries(pairs), decision: 'approve' };
}

function serveForm(fields: Record<string, string>): void {
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const inputs = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
    .join('');
  stranger.respond({
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: `<!doctype html><form method="post" action="${world.url}/oauth/authorize">${inputs}<button>Win a prize</button></form>`,
  });
}

browserTest('a form with a changed CSRF token is refused, in words', async (t) => {
  const { tenant, page } = await consentShown();
  for (const input of await page.locator('input[name=csrf]').all()) {
    await input.evaluate((element: { value: string }) => {
      element.value = `A${element.value.slice(1)}`;
    });
  }
  await page.getByRole('button', { name: 'Approve' }).click();
  t.regex(await page.getByRole('alert').innerText(), /form is too old/);
  t.is(await grantCount(tenant.userId), 0);
});

for (const [what, host] of [
  ['another site', 'localhost'],
  ['another port of this host', '127.0.0.1'],
] as const) {
  browserTest(`a form sent from ${what} is refused, even with the right token`, async (t) => {
    const { tenant, page, context } = await consentShown();
    serveForm(await consentFields(page));
    const trap = await context.newPage();
    await trap.goto(`http://${host}:${stranger.port}/prize`);
    const refused = trap.waitForResponse((response) => response.url() === `${world.url}/oauth/authorize`);
    await trap.getByRole('button').click();
    t.is((await refused).status(), 403);
    t.regex(await trap.getByRole('alert').innerText(), /not sent from this site/);
    t.is(await grantCount(tenant.userId), 0);
  });
}

browserTest('the pages cannot be framed, by another site or by another port of this host', async (t) => {
  const { page, address } = await consentShown();
  for (const host of ['localhost', '127.0.0.1']) {
    stranger.respond({
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: `<!doctype html><iframe src="${address.replaceAll('&', '&amp;')}"></iframe>`,
    });
    const refused = page.waitForEvent('console', (message) => /frame-ancestors|X-Frame-Options/i.test(message.text()));
    await page.goto(`http://${host}:${stranger.port}/frame`);
    await refused;
    // The frame must contain only Chromium's error page, which has no form.
    t.is(await page.frameLocator('iframe').locator('form').count(), 0, host);
  }
});

browserTest('a session planted before the sign-in, or kept after the sign-out, is worth nothing', async (t) => {
  const mallory = await tenantWithPassword(world, 'Mallory');
  const victim = await tenantWithPassword(world, 'Victim');
  const sessionIn = async (context: BrowserContext) =>
    (await context.cookies()).find((cookie) => cookie.name === 'heron_session');
  const signedIn = async (email: string, planted?: string) => {
    const { page, context } = await chrome.visit();
    await page.goto(`${world.url}/account/apps`);
    // Sets the cookie after the sign-in form was loaded, when an attack is most likely to succeed.
    if (planted) await context.addCookies([{ name: 'heron_session', value: planted, url: world.url }]);
    await signInOn(page, email);
    return { page, context };
  };
  const theirs = await signedIn(mallory.email);
  await theirs.page.getByText(mallory.email).waitFor();
  const planted = (await sessionIn(theirs.context))!;
  t.true(planted.httpOnly);
  t.is(planted.sameSite, 'Lax');

  const { page, context } = await signedIn(victim.email, planted.value);
  // The form was created for another session.
  t.regex(await page.getByRole('alert').innerText(), /form is too old/);
  await page.goto(`${world.url}/account/apps`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInOn(page, victim.email);
  await page.getByText(victim.email).waitFor();
  const own = (await sessionIn(context))!.value;
  t.not(own, planted.value);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Password').waitFor();
  await context.addCookies([{ name: 'heron_session', value: own, url: world.url }]);
  await page.reload();
  await page.getByLabel('Password').waitFor();
});

browserTest('the pages run no script, not even one that got in', async (t) => {
  const { page } = await consentShown();
  const blocked = page.waitForEvent('console', (message) => /Content Security Policy/.test(message.text()));
  await page.evaluate(
    `(() => { const script = document.createElement('script'); script.textContent = 'document.title = "taken over"'; document.body.append(script); })()`,
  );
  await blocked;
  t.notRegex(await page.title(), /taken over/);
});
