/**
 * `npm run docs`: generates pages of docs/reference from the sources. With `--check`, which the linter uses, it only
 * lists the stale pages, and exits with 1 if there are any.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commandLinePage } from './command-line.ts';
import { errorsPage } from './errors.ts';
import { eventsPage } from './events.ts';
import { limitsPage } from './limits.ts';
import { settingsPage } from './settings.ts';
import { triggersPage } from './triggers.ts';

const REFERENCE = fileURLToPath(new URL('../../docs/reference/', import.meta.url));
const PAGES: Record<string, () => string> = {
  'command-line.md': commandLinePage,
  'errors.md': errorsPage,
  'events.md': eventsPage,
  'limits.md': limitsPage,
  'settings.md': settingsPage,
  'triggers.md': triggersPage,
};

const stale: string[] = [];
for (const [name, page] of Object.entries(PAGES)) {
  const text = page();
  if ((await readFile(REFERENCE + name, 'utf8').catch(() => '')) === text) continue;
  stale.push(`docs/reference/${name}`);
  if (!process.argv.includes('--check')) await writeFile(REFERENCE + name, text);
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`${stale.join(', ')}: stale; run \`npm run docs\``);
  process.exitCode = 1;
}
