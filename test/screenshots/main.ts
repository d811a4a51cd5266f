/**
 * `npm run screenshots`: a picture of every page of the dashboard, in two widths and both themes, into .heron/screenshots. Arguments choose
 * pages by a part of their name.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settle } from '../harness/dashboard.ts';
import { createSceneWorld } from './catalogue.ts';
import { furnish } from './scene.ts';

const OUT = fileURLToPath(new URL('../../.heron/screenshots', import.meta.url));
const WIDTHS = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

const asked = process.argv.slice(2);
if (asked.length === 0) await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
const world = await createSceneWorld();
try {
  const { tenant, empty, pages } = await furnish(world);
  for (const theme of ['light', 'dark'] as const) {
    for (const [width, viewport] of Object.entries(WIDTHS)) {
      for (const [name, path, who] of pages) {
        if (asked.length > 0 && !asked.some((part) => name.includes(part))) continue;
        const visitor = await world.open(who === 'empty' ? empty : tenant, path, {
          viewport,
          colorScheme: theme,
          locale: 'en-GB',
        });
        await settle(visitor.page);
        await visitor.page.waitForTimeout(300);
        await visitor.page.screenshot({ path: join(OUT, `${name}-${width}-${theme}.png`), fullPage: true });
        for (const fault of visitor.faults) console.log(`${name}: ${fault}`);
        await visitor.context.close();
      }
    }
  }
  console.log(OUT);
} finally {
  await world.close();
}
