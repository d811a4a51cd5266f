import type { ExecutionContext, TestFn } from 'ava';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

/**
 * Path of Chromium, found or fetched before tests are declared. Without it, browser tests are declared as skipped.
 */
const CHROMIUM = await findProgram('chromium');
/** Timeout (ms) of one step. These tests do not measure speed, so it is long enough for a busy machine. */
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

/** Returns the Chromium for tests; undefined if none is available. */
export function findChromium(): string | undefined {
  return CHROMIUM;
}

/** Browser with a fresh profile. `visit` opens a page in its own context, so that tests share no cookies. */
export interface TestBrowser {
  browser: Browser;
  visit(options?: Parameters<Browser['newContext']>[0]): Promise<{ page: Page; context: BrowserContext }>;
  close(): Promise<void>;
}

/**
 * Starts headless Chromium; one per test file.
 * @throws Error when none is available
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
 * Intercepts requests of an open page. Chromium confirms the interception before it takes effect, so this waits until
 * the page gets an intercepted answer.
 */
export async function intercept(page: Page, ...[pattern, handler, options]: Parameters<Page['route']>): Promise<void> {
  await page.route(pattern, handler, options);
  await page.route('**/intercepted', (route) => route.fulfill({ status: 204 }));
  await page.waitForFunction(async () => (await fetch('/intercepted')).status === 204);
}

/**
 * Declares tests that need Chromium: serial, with a long timeout. Without Chromium they are skipped; the end of the run
 * lists them, and CI treats them as failures.
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
