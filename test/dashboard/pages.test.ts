import test from 'ava';
import type { Page, Request } from 'playwright-core';
import { browserTests, findChromium } from '../harness/browser.ts';
import { signInOn, tenantWithPassword } from '../harness/consent.ts';
import { createVisitorCookie } from '../harness/factories.ts';
import { findBarriers, settle } from '../harness/dashboard.ts';
import { walkByKeyboard } from '../harness/keyboard.ts';
import { createSceneWorld } from '../screenshots/catalogue.ts';
import { furnish, type Scene } from '../screenshots/scene.ts';
import type { SceneWorld } from '../screenshots/stage.ts';

const browserTest = browserTests(test);
let world: SceneWorld;
let scene: Scene;
test.before(async () => {
  if (!findChromium()) return;
  world = await createSceneWorld();
  scene = await furnish(world);
});
test.after.always(() => world?.close());

/** Number of visitors that go through the pages concurrently, as most of a visit is waiting. */
const LANES = 3;
/** Maximum number of API requests when a page is opened. An address that opens a panel of it asks for more. */
const MOST_REQUESTS = 6;
const WITH_PANEL = /[?&](node|step|thread)=/;
/** The sequence of a running campaign also asks for the names of the tags that its steps add. */
const MORE_REQUESTS: Record<string, number> = { sequence: 1 };
/** Layout shift of a page must be below this. */
const LEAST_SHIFT = 0.02;
/** Script that sums the layout shifts of a page in `shifted`. */
const SUM_SHIFTS = `shifted = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) shifted += one.value;
}).observe({ type: 'layout-shift', buffered: true })`;
const PHONE = { width: 390, height: 844 };

/** Opens a page and returns a finding for each budget that it exceeds. */
async function openWithinBudget(page: Page, name: string, path: string): Promise<string[]> {
  const asked: string[] = [];
  const count = (request: Request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/v1/')) asked.push(`${request.method()} ${pathname}`);
  };
  page.on('request', count);
  // Forgets what the page before asked until the browser left it.
  page.once('framenavigated', () => {
    asked.length = 0;
  });
  await page.goto(world.url + path);
  await settle(page);
  page.off('request', count);
  const shifted = Number(await page.evaluate('shifted'));
  const most = MOST_REQUESTS + (MORE_REQUESTS[name.split('-')[0]!] ?? 0);
  return [
    ...(asked.length > most && !WITH_PANEL.test(path) ? [`${asked.length} requests: ${asked.join(' ')}`] : []),
    ...(shifted >= LEAST_SHIFT ? [`layout shift ${shifted}`] : []),
  ];
}

browserTest(
  'every page can be used by everybody, within its budgets, in both themes, and keeps the content security policy',
  async (t) => {
    t.timeout(600_000);
    // Names of dialogs that were already opened. Several pages of an area share a dialog, and one check of it is enough.
    const opened = new Set<string>();
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      const look = { colorScheme: 'light', reducedMotion: 'reduce' } as const;
      const full = await world.open(scene.tenant, '/', look);
      const empty = await world.open(scene.empty, '/', look);
      const found: string[] = [];
      for (const { page } of [full, empty]) await page.addInitScript(SUM_SHIFTS);
      for (const [name, path, who, act] of scene.pages.filter((_page, at) => at % LANES === lane)) {
        const { page } = who === 'empty' ? empty : full;
        found.push(...(await openWithinBudget(page, name, path)).map((one) => `${name}: ${one}`));
        await act?.(page);
        t.is(await page.locator('[role="alert"]').count(), 0, `${name}: errors`);
        t.regex(await page.title(), /Heron$/, `${name}: no script of what is shown has run`);
        found.push(...(await findBarriers(page)).map((one) => `${name}, light: ${one}`));
        await page.emulateMedia({ colorScheme: 'dark' });
        await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
        // Waits for colour transitions, whose intermediate colours belong to neither theme.
        await page.evaluate(
          `Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))`,
        );
        found.push(...(await findBarriers(page, 'colours')).map((one) => `${name}, dark: ${one}`));
        // Checked in dark mode, where focus rings are harder to see. The frame is the same on every page, so only the
        // first page includes it.
        const part = name === 'start' ? 'body' : '#main';
        found.push(...(await walkByKeyboard(page, part, opened)).map((one) => `${name}, keyboard: ${one}`));
        await page.emulateMedia({ colorScheme: 'light' });
      }
      await full.context.close();
      await empty.context.close();
      return [...found, ...full.faults, ...empty.faults];
    });
    t.deepEqual((await Promise.all(lanes)).flat(), []);
  },
);

browserTest('every fourth page can be used by keyboard on a phone, in the light', async (t) => {
  t.timeout(600_000);
  const opened = new Set<string>();
  const pages = scene.pages.filter((_page, at) => at % 4 === 1);
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const look = { colorScheme: 'light', reducedMotion: 'reduce', viewport: PHONE } as const;
    const full = await world.open(scene.tenant, '/', look);
    const empty = await world.open(scene.empty, '/', look);
    const found: string[] = [];
    for (const [name, path, who, act] of pages.filter((_page, at) => at % LANES === lane)) {
      const { page } = who === 'empty' ? empty : full;
      await page.goto(world.url + path);
      await settle(page);
      await act?.(page);
      const part = name === 'start' ? 'body' : '#main';
      found.push(...(await walkByKeyboard(page, part, opened)).map((one) => `${name}: ${one}`));
    }
    await full.context.close();
    await empty.context.close();
    return found;
  });
  t.deepEqual((await Promise.all(lanes)).flat(), []);
});

browserTest('the first page asks for less than 200 KB of script', async (t) => {
  const { page, context } = await world.chrome.visit();
  const sizes = new Map<string, number>();
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) sizes.set(response.url(), Number(response.headers()['content-length']));
  });
  const [name, value] = (await createVisitorCookie(world.deps, scene.tenant.userId)).split('=') as [string, string];
  await context.addCookies([{ name, value, url: world.url }]);
  await page.goto(world.url);
  await page.locator('main h1').waitFor();
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  t.log(`${Math.round(total / 1024)} KB in ${sizes.size} files`);
  t.true(sizes.size > 0 && total > 50 * 1024 && total < 200 * 1024, `${total} bytes in ${sizes.size} files`);
  await context.close();
});

browserTest(
  'dialogs, notes, the command palette and German texts come when they are asked for, and keep the policy too',
  async (t) => {
    const { page, context, faults } = await world.open(scene.empty, '/settings/members', { locale: 'en-GB' });
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email address').fill('lena@example.com');
    await dialog.getByLabel('Role').click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await dialog.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByText('lena@example.com is invited').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'lena@example.com' }).getByText('Admin').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Page or campaign').fill('mailb');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No mailbox yet' }).waitFor();
    await page.goto(world.url);
    await page.getByRole('button', { name: 'Account of' }).click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Schritte zur ersten Antwort' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Schritte zur ersten Antwort' }).waitFor();
    await page.goto(`${world.url}/settings/members`);
    await page.getByRole('button', { name: 'Jemanden einladen' }).click();
    await dialog.getByLabel('E-Mail-Adresse').fill('jan@example.com');
    await dialog.getByRole('button', { name: 'Jemanden einladen' }).click();
    await page.getByText('jan@example.com ist eingeladen').waitFor();
    const mail = world.outgoing.find(({ to }) => to === 'jan@example.com');
    t.regex(mail!.subject, /^Du bist zu .+ eingeladen$/, 'in the language of the dashboard, not of the browser');
    t.deepEqual(faults, []);
    await context.close();
  },
);

browserTest('on a phone the rooms are a menu that opens and closes by keyboard', async (t) => {
  const { page, context } = await world.open(scene.empty, '/', { locale: 'en-GB', viewport: PHONE });
  const menu = page.getByRole('button', { name: 'Menu', exact: true });
  const room = page.getByRole('link', { name: 'Mailboxes', exact: true });
  await menu.waitFor();
  t.false(await room.isVisible(), 'what is not seen cannot get the focus');
  await menu.press('Enter');
  await room.waitFor();
  await page.keyboard.press('Escape');
  await room.waitFor({ state: 'hidden' });
  t.true(await menu.evaluate((button) => button.matches(':focus[aria-expanded="false"]')));
  await menu.press('Enter');
  await room.press('Enter');
  await page.getByRole('heading', { name: 'No mailbox yet' }).waitFor();
  await room.waitFor({ state: 'hidden' });
  await context.close();
});

browserTest('who is not signed in is led to the sign-in page, and back to the page they asked for', async (t) => {
  const { page, context } = await world.chrome.visit();
  await page.goto(`${world.url}/mailboxes?q=ada`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.is(new URL(page.url()).searchParams.get('to'), '/mailboxes?q=ada');
  await signInOn(page, (await tenantWithPassword(world)).email);
  await page.getByRole('heading', { name: 'Mailboxes' }).waitFor();
  t.is(page.url(), `${world.url}/mailboxes?q=ada`);
  await context.close();
});
