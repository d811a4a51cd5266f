import test from 'ava';
import type { Page, Request } from 'playwright-core';
import { browserTests, findChromium, intercept } from '../harness/browser.ts';
import { createDashboardWorld, type DashboardWorld } from '../harness/dashboard.ts';
import { createMailbox, type Tenant } from '../harness/factories.ts';
import { createSentHistory } from '../harness/sent-history.ts';

const browserTest = browserTests(test);
let world: DashboardWorld;
let tenant: Tenant;
test.before(async () => {
  if (!findChromium()) return;
  world = await createDashboardWorld();
  tenant = await world.tenant();
});
test.after.always(() => world?.close());

/**
 * Maximum numbers of API requests and script files when a page is opened, regardless of the length of its list. Two
 * requests belong to the layout: the person with their workspaces, and the unread count.
 */
const USUAL = [5, 10] as const;
const BUDGETS: Record<string, readonly [requests: number, files: number]> = {
  '/': [6, 6],
  '/campaigns/:id': [6, 14],
  '/campaigns/:id?tab=leads': [5, 12],
  '/campaigns/:id?tab=check': [6, 12],
};

/** Returns the paths of the navigation's links. */
const roomsOf = (page: Page): Promise<string[]> =>
  page
    .getByRole('navigation', { name: 'Main navigation' })
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => (link as unknown as { pathname: string }).pathname));

browserTest('every room is reached and left by keyboard alone', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/', { locale: 'en-GB', reducedMotion: 'reduce' });
  await page.locator('main h1').waitFor();
  const rooms = await roomsOf(page);
  t.true(rooms.length >= 6, rooms.join(' '));
  for (const room of rooms) {
    // Presses Tab from the start of the page until the link has the focus; Enter opens it.
    await page.locator('body').press('Control+Home');
    await page.evaluate('document.activeElement?.blur()');
    let isThere = false;
    for (let presses = 0; presses < 40 && !isThere; presses += 1) {
      await page.keyboard.press('Tab');
      isThere = (await page.evaluate(
        `document.activeElement?.closest('nav')?.getAttribute('aria-label') === 'Main navigation' && document.activeElement.pathname === '${room}'`,
      )) as boolean;
    }
    t.true(isThere, `${room} is reached by Tab`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.url}${room}`);
    await page.locator('main h1').waitFor();
    // Every focused element shows its focus, and Tab moves on and out again, so there is no trap.
    const before = new Set<string>();
    for (let presses = 0; presses < 5; presses += 1) {
      await page.keyboard.press('Tab');
      before.add(String(await page.evaluate('document.activeElement?.outerHTML.slice(0, 300)')));
    }
    t.true(before.size > 1, `${room}: the focus moves`);
  }
  t.deepEqual(faults, []);
  await context.close();
});

browserTest('no page asks once per row, and none asks the same twice', async (t) => {
  const email = 'many@ours.test';
  const id = await createMailbox(world.deps, tenant.organizationId, email, { smtp: { host: '127.0.0.1', port: 1 } });
  for (let n = 0; n < 25; n += 1)
    await createMailbox(world.deps, tenant.organizationId, `box${n}@ours.test`, {
      smtp: { host: '127.0.0.1', port: 1 },
    });
  const { campaignId } = await createSentHistory(
    world,
    tenant.organizationId,
    { id, email },
    { days: 10, perDay: () => 3 },
  );
  const { page, context } = await world.open(tenant, '/', { locale: 'en-GB' });
  await page.locator('main h1').waitFor();
  // Waits for late requests of the first page, so that they are not counted for the next page.
  await page.waitForLoadState('networkidle');
  const pages = [
    ...(await roomsOf(page)),
    '/operations/stuck',
    '/reports/deliverability',
    '/reports/attribution',
    ...['workspace', 'members', 'roles', 'teams', 'labels', 'templates', 'outreach', 'apps', 'usage'].map(
      (name) => `/settings/${name}`,
    ),
    ...['keys', 'applications', 'events', 'connect'].map((name) => `/agents/${name}`),
    ...['', '?tab=leads', '?tab=check'].map((tab) => `/campaigns/${campaignId}${tab}`),
  ];
  for (const path of pages) {
    const asked: string[] = [];
    const files = new Set<string>();
    const count = (request: Request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/v1/'))
        asked.push(`${request.method()} ${pathname}${search}${request.postData() ?? ''}`);
      if (pathname.endsWith('.js')) files.add(pathname);
    };
    page.on('request', count);
    await page.goto(world.url + path);
    await page.locator('main h1').waitFor();
    await page.waitForLoadState('networkidle');
    page.off('request', count);
    const [requests, most] = BUDGETS[path.replace(campaignId, ':id')] ?? USUAL;
    t.true(asked.length > 0 && asked.length <= requests, `${path}: ${asked.length} requests: ${asked.join(' ')}`);
    t.true(files.size > 0 && files.size <= most, `${path}: ${files.size} files: ${[...files].join(' ')}`);
    t.deepEqual(
      asked.filter((one, at) => asked.indexOf(one) !== at),
      [],
      `${path}: asked twice`,
    );
  }
  await context.close();
});

browserTest(
  'while the API is slow the shape of the page is there; an answer of 500 is said and asked again',
  async (t) => {
    const { page, context } = await world.open(tenant, '/', { locale: 'en-GB' });
    await page.locator('main h1').waitFor();
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/campaigns?*', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    answer();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    await page.unroute('**/v1/campaigns?*');

    let isBroken = true;
    await page.route('**/v1/emails?*', (route) =>
      isBroken
        ? route.fulfill({
            status: 500,
            contentType: 'application/json',
            body: JSON.stringify({
              code: 'internal',
              message: 'Something broke here',
              fix: 'Try it again.',
              request_id: 'r-1',
            }),
          })
        : route.continue(),
    );
    await page.getByRole('link', { name: 'Mailboxes', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('Something broke here').waitFor();
    await alert.getByText('Try it again.').waitFor();
    isBroken = false;
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    t.pass();
    await context.close();
  },
);

browserTest('what goes wrong is said in German: no answer, and a field that is refused', async (t) => {
  const { page, context } = await world.open(tenant, '/campaigns/new', { locale: 'de-DE' });
  const name = page.getByRole('main').getByRole('textbox').first();
  await name.fill('Lichter');
  await intercept(page, '**/v1/campaigns', (route) => route.abort());
  await name.press('Enter');
  const alert = page.getByRole('alert');
  await alert.getByText('Der Server ist nicht erreichbar').waitFor();
  t.is(await name.inputValue(), 'Lichter');
  await page.unroute('**/v1/campaigns');
  const problems = [
    { path: 'body.start_date', message: 'must not be before today', code: 'field.before_today', values: {} },
  ];
  await intercept(
    page,
    '**/v1/campaigns',
    (route) => route.fulfill({ status: 400, json: { code: 'bad_request', message: 'Refused', problems } }),
    { times: 1 },
  );
  await name.press('Enter');
  await alert.getByText('darf nicht vor heute liegen').waitFor();
  await context.close();
});

browserTest('a 401 in the middle renews the session, and what was typed stays', async (t) => {
  const { page, context } = await world.open(tenant, '/campaigns/new', { locale: 'en-GB' });
  const name = page.getByRole('main').getByRole('textbox').first();
  await name.fill('Lights for shops');
  let refused = 0;
  await intercept(page, '**/v1/campaigns', (route) => {
    if (route.request().method() !== 'POST' || refused > 0) return route.continue();
    refused += 1;
    return route.fulfill({
      status: 401,
      contentType: 'application/json',
      body: JSON.stringify({ code: 'unauthorized', message: 'The token has expired', fix: 'Sign in again.' }),
    });
  });
  const renewed = page.waitForRequest('**/account/session');
  await page.keyboard.press('Enter');
  await renewed;
  await page.waitForURL(/\/campaigns\/[0-9a-f-]{36}/);
  t.is(refused, 1);
  const rows = await world.deps
    .db('campaigns')
    .where({ organization_id: tenant.organizationId, name: 'Lights for shops' });
  t.is(rows.length, 1, 'it was made once');
  await context.close();
});

browserTest('a session that ended keeps what was typed, and goes on when somebody has signed in again', async (t) => {
  const { page, context } = await world.open(tenant, '/campaigns/new', { locale: 'en-GB' });
  await page.getByRole('main').getByRole('textbox').first().fill('Lights for harbours');
  // Ends the session: requests are refused with 401, and the cookie is deleted.
  const cookies = await context.cookies();
  await context.clearCookies();
  let isOver = true;
  await intercept(page, '**/v1/**', (route) =>
    isOver
      ? route.fulfill({ status: 401, contentType: 'application/json', body: '{"code":"unauthorized","message":"no"}' })
      : route.continue(),
  );
  await page.keyboard.press('Enter');
  await page.getByText('Your session has ended').first().waitFor();
  t.is(await page.getByRole('main').getByRole('textbox').first().inputValue(), 'Lights for harbours');
  isOver = false;
  await context.addCookies(cookies);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/\/campaigns\/[0-9a-f-]{36}/);
  await context.close();
});

browserTest('a browser whose language is no language tag shows the page', async (t) => {
  const { page, context, faults } = await world.open(tenant, '/', { locale: 'en-GB' });
  await page.addInitScript(`Object.defineProperties(navigator, {
    language: { get: () => 'en-US@posix' },
    languages: { get: () => ['en-US@posix'] },
  })`);
  await page.reload();
  await page.locator('main h1').waitFor();
  t.is(await page.getByText('en-US@posix').count(), 0);
  t.deepEqual(faults, []);
  await context.close();
});
