import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { message } from '../../messages/index.ts';
import { textsFor, type PageTexts } from '../../api/pages/texts.ts';
import { Html } from '../../api/http/html.ts';
import { DASHBOARD } from '../../messages/dashboard.ts';
import { ACTIONS, RECORD_TYPES } from '../../web/src/pages/operator/audit-names.ts';

const SOURCES = fileURLToPath(new URL('../../web/src', import.meta.url));
const DOMAIN = fileURLToPath(new URL('../../domain', import.meta.url));

/** Returns the sources of the dashboard with their areas. */
async function sources(): Promise<{ name: string; area: string; source: string }[]> {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  return Promise.all(
    names.map(async (name) => ({
      name,
      area: /^(?:pages|components)\/(\w+)\//.exec(name)?.[1] ?? 'common',
      source: await readFile(join(SOURCES, name), 'utf8'),
    })),
  );
}

test('every sentence of the dashboard is used, and where its area is loaded', async (t) => {
  const files = await sources();
  // A composed key appears in the source only by its prefix.
  const beginnings = files.flatMap(({ source }) =>
    [...source.matchAll(/(?:t|text)\(\s*`([\w.]+)\.\$\{/g), ...source.matchAll(/textOf\(\s*'([\w.]+)'/g)].map(
      ([, start]) => `${start}.`,
    ),
  );
  const quoted = files.map(({ name, area, source }) => ({
    name,
    area,
    keys: new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, key]) => key!)),
  }));
  const all = new Set(quoted.flatMap(({ keys }) => [...keys]));
  const seen = new Set<string>();
  for (const [area, texts] of Object.entries(DASHBOARD.en)) {
    const keys = Object.keys(texts);
    t.deepEqual(
      keys.filter((key) => seen.has(key)),
      [],
      `${area}: these are of another area too`,
    );
    for (const key of keys) seen.add(key);
    const users = quoted.filter((one) => keys.some((key) => one.keys.has(key)));
    if (area !== 'common')
      t.deepEqual(
        users.filter((one) => one.area !== area).map(({ name }) => name),
        [],
        `sentences of ${area} are for its pages`,
      );
    t.deepEqual(
      keys.filter((key) => !all.has(key) && !beginnings.some((start) => key.startsWith(start))),
      [],
      `${area}: nothing shows these`,
    );
  }
});

test('no page has words of its own', async (t) => {
  for (const { name, source } of await sources()) {
    const words = [
      ...source.matchAll(/>\s*([A-Z][a-z]+ [a-z]+[^<>{}]*)</g),
      ...source.matchAll(/\b(?:label|title|placeholder|description|alt)="([A-Z][a-z]+[^"]*)"/g),
    ].map(([, found]) => found);
    t.deepEqual(words, [], name);
  }
});

test('what the audit log names has words in both languages', async (t) => {
  const names = (await readdir(DOMAIN, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const files = await Promise.all(names.map((name) => readFile(join(DOMAIN, name), 'utf8')));
  const literals = (text: string) => [...text.matchAll(/'([\w.]+)'/g)].map(([, name]) => name!);
  const written = files.map((source) => ({
    things: [...source.matchAll(/entityType: ('\w+')/g)].flatMap(([, name]) => literals(name!)),
    // The expression of an action may be a condition with two values.
    actions: [...source.matchAll(/action: ([^\n]*),\s*entityType:/g)].flatMap(([, expression]) =>
      literals(expression!),
    ),
  }));
  const things = new Set<string>([...RECORD_TYPES, ...written.flatMap((one) => one.things)]);
  const actions = new Set<string>([...ACTIONS, ...written.flatMap((one) => one.actions)]);
  t.deepEqual([[...things].toSorted(), [...actions].toSorted()], [[...RECORD_TYPES], [...ACTIONS]]);
  const { operator } = DASHBOARD.en;
  const verbs = new Set([...actions].map((action) => action.split('.').at(-1)!));
  t.deepEqual(
    Object.keys(operator).filter((key) => key.startsWith('operator.thing.')),
    [...RECORD_TYPES].map((thing) => `operator.thing.${thing}`),
  );
  t.deepEqual(
    Object.keys(operator).filter((key) => key.startsWith('operator.did.')),
    [...verbs].toSorted().map((verb) => `operator.did.${verb}`),
  );
});

test('what is kept under one key is the same answer wherever it is asked for', async (t) => {
  const asked = new Map<string, Set<string>>();
  for (const { source } of await sources())
    for (const part of source.split(/(?=queryKey: \[)/)) {
      const [, key] = /^queryKey: (\[[^\]]*\])/.exec(part) ?? [];
      const [, how] = /queryFn: ([^]*)/.exec(part) ?? [];
      if (!key || !how) continue;
      // A query that returns the API's answer unchanged is identified by its path, any other by the beginning of its
      // expression.
      const [, address] = /^\(\) =>\s*dataOf\(\s*(heron\.\w+\(\s*'[^']+')/.exec(how) ?? [];
      const name = key.replaceAll(/[\s!]/g, '');
      asked.set(name, (asked.get(name) ?? new Set()).add((address ?? how.slice(0, 80)).replaceAll(/\s/g, '')));
    }
  t.true(asked.size > 20);
  t.deepEqual(
    [...asked].filter(([, ways]) => ways.size > 1).map(([key, ways]) => `${key}: ${[...ways].join(' or ')}`),
    [],
  );
});

/** Arguments of those texts that need other values than strings. */
const GIVEN: Record<string, unknown[]> = {
  day: [new Date('2026-03-02T12:00:00Z')],
  moment: [new Date('2026-03-02T12:00:00Z')],
  plainly: [message('page.approval.through', { server: '<7>' })],
};

/** Yields every text of the server-rendered pages by its path, with a value for each placeholder. */
function pageTexts(texts: object, path = ''): [path: string, text: string][] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const at = path ? `${path}.${name}` : name;
    if (value instanceof Html) return [[at, value.text]];
    if (typeof value === 'object') return pageTexts(value as object, at);
    if (typeof value === 'string') return [[at, value]];
    const given = GIVEN[at] ?? ['<7>', '<8>', '<9>'];
    const made = (value as (...values: unknown[]) => string | Html)(...given);
    return [[at, made instanceof Html ? made.text : made]];
  });
}

test('a value that is put into HTML of a page is escaped, in every language', (t) => {
  for (const texts of [textsFor('en'), textsFor('de')])
    for (const [path, text] of pageTexts(texts)) {
      t.true(text.trim().length > 0, path);
      t.false(/<[789]>/.test(text) && text.includes('</'), path);
    }
});

const en = textsFor('en');
const de = textsFor('de');
const LANGUAGES: [header: string | undefined, texts: PageTexts][] = [
  [undefined, en],
  ['', en],
  ['*', en],
  ['fr', en],
  ['de', de],
  ['DE-at', de],
  ['de-AT,de;q=0.9,en;q=0.5', de],
  ['en;q=0.3, de;q=0.8', de],
  ['fr, de;q=0.2', de],
  ['en-US,en;q=0.9,de;q=0.8', en],
  ['de;q=0', en],
  [';;,q', en],
];

for (const [header, texts] of LANGUAGES) {
  test(`a browser that sends Accept-Language: ${header} reads the pages in ${texts === de ? 'German' : 'English'}`, (t) => {
    t.is(textsFor(header).lang, texts.lang);
  });
}
