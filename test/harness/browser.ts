import type { ExecutionContext, TestFn } from 'ava';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

/** Looked for, and fetched, before tests are declared: those that it is missing for are declared as skipped. */
const CHROMIUM = await findProgram('chromium');
/** Nothing in these tests is about speed; a loaded machine may take this long (ms) over one step. */
const PATIENCE_MS = 60_000;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The Chromium to test with; undefined where none is to be had. */
export function findChromium(): string | undefined {
  return CHROMIUM;
}

/** A browser with a fresh profile. `visit` opens a page in a context of its own: no cookie of one test is another's. */
export interface TestBrowser {
  browser: Browser;
  visit(options?: Parameters<Browser['newContext']>[0]): Promise<{ page: Page; context: BrowserContext }>;
  close(): Promise<void>;
}

/**
 * Starts headless Chromium; one per test file.
 * @throws Error where none is to be had
 */
export async function launchBrowser(): Promise<TestBrowser> {
  if (!CHROMIUM) throw new Error('No Chromium here: install one, or set CHROMIUM_PATH.');
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: FLAGS,
    headless: true,
    timeout: PATIENCE_MS,
  });
  return {
    browser,
    async visit(options) {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(PATIENCE_MS);
      return { context, page: await context.newPage() };
    },
    close: () => browser.close(),
  };
}

/**
 * Answers requests of a page that is open already. Chromium says that it does before the page has heard of it, and what the page asks for in between goes to
 * the server; so this waits until the page is given an answer that no server gives.
 */
export async function intercept(page: Page, ...[pattern, handler, options]: Parameters<Page['route']>): Promise<void> {
  await page.route(pattern, handler, options);
  await page.route('**/intercepted', (route) => route.fulfill({ status: 204 }));
  await page.waitForFunction(async () => (await fetch('/intercepted')).status === 204);
}

/**
 * Tests that need Chromium: one after the other, with patience. On a machine without it they are skipped, which the end of
 * the run prints by title and CI takes for a failure.
 */
export function browserTests(
  test: TestFn,
): (title: string, implementation: (t: ExecutionContext) => Promise<void>) => void {
  return (title, implementation) => {
    if (!CHROMIUM) {
      test.skip(`${title} (needs Chromium: install it or set CHROMIUM_PATH)`, implementation);
      return;
    }
    test.serial(title, async (t) => {
      t.timeout(4 * PATIENCE_MS);
      await implementation(t);
    });
  };
}
