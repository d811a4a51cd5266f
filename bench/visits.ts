import type { CDPSession, Page } from 'playwright-core';
import type { TestBrowser } from '../test/harness/browser.ts';

/** Factor by which the simulated slow processor is slower than this machine. */
export const SLOW = 4;
/** Selector of elements shown while content is loading. */
const SKELETON = '.mantine-Skeleton-root';

/** Visitor, and the URL of the dashboard. */
export interface Visits {
  chrome: TestBrowser;
  url: string;
  /** Returns a fresh session cookie for each visit, because a visit replaces it. Absent for anonymous visits. */
  cookie?: () => Promise<string>;
}

/** Cost of opening a page. */
export interface Opened {
  /** Times (ms) since the navigation: first text or image, heading, and removal of the last skeleton. */
  paintMs: number;
  headingMs: number;
  allMs: number;
  /**
   * CPU time (ms) of the page's thread on the slowed processor, until all content is shown. Other load on the machine
   * hardly affects it.
   */
  cpuMs: number;
  /** API requests as `GET /v1/…` without query, with duplicates. */
  asked: string[];
  files: number;
  /** Number of bytes of the transferred files. */
  fileBytes: number;
  apiBytes: number;
}

/** Opens a page in a browser with an empty cache, on a slowed processor. */
export async function openAddress(visits: Visits, path: string, slowness: number): Promise<Opened> {
  return withPage(visits, async (page, cdp) => {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowness });
    const traffic = await watchTraffic(cdp);
    await page.addInitScript(WATCH_HEADING);
    await page.goto(visits.url + path);
    await page.evaluate(until('window.headingAt > 0'));
    const allMs = await untilShown(page);
    const times = (await page.evaluate(
      `({ paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN, headingMs: window.headingAt })`,
    )) as Pick<Opened, 'paintMs' | 'headingMs'>;
    return { ...times, allMs, cpuMs: await threadMs(cdp), ...traffic() };
  });
}

/** Result of scrolling a list by a number of pixels per frame. */
interface Scrolled {
  /** Times (ms) between frames. */
  frames: number[];
  /** CPU time (ms) of the page's thread per frame, on the processor at full speed. */
  cpuMsPerFrame: number;
  /** Number of frames without a row in the middle of the window, because the row was not rendered yet. */
  empty: number;
  /** Number of rows that are loaded at the end. */
  rows: number;
  asked: number;
}

/** Scrolls the list on a page by `pixels` per frame for a number of frames. */
export async function scrollList(visits: Visits, path: string, pixels: number, frames: number): Promise<Scrolled> {
  return withPage(visits, async (page, cdp) => {
    await page.goto(visits.url + path);
    await page.locator('main tbody tr').first().waitFor();
    await untilShown(page);
    const traffic = await watchTraffic(cdp);
    const before = await threadMs(cdp);
    const scrolled = (await page.evaluate(scroll(pixels, frames))) as Pick<Scrolled, 'frames' | 'empty' | 'rows'>;
    return { ...scrolled, cpuMsPerFrame: ((await threadMs(cdp)) - before) / frames, asked: traffic().asked.length };
  });
}

/** Clicks links of the navigation one after another. Returns the times (ms) until all content is shown, by name. */
export async function clickThrough(visits: Visits, rooms: readonly string[]): Promise<Record<string, number>> {
  return withPage(visits, async (page) => {
    await page.goto(visits.url);
    await page.locator('main h1').waitFor();
    await untilShown(page);
    const times: Record<string, number> = {};
    for (const path of rooms) {
      const link = page.locator(`nav a[href="${path}"]`).first();
      // Hovers briefly before the click, as a person would.
      await link.hover();
      await page.waitForTimeout(100);
      times[path] = (await page.evaluate(clickAndWait(path))) as number;
      await page.waitForLoadState('networkidle');
    }
    return times;
  });
}

async function withPage<T>(
  { chrome, url, cookie }: Visits,
  work: (page: Page, cdp: CDPSession) => Promise<T>,
): Promise<T> {
  const { page, context } = await chrome.visit({ locale: 'en-GB', reducedMotion: 'reduce' });
  try {
    const [name, value] = (await cookie?.())?.split('=') ?? [];
    if (name && value) await context.addCookies([{ name, value, url }]);
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    return await work(page, cdp);
  } finally {
    await context.close();
  }
}

/** Starts to count the network traffic. */
async function watchTraffic(
  cdp: CDPSession,
): Promise<() => Pick<Opened, 'asked' | 'files' | 'fileBytes' | 'apiBytes'>> {
  const asked: string[] = [];
  const isApi = new Map<string, boolean>();
  let [files, fileBytes, apiBytes] = [0, 0, 0];
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    const toApi = pathname.startsWith('/v1/') || pathname === '/account/session';
    isApi.set(requestId, toApi);
    if (toApi) asked.push(`${request.method} ${pathname}`);
    else files += 1;
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (isApi.get(requestId)) apiBytes += encodedDataLength;
    else fileBytes += encodedDataLength;
  });
  await cdp.send('Network.enable');
  return () => ({ asked, files, fileBytes, apiBytes });
}

/**
 * Waits until no skeleton is left and no request is open. @returns the time (ms since the navigation) at which both
 * conditions were met
 */
async function untilShown(page: Page): Promise<number> {
  await page.evaluate(until(`!document.querySelector('${SKELETON}')`));
  const at = (await page.evaluate('performance.now()')) as number;
  await page.waitForLoadState('networkidle');
  return at;
}

/** Returns the CPU time (ms) of the page's thread so far. */
async function threadMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
}

/* The script below is text that runs in the page, not in Node. */

/** Records when the first heading was painted, which is when the frame after the next one begins. */
const WATCH_HEADING = `
  window.headingAt = 0;
  new MutationObserver((_, observer) => {
    if (!document.querySelector('h1')) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (window.headingAt = performance.now())));
  }).observe(document, { childList: true, subtree: true });`;

/** Polls in the page, because its content security policy blocks Playwright's own polling. */
const until = (condition: string): string =>
  `(async () => { while (!(${condition})) await new Promise((resolve) => setTimeout(resolve, 10)); })()`;

const scroll = (pixels: number, count: number): string => `(async () => {
  const nextFrame = () => new Promise(requestAnimationFrame);
  const frames = [];
  let empty = 0;
  let last = await nextFrame();
  for (let frame = 0; frame < ${count}; frame += 1) {
    scrollBy(0, ${pixels});
    const now = await nextFrame();
    frames.push(now - last);
    last = now;
    const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    if (!middle?.closest('tr:not([aria-hidden])')) empty += 1;
  }
  const rows = Math.max(...[...document.querySelectorAll('main tr')].map((row) => Number(row.ariaRowIndex ?? 0)));
  return { frames, empty, rows };
})()`;

const clickAndWait = (path: string): string => `(async () => {
  const began = performance.now();
  const before = document.querySelector('main h1');
  document.querySelector('nav a[href="${path}"]').click();
  for (;;) {
    await new Promise(requestAnimationFrame);
    const heading = document.querySelector('main h1');
    if (heading && heading !== before && !document.querySelector('${SKELETON}')) return performance.now() - began;
    if (performance.now() - began > 20_000) throw new Error('${path} did not come');
  }
})()`;
