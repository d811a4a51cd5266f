import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';
import { ensureDashboard } from '../../web/build.ts';
import { launchBrowser, type TestBrowser } from './browser.ts';
import { createMailbox, createVisitorCookie, type Tenant } from './factories.ts';
import type { MailWorld, MailWorldMailbox } from './mail.ts';
import { call, createWorld, type World, type WorldOptions } from './world.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface Visitor {
  page: Page;
  context: BrowserContext;
  /** What the browser refused by the content security policy, and scripts that failed: none, in every test. */
  faults: string[];
}

/** A browser and an API that serves the dashboard as it was built. */
export interface DashboardWorld extends World {
  chrome: TestBrowser;
  /** Opens the dashboard as the owner of a tenant, or as another person, in a session of its own. */
  open(who: Pick<Tenant, 'userId'>, path: string, options?: Parameters<TestBrowser['visit']>[0]): Promise<Visitor>;
}

/** Brings up a world whose API serves the dashboard, and a browser; one of each per test file. */
export async function createDashboardWorld(options: WorldOptions = {}): Promise<DashboardWorld> {
  await ensureDashboard();
  const world = await createWorld({ ownAddress: true, ...options, env: { AUTH_LOGIN_CODE: 'off', ...options.env } });
  const chrome = await launchBrowser();
  return {
    ...world,
    chrome,
    async open({ userId }, path, visit) {
      const { page, context } = await chrome.visit(visit);
      const [name, value] = (await createVisitorCookie(world.deps, userId)).split('=') as [string, string];
      await context.addCookies([{ name, value, url: world.url }]);
      const faults = watchFaults(page);
      await page.goto(world.url + path);
      return { page, context, faults };
    },
    async close() {
      await chrome.close();
      await world.close();
    },
  };
}

/** A workspace that sends from a mailbox of the test's mail servers, without pauses between its emails. */
export async function createSendingTenant(
  world: World,
  mail: MailWorld,
  email: string,
): Promise<{
  tenant: Tenant;
  box: MailWorldMailbox;
  /** Calls the API as the owner; throws unless it succeeds. */
  api: (method: string, path: string, body?: unknown) => Promise<any>;
}> {
  const tenant = await world.tenant('Northwind');
  const box = await mail.addMailbox({ email, password: 'secret' });
  const servers = { smtp: box.smtp, imap: box.imap };
  await createMailbox(world.deps, tenant.organizationId, email, servers, { min_wait_time: 0 });
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await call(world, method, `/v1${path}`, { token: tenant.sessionToken, body });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  return { tenant, box, api };
}

/** Waits until a page shows what it asked for: nothing is under way, and no shape of what is to come is left. */
export async function settle(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  // A letter of a stranger is drawn by a process of its own.
  for (const letter of await page.locator('iframe').all()) await letter.contentFrame().locator('body').waitFor();
}

/** Collects violations of the content security policy and uncaught errors of a page. */
export function watchFaults(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => void faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const said = message.text();
    if (/Content Security Policy|Content-Security-Policy/.test(said)) faults.push(`csp: ${said}`);
  });
  return faults;
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules whose answer another theme may change. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe-core finds on a page against WCAG 2.2 AA, one line for each element; of `colours`, only what depends on the theme. */
export async function findBarriers(page: Page, of: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(AXE, 'utf8'));
  const runOnly = of === 'everything' ? STANDARDS : { type: 'rule', values: COLOURS };
  // Selectors of everything that passes take longer to make than the rules to check.
  const options = { runOnly, resultTypes: ['violations'], selectors: false };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary?.slice(0, 300) ?? ''}`),
  );
}
