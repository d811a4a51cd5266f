import type { CDPSession, Page } from 'playwright-core';
import type { TestBrowser } from '../test/harness/browser.ts';

/** How many times slower than this machine the processor of a weak one is taken to be. */
export const SLOW = 4;
/** What a page still shows of what is to come. */
const SKELETON = '.mantine-Skeleton-root';

/** Whom the visits are made as, and where. */
export interface Visits {
  chrome: TestBrowser;
  url: string;
  /** A fresh cookie of the person for each visit, as it is replaced when it is used; none for visits of nobody. */
  cookie?: () => Promise<string>;
}

/** What opening an address cost. */
export interface Opened {
  /** Times (ms) since the navigation: the first text or picture, the heading, and the last shape of what is to come gone. */
  paintMs: number;
  headingMs: number;
  allMs: number;
  /** Processor time (ms) of the page's thread until all is shown, on the processor slowed down: other work on the machine changes it little. */
  cpuMs: number;
  /** Requests to the API, as `GET /v1/…` without the query; what is asked twice stands twice. */
  asked: string[];
  files: number;
  /** Bytes as they came over the wire. */
  fileBytes: number;
  apiBytes: number;
}

/** Opens an address in a browser that has kept nothing, on a processor so many times slower. */
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

/** How a list was scrolled by so many pixels with each frame. */
interface Scrolled {
  /** Times (ms) between one frame and the next. */
  frames: number[];
  /** Processor time (ms) of the page's thread for each frame; not slowed down. */
  cpuMsPerFrame: number;
  /** Frames in which no row stood in the middle of the window, as those to come were not there yet. */
  empty: number;
  /** Rows that were there at the end. */
  rows: number;
  asked: number;
}

/** Scrolls the list of an address to its end by turns of `pixels` with each frame, for so many frames. */
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

/** Goes through rooms by a click on each of these links of the navigation: times (ms) until everything is shown, by name. */
export async function clickThrough(visits: Visits, rooms: readonly string[]): Promise<Record<string, number>> {
  return withPage(visits, async (page) => {
    await page.goto(visits.url);
    await page.locator('main h1').waitFor();
    await untilShown(page);
    const times: Record<string, number> = {};
    for (const path of rooms) {
      const link = page.locator(`nav a[href="${path}"]`).first();
      // The pointer is over what is about to be clicked for a moment: people are no faster.
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

/** Counts what goes over the network from now on. */
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

/** Waits until nothing of what is to come is left and nothing is under way. @returns when that was (ms since the navigation) */
async function untilShown(page: Page): Promise<number> {
  await page.evaluate(until(`!document.querySelector('${SKELETON}')`));
  const at = (await page.evaluate('performance.now()')) as number;
  await page.waitForLoadState('networkidle');
  return at;
}

/** Processor time (ms) of the page's thread so far. */
async function threadMs(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
}

/* What follows runs in the page, as text: nothing of it is a program of Node. */

/** Notes when the first heading has been painted: the frame after the next one begins then. */
const WATCH_HEADING = `
  window.headingAt = 0;
  new MutationObserver((_, observer) => {
    if (!document.querySelector('h1')) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (window.headingAt = performance.now())));
  }).observe(document, { childList: true, subtree: true });`;

/** Playwright's own way to wait is refused by the policy of the page. */
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
