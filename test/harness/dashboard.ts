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
  /** Violations of the content security policy and script errors; must be empty in every test. */
  faults: string[];
}

/** Browser and an API that serves the built dashboard. */
export interface DashboardWorld extends World {
  chrome: TestBrowser;
  /** Opens the dashboard as the owner of a tenant or as another person, in a new session. */
  open(who: Pick<Tenant, 'userId'>, path: string, options?: Parameters<TestBrowser['visit']>[0]): Promise<Visitor>;
}

/** Creates a world whose API serves the dashboard, and a browser; one of each per test file. */
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

/** Creates a workspace that sends from a mailbox of the test's mail servers, without gaps between emails. */
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

/** Waits until a page has loaded: no open requests, no skeletons. */
export async function settle(page: Page): Promise<void> {
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  // Waits for frames with the HTML of an email, which a separate process renders.
  for (const frame of await page.locator('iframe').all()) await frame.contentFrame().locator('body').waitFor();
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
/** Rules whose result depends on the colour theme. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the findings of axe-core for a page against WCAG 2.2 AA, one line per element; with `colours` only those that
 * depend on the theme.
 */
export async function findBarriers(page: Page, of: 'everything' | 'colours' = 'everything'): Promise<string[]> {
  // Evaluated through the debugger, to which the page's content security policy does not apply.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(await readFile(AXE, 'utf8'));
  const runOnly = of === 'everything' ? STANDARDS : { type: 'rule', values: COLOURS };
  // Disables the selectors of passing elements, because building them takes longer than the checks.
  const options = { runOnly, resultTypes: ['violations'], selectors: false };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResult;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary?.slice(0, 300) ?? ''}`),
  );
}
