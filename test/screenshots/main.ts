/**
 * `npm run screenshots`: saves a screenshot of every page of the dashboard, in two widths and both themes, to
 * .heron/screenshots. Arguments select screenshots by a part of their name, such as `inbox` or `phone-dark`. `--
 * --language de` makes them in German. `-- --docs` makes the images in docs/images of the same pages, with harmless
 * names (stage.ts). Starts a PostgreSQL, unless HERON_TEST_PG names one.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startBackingServices } from '../../local/backing.ts';
import { settle } from '../harness/dashboard.ts';
import { createSceneWorld } from './catalogue.ts';
import { furnish, type Scene } from './scene.ts';
import { IS_FOR_DOCS, type SceneWorld } from './stage.ts';

const OUT = fileURLToPath(new URL('../../.heron/screenshots', import.meta.url));
const DOCS_OUT = fileURLToPath(new URL('../../docs/images', import.meta.url));
const { values: options, positionals: asked } = parseArgs({
  options: { docs: { type: 'boolean' }, language: { type: 'string', default: 'en' } },
  allowPositionals: true,
});
/** Browser locale for each language of the dashboard. */
const LOCALES: Readonly<Record<string, string>> = { en: 'en-GB', de: 'de-DE' };
const locale = LOCALES[options.language];
if (!locale) throw new Error(`--language is one of ${Object.keys(LOCALES).join(', ')}`);
const WIDTHS = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
/** Names of the images in the documents, by page. */
const DOCS: Readonly<Record<string, string>> = {
  start: 'start',
  campaigns: 'campaigns',
  campaign: 'sequence',
  editor: 'sequence-email',
  schedule: 'sequence-schedule',
  inbox: 'inbox-thread',
  way: 'way-replied',
  import: 'leads-import',
  deals: 'crm',
  automation: 'automation',
  reports: 'reports',
  mailbox: 'mailbox',
};
const DOCS_SIZE = { width: 1280, height: 800 };
/** Images with a larger height (px), so that their content is complete. */
const TALL: Readonly<Record<string, number>> = { campaign: 1200 };
/** Quality of the images, from 1 to 100. Text is still sharp, and an image has about 50 KB. */
const QUALITY = 80;
/** Time (ms) until charts and graphs have their final size. */
const SETTLED_MS = 300;

const backing = process.env.HERON_TEST_PG
  ? undefined
  : await startBackingServices({ persistent: false, inMemory: true, headless: true, log: (line) => console.log(line) });
if (backing) process.env.HERON_TEST_PG = backing.databaseUrl;
try {
  const world = await createSceneWorld();
  try {
    await (IS_FOR_DOCS ? takeDocs : takeAll)(world, await furnish(world));
  } finally {
    await world.close();
  }
} finally {
  await backing?.stop();
}

/** Takes a full-height screenshot of every requested page. */
async function takeAll(world: SceneWorld, scene: Scene): Promise<void> {
  const isEnglish = options.language === 'en';
  if (asked.length === 0 && isEnglish) await rm(OUT, { recursive: true, force: true });
  await mkdir(OUT, { recursive: true });
  // Other languages skip pages with actions, because the actions find elements by English labels.
  const pages = scene.pages.filter(([, , , act]) => isEnglish || !act);
  for (const colorScheme of ['light', 'dark'] as const)
    for (const [width, viewport] of Object.entries(WIDTHS))
      for (const page of pages) {
        const picture = `${page[0]}-${width}-${colorScheme}${isEnglish ? '' : `-${options.language}`}`;
        if (asked.length > 0 && !asked.some((part) => picture.includes(part))) continue;
        await visit(world, scene, page, { viewport, colorScheme }, (shown) =>
          shown.screenshot({ path: join(OUT, `${picture}.png`), fullPage: true }),
        );
      }
  console.log(OUT);
}

/** Takes the images of the documents: the visible part of each page, as WebP. */
async function takeDocs(world: SceneWorld, scene: Scene): Promise<void> {
  for (const [picture, name] of Object.entries(DOCS)) {
    const page = scene.pages.find(([one]) => one === name);
    if (!page) throw new Error(`docs/images/${picture}.webp shows ${name}, and there is no such page`);
    await visit(
      world,
      scene,
      page,
      { viewport: { ...DOCS_SIZE, height: TALL[picture] ?? DOCS_SIZE.height }, colorScheme: 'light' },
      async (shown) => {
        const browser = await shown.context().newCDPSession(shown);
        const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
        await writeFile(join(DOCS_OUT, `${picture}.webp`), data, 'base64');
      },
    );
  }
  console.log(DOCS_OUT);
}

async function visit(
  world: SceneWorld,
  { tenant, empty }: Scene,
  [name, path, who, act]: Scene['pages'][number],
  look: { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' },
  take: (page: Page) => Promise<unknown>,
): Promise<void> {
  const { page, context, faults } = await world.open(who === 'empty' ? empty : tenant, path, {
    ...look,
    locale,
  });
  await settle(page);
  await act?.(page);
  await page.waitForTimeout(SETTLED_MS);
  await take(page);
  for (const fault of faults) console.log(`${name}: ${fault}`);
  await context.close();
}
