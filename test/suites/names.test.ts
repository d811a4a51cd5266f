import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { routes } from '../../api/routes.ts';
import { filesBelow } from '../../local/sources.ts';
import { RECORD_TYPES } from '../../web/src/pages/operator/audit-names.ts';

/*
 * Checks that each concept has one name. An area of routes is a tag of the OpenAPI document. It has the name of its
 * folder in api/ and domain/, and of its tables. Record types of the audit log are tables in the singular.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Area of pages for people and of links. Its files are in any folder, and the document omits it. */
const PAGES = 'pages';

/**
 * Areas of api/agents, by their folder. They call routes of all other areas and have neither a folder in domain/ nor
 * tables.
 */
const AGENTS: Record<string, string> = { 'agent-tools': 'tools', mcp: 'mcp' };

/** Areas that have no table of their name, each with its table and the reason. */
const OTHER_TABLES: Record<string, [table: string | undefined, reason: string]> = {
  analytics: ['fact_campaign_days', 'reads counts that the subscriber in `aggregates` keeps'],
  imports: ['contact_imports', 'its room names what is imported'],
  instance: [undefined, 'shows settings and state of the installation, and stores nothing'],
  'lead-database': ['contacts', 'a view of contacts by job, company and outreach'],
  'prospect-catalogue': [undefined, 'its tables are in a database of their own, db/catalogue'],
  system: [undefined, 'asks servers, and stores nothing'],
};

/** Record types that are not the singular of their table's name, each with the table and the reason. */
const OTHER_RECORDS: Record<string, [table: string, reason: string]> = {
  campaign_lead: ['enrollments', 'the API calls an enrollment a lead'],
  category: ['labels', 'a kind of label, with its own path'],
  email_account: ['mailboxes', 'the API names mailboxes so in records and ids'],
  folder: ['labels', 'a kind of label, with its own path'],
  member: ['memberships', 'the API shows the person of a membership'],
  person: ['people', 'an irregular plural'],
  tag: ['labels', 'a kind of label, with its own path'],
  webhook: ['webhook_endpoints', 'the API calls an endpoint a webhook'],
};

const tables = readFile(`${ROOT}/db/schema.ts`, 'utf8').then((source) =>
  [...source.matchAll(/^ {2}(\w+): \{ row: /gm)].map(([, name]) => name!),
);

/** Returns the areas that the sources of api/ declare, each with the folder of the file. */
async function declaredAreas(): Promise<{ area: string; folder: string }[]> {
  const files = await filesBelow(`${ROOT}/api`, new Set(['.ts']));
  const found = await Promise.all(
    files
      .filter((file) => !file.endsWith('.test.ts'))
      .map(async (file) =>
        [...(await readFile(file, 'utf8')).matchAll(/\barea(?::| =) '([\w-]+)'/g)].map(([, area]) => ({
          area: area!,
          folder: relative(`${ROOT}/api`, dirname(file)),
        })),
      ),
  );
  return found.flat();
}

/**
 * Returns true if a table has the name of an area, or a name that begins with the area's singular. An example is
 * `webhook_endpoints` for the area `webhooks`.
 */
function hasTable(area: string, names: readonly string[]): boolean {
  const words = area.replaceAll('-', '_');
  return names.some((name) => name === words || name.startsWith(`${words.replace(/s$/, '')}_`));
}

test('an area of routes has the name of its folder in api and domain', async (t) => {
  const declared = (await declaredAreas()).filter(({ area }) => area !== PAGES);
  t.deepEqual(
    [...new Set(declared.map(({ area }) => area))].toSorted(),
    [...new Set(routes.map(({ area }) => area))].filter((area) => area !== PAGES).toSorted(),
  );
  const differing = declared.filter(({ area, folder }) =>
    area in AGENTS
      ? folder !== `agents/${AGENTS[area]}`
      : basename(folder) !== area || !existsSync(`${ROOT}/domain/${folder}`),
  );
  t.deepEqual(differing, []);
});

test('an area has tables of its name, or a reason for another', async (t) => {
  const names = await tables;
  t.true(names.length > 100);
  const areas = [...new Set(routes.map(({ area }) => area))].filter((area) => area !== PAGES && !(area in AGENTS));
  t.deepEqual(areas.filter((area) => !hasTable(area, names)).toSorted(), Object.keys(OTHER_TABLES).toSorted());
  for (const [area, [table]] of Object.entries(OTHER_TABLES))
    if (table !== undefined) t.true(names.includes(table), area);
});

test('a record type of the audit log is a table in the singular, or has a reason for another word', async (t) => {
  const names = new Set(await tables);
  const differing = RECORD_TYPES.filter(
    (type) => ![type, `${type}s`, type.replace(/y$/, 'ies')].some((name) => names.has(name)),
  );
  t.deepEqual(differing, Object.keys(OTHER_RECORDS));
  for (const [type, [table]] of Object.entries(OTHER_RECORDS)) t.true(names.has(table), type);
});
