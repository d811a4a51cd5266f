import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'ava';
import { FINDINGS, type FindingCode } from '../../domain/instance/findings.ts';
import { PLACE, valuesIn } from '../../web/src/text/values.ts';
import { ACTIONS, THINGS } from '../../web/src/rooms/operator/audit-names.ts';

const SOURCES = fileURLToPath(new URL('../../web/src', import.meta.url));
const DOMAIN = fileURLToPath(new URL('../../domain', import.meta.url));
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)/g)].map(([, name]) => name!).toSorted();
type Texts = Record<string, string>;

/** The texts of a language, by room. */
async function textsOf(language: string): Promise<Record<string, Texts>> {
  const folder = join(SOURCES, 'text', language);
  const rooms = (await readdir(folder)).map((name) => name.replace(/\.ts$/, '')).toSorted();
  const read = async (room: string) => {
    const file = (await import(pathToFileURL(join(folder, `${room}.ts`)).href)) as Record<string, Texts>;
    return [room, file[room]!] as const;
  };
  return Object.fromEntries(await Promise.all(rooms.map(read)));
}

/** Sources of the dashboard but for its texts, with the room they are of. */
async function sources(): Promise<{ name: string; room: string; source: string }[]> {
  const names = (await readdir(SOURCES, { recursive: true })).filter(
    (name) => /\.tsx?$/.test(name) && !name.startsWith('text/'),
  );
  return Promise.all(
    names.map(async (name) => ({
      name,
      room: /^rooms\/(\w+)\//.exec(name)?.[1] ?? 'common',
      source: await readFile(join(SOURCES, name), 'utf8'),
    })),
  );
}

test('both languages have every text, with the same values in it', async (t) => {
  const [en, de] = await Promise.all([textsOf('en'), textsOf('de')]);
  t.deepEqual(Object.keys(de), Object.keys(en));
  const keys = new Set<string>();
  for (const room of Object.keys(en)) {
    t.deepEqual(Object.keys(de[room]!), Object.keys(en[room]!), room);
    for (const key of Object.keys(en[room]!)) {
      t.false(keys.has(key), `${key} is in two files`);
      keys.add(key);
      t.not(en[room]![key]!.trim(), '', key);
      t.not(de[room]![key]!.trim(), '', key);
      t.deepEqual([...new Set(placeholders(de[room]![key]!))], [...new Set(placeholders(en[room]![key]!))], key);
    }
  }
});

test('every text is used, where it is loaded, and no page has words of its own', async (t) => {
  const [en, files] = [await textsOf('en'), await sources()];
  // A key that is put together has its beginning in the source.
  const begins = files.flatMap(({ source }) =>
    [...source.matchAll(/(?:t|text)\(\s*`([\w.]+)\.\$\{/g), ...source.matchAll(/textOf\(\s*'([\w.]+)'/g)].map(
      ([, start]) => `${start}.`,
    ),
  );
  const quoted = files.map(({ name, room, source }) => ({
    name,
    room,
    keys: new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, key]) => key!)),
  }));
  const all = new Set(quoted.flatMap(({ keys }) => [...keys]));
  for (const [room, texts] of Object.entries(en)) {
    // Found by what the API says (`said` of web/src/text/index.ts).
    if (room === 'said') continue;
    const users = quoted.filter(({ keys }) => Object.keys(texts).some((key) => keys.has(key)));
    if (room !== 'common')
      t.deepEqual(
        users.filter((one) => one.room !== room).map(({ name }) => name),
        [],
        `texts of ${room} are for its room`,
      );
    const unused = Object.keys(texts).filter((key) => !all.has(key) && !begins.some((start) => key.startsWith(start)));
    t.deepEqual(unused, []);
  }
  for (const { name, source } of files) {
    const words = [...source.matchAll(/>\s*([A-Z][a-z]+ [a-z]+[^<>{}]*)</g)].map(([, found]) => found);
    t.deepEqual(words, [], name);
  }
});

test('what the audit log names has words in both languages', async (t) => {
  const names = (await readdir(DOMAIN, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const files = await Promise.all(names.map((name) => readFile(join(DOMAIN, name), 'utf8')));
  const literals = (text: string) => [...text.matchAll(/'([\w.]+)'/g)].map(([, name]) => name!);
  const written = files.map((source) => ({
    things: [...source.matchAll(/entityType: ('\w+')/g)].flatMap(([, name]) => literals(name!)),
    // An action that one of two values decides names both.
    actions: [...source.matchAll(/action: ([^\n]*),\s*entityType:/g)].flatMap(([, expression]) =>
      literals(expression!),
    ),
  }));
  const things = new Set<string>([...THINGS, ...written.flatMap((one) => one.things)]);
  const actions = new Set<string>([...ACTIONS, ...written.flatMap((one) => one.actions)]);
  t.deepEqual([[...things].toSorted(), [...actions].toSorted()], [[...THINGS], [...ACTIONS]]);
  const en = (await textsOf('en')).operator!;
  const verbs = new Set([...actions].map((action) => action.split('.').at(-1)!));
  t.deepEqual(
    Object.keys(en).filter((key) => key.startsWith('operator.thing.')),
    [...THINGS].map((thing) => `operator.thing.${thing}`),
  );
  t.deepEqual(
    Object.keys(en).filter((key) => key.startsWith('operator.did.')),
    [...verbs].toSorted().map((verb) => `operator.did.${verb}`),
  );
});

/** Texts whose words stand in the sources in parts. */
const PUT_TOGETHER = /^said\.(?:schedule_too_short|mailbox_issue|workers)\./;
const PLACE_ALONE = new RegExp(PLACE.source.replaceAll(/\((?!\?)/g, '(?:'));

test('what the API says is known in its own words, with the values in them', async (t) => {
  const names = (await readdir(DOMAIN, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const sources = (await Promise.all(names.map((name) => readFile(join(DOMAIN, name), 'utf8')))).join('\n');
  const words = sources.replace(/\\(['"`])/g, '$1');
  const { said } = (await textsOf('en')) as { said: Texts };
  for (const [key, text] of Object.entries(said)) {
    if (PUT_TOGETHER.test(key)) continue;
    const parts = text.split(PLACE_ALONE).map((part) => part.replace(/^\W+|\W+$/g, ''));
    for (const part of parts) t.true(words.includes(part), `${key}: the API does not say "${part}" any more`);
  }
  for (const code of Object.keys(FINDINGS) as FindingCode[])
    t.like(FINDINGS[code], { title: said[`said.${code}.title`], fix: said[`said.${code}.fix`] }, code);
  t.deepEqual(valuesIn('a.test and b.test: no SPF record', said['said.spf_missing']!), {
    domains: 'a.test and b.test',
  });
  t.deepEqual(valuesIn('1 open problem', said['said.mailbox_issue.problems']!), { count: 1 });
  t.deepEqual(valuesIn('12 open problems', said['said.mailbox_issue.problems']!), { count: 12 });
  t.is(valuesIn('no SPF record', said['said.spf_missing']!), undefined);
});
