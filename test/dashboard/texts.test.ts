import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { z } from 'zod';
import { PLACE, valuesIn, wordsFor } from '../../web/src/text/values.ts';
import { words as inGerman } from '../../web/src/text/words-de.ts';
import { de } from '../../api/pages/texts/de.ts';
import { en, type PageTexts } from '../../api/pages/texts/en.ts';
import { textsFor } from '../../api/pages/texts/index.ts';
import { pageWords } from '../../api/pages/texts/said-de.ts';
import { Html } from '../../api/http/html.ts';
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
    const file = (await import(`../../web/src/text/${language}/${room}.ts`)) as Record<string, Texts>;
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
const PUT_TOGETHER = /^said\.(?:mailbox_issue|workers)\./;
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
  t.deepEqual(valuesIn('1 open problem', said['said.mailbox_issue.problems']!), { count: 1 });
  t.deepEqual(valuesIn('12 open problems', said['said.mailbox_issue.problems']!), { count: 12 });
  t.is(valuesIn('no problem', said['said.mailbox_issue.problems']!), undefined);
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What only programs send: no form of the dashboard shows what is wrong with it. */
const OF_PROGRAMS =
  /^(?:api\/(?:reporting\/acquisition|agents|identity\/(?:auth|oauth)|http\/challenge|pages|audience\/(?:product-events|prospect-catalogue)|servers\/realtime)|domain\/(?:reporting\/analytics|identity\/(?:api-keys\/analytics|oauth)|campaigns\/(?:deliverability|runs)|operations\/instance|billing\/mailbox-orders|mail\/inbound|audience\/(?:product-events|prospect-catalogue)))/;
const TEXT = /('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/;
/** Where sources say what is wrong with a field: beside its path, in an issue of its type, or as the words of a check. */
const OF_FIELDS = [
  `(?:path|field)(?:: [^{}\n]*(?:\\$\\{[^{}]*\\}[^{}\n]*)*)?,\\s*message: ${TEXT.source}`,
  `code: 'custom',[^{}]*?message: ${TEXT.source}`,
  `\\.(?:refine|regex|min|max|length)\\((?:[^()]|\\([^()]*\\))*?,\\s*(?:\\{ (?:error|message): )?${TEXT.source}`,
].map((pattern) => new RegExp(pattern, 'g'));
/** What is refused to programs alone, or in words that depend on a code (said.ts). */
const REFUSES_PROGRAMS =
  /^(?:api\/(?:reporting\/acquisition|agents|identity\/(?:auth|oauth)|http|pages|audience\/(?:product-events|prospect-catalogue)|servers)|domain\/(?:reporting\/(?:acquisition|analytics)|approvals\/(?:agent-policies|automation-rights|may-change-leads)|identity\/(?:[\w-]+(?=\.ts)|api-keys\/analytics|auth|oauth|organizations\/organizations)|campaigns\/(?:preflight|preview|start|deliverability|runs)|sending\/campaign|operations\/(?:instance|system)|connect\/integrations\/(?:inbound|registry)|platform\/(?:kernel|events)|mail|billing\/(?:payment-events|payments)|audience\/(?:identities|product-events)|directory\/contact-filters))[/.-]/;
/** Why something is refused, and what to do about it. */
const OF_REFUSALS = [
  `new AppError\\(\\s*[^,()]+,\\s*${TEXT.source}`,
  `\\bfix:\\s*${TEXT.source}`,
  `badRequest\\(\\s*${TEXT.source}`,
  `(?:tagline|webhookHint):\\s*${TEXT.source}`,
].map((pattern) => new RegExp(pattern, 'g'));
/** Lines of a campaign's log, and what a run that is blocked shows. */
const OF_LOGS = [
  `logCampaign\\(\\s*tx,\\s*[\\w.]+,\\s*'\\w+',\\s*${TEXT.source}`,
  `(?:goOn\\(tx, \\w+, |message = |type: 'sender_\\w+',\\s*message: |type: 'campaign_restarted', message: )${TEXT.source}`,
  `(?:reason = |waiting_for: )${TEXT.source.replace('(', '(?=.blocked)(')}`,
].map((pattern) => new RegExp(pattern, 'g'));

/** A text of the sources as the API would say it, with seven in each place for a value; of two words for one and many, that for many. */
function asSaid(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\$\{[^{}]* \? '[^']*' : '([^']*)'\}/g, '$1')
    .replaceAll(/\$\{[^{}]*\}/g, '7')
    .replaceAll(/\\(['`])/g, '$1');
}

test('what is wrong with a field, lines of the log, why a run is blocked and why something is refused are known in German', async (t) => {
  const said = async (folder: string, patterns: RegExp[], excluded = OF_PROGRAMS) => {
    const names = (await readdir(join(ROOT, folder), { recursive: true })).filter(
      (name) => /(?<!\.test|\.d)\.ts$/.test(name) && !excluded.test(`${folder}/${name}`),
    );
    const files = await Promise.all(names.map((name) => readFile(join(ROOT, folder, name), 'utf8')));
    return patterns.flatMap((pattern) =>
      files.flatMap((source) => [...source.matchAll(pattern)].map((found) => asSaid(found[1]!))),
    );
  };
  const fields = (await Promise.all(['api', 'domain'].map((folder) => said(folder, OF_FIELDS)))).flat();
  const logs = await said('domain', OF_LOGS);
  const refusals = (
    await Promise.all(['api', 'domain'].map((folder) => said(folder, OF_REFUSALS, REFUSES_PROGRAMS)))
  ).flat();
  t.true(
    fields.length > 200 && logs.length > 25 && refusals.length > 150,
    `${fields.length} of fields, ${logs.length} of logs, ${refusals.length} refusals: were they found?`,
  );
  const types = z.object({
    text: z.string().min(3).max(5),
    count: z.number().min(3).max(5),
    list: z.array(z.string()).min(2),
    choice: z.enum(['a', 'b']),
    email: z.email(),
    url: z.url(),
    id: z.uuid(),
    at: z.iso.datetime(),
    on: z.boolean(),
  });
  const bad = [
    {},
    { text: 'a', count: 1, list: ['a'], choice: 'c', email: 'a', url: 'a', id: 'a', at: 'a', on: 'a' },
    { text: 'abcdef', count: 9, list: 'a', choice: 1, email: 1, url: 1, id: 1, at: 1, on: 1 },
  ].flatMap((value) => types.safeParse(value).error!.issues.map(({ message }) => message));
  const { said: coded } = (await textsOf('de')) as { said: Texts };
  const english = Object.entries((await textsOf('en')).said!);
  // What has a code is known by that.
  const hasCode = (words: string) => english.some(([key, text]) => key in coded && valuesIn(words, text) !== undefined);
  // Its words are known with a full stop at their end, too.
  const isKnown = (words: string) => wordsFor(words, inGerman) !== undefined || hasCode(words);
  const unknown = [...new Set([...fields, ...logs, ...bad, ...refusals])].filter(
    (words) => /[a-z]{2}/i.test(words) && !isKnown(words) && !isKnown(words.replace(/\.$/, '')),
  );
  t.deepEqual(unknown, []);
  t.deepEqual(wordsFor('2 leads added', inGerman)?.[1], { count: 2 });
});

test('every text without a code is still said by the API, or by the types of its fields', async (t) => {
  const names = ['api', 'activities', 'domain', 'lib', 'client/src'].map(async (folder) => {
    const files = (await readdir(join(ROOT, folder), { recursive: true })).filter(
      (name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith('page-texts/'),
    );
    return Promise.all(files.map((name) => readFile(join(ROOT, folder, name), 'utf8')));
  });
  const sources = (await Promise.all(names))
    .flat()
    .join('\n')
    .replaceAll(/\\(['`])/g, '$1');
  const gone = Object.keys({ ...inGerman, ...pageWords }).filter(
    (text) =>
      // Zod says the first ones, and the source puts the last one together.
      !/^(?:Invalid|Too|Order \{count\}) /.test(text) &&
      text
        .split(PLACE_ALONE)
        .map((part) => part.replace(/^\W+|\W+$/g, ''))
        .some((part) => !sources.includes(part)),
  );
  t.deepEqual(gone, []);
  for (const [english, german] of Object.entries({ ...inGerman, ...pageWords })) {
    const unknown = placeholders(german).filter((name) => !placeholders(english).includes(name));
    t.deepEqual(unknown, [], english);
  }
});

test('what is kept under one key is the same answer wherever it is asked for', async (t) => {
  const asked = new Map<string, Set<string>>();
  for (const { source } of await sources())
    for (const part of source.split(/(?=queryKey: \[)/)) {
      const [, key] = /^queryKey: (\[[^\]]*\])/.exec(part) ?? [];
      const [, how] = /queryFn: ([^]*)/.exec(part) ?? [];
      if (!key || !how) continue;
      // An answer as the API gives it is known by its address; one that is made of it, by how that begins.
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

/** The same in both languages: names, and what only passes on what it is given. */
const ALIKE = new Set([
  'said',
  'plainly',
  'field.code',
  'approval.fact',
  'approval.value',
  'approval.severity',
  'approval.step',
]);

/** Every text of a catalogue of the server-rendered pages by its path, with something put into each place. */
function pageTexts(texts: object, path = ''): [path: string, text: string][] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const at = path ? `${path}.${name}` : name;
    if (value instanceof Html) return [[at, value.text]];
    if (typeof value === 'object') return pageTexts(value as object, at);
    if (typeof value === 'string') return [[at, value]];
    const given = ['day', 'moment'].includes(at) ? [new Date('2026-03-02T12:00:00Z')] : ['<7>', '<8>', '<9>'];
    const made = (value as (...values: unknown[]) => string | Html)(...given);
    return [[at, made instanceof Html ? made.text : made]];
  });
}

test('the server-rendered pages speak German beside English, and what is put into a text is in both', (t) => {
  const german = new Map(pageTexts(de));
  for (const [path, english] of pageTexts(en)) {
    const own = german.get(path)!;
    t.true(own.trim().length > 0, path);
    if (!ALIKE.has(path)) t.not(own, english, path);
    const places = (text: string) => ['7', '8', '9'].filter((place) => text.includes(place));
    if (!['day', 'moment'].includes(path)) t.deepEqual(places(own), places(english), path);
    t.false(/<[789]>/.test(own) && own.includes('</'), `${path}: a value is not escaped in HTML`);
  }
});

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

/** Files beside the verbs of pages that no page asks for. */
const NO_PAGE = /^(?:agent-policies|automation-rights|may-change-leads|warmup)/;

test('what the pages refuse is known in German', async (t) => {
  const places = [
    'domain/identity/auth',
    'domain/mailboxes',
    'domain/approvals',
    'api/pages',
    'api/identity/auth/pages',
    'api/identity/oauth/pages',
    'api/approvals/pages',
    'api/mailboxes',
  ];
  const identity = (await readdir(join(ROOT, 'domain/identity'))).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const listed = places.map(async (place) => {
    const names = await readdir(join(ROOT, place), { recursive: true });
    return names
      .filter((name) => /(?<!\.test)\.ts$/.test(name) && !NO_PAGE.test(name))
      .map((name) => join(place, name));
  });
  const names = [
    ...(await Promise.all(listed)).flat(),
    ...identity.map((name) => join('domain/identity', name)),
    'domain/identity/oauth/authorize.ts',
    'domain/identity/organizations/invitations.ts',
    'domain/connect/integrations/oauth.ts',
  ];
  const sources = await Promise.all(names.map((name) => readFile(join(ROOT, name), 'utf8')));
  const patterns = [
    ...[...OF_FIELDS, ...OF_REFUSALS].map(({ source }) => source),
    `kind: 'page', message: ${TEXT.source}`,
    `refuse\\(request, '\\w+', ${TEXT.source}`,
    `\\bwhat: ${TEXT.source}`,
  ].map((source) => new RegExp(source, 'g'));
  const found = patterns.flatMap((pattern) =>
    sources.flatMap((source) => [...source.matchAll(pattern)].map(([, literal]) => asSaid(literal!))),
  );
  t.true(found.length > 80, `${found.length}: were they found?`);
  const unknown = [...new Set(found)].filter((words) => /[a-z]{2}/i.test(words) && de.plainly(words) === words);
  t.deepEqual(unknown, []);
});
