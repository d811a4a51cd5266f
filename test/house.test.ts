import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { circles, roomImports, upwardImports } from '../local/rooms/imports.ts';
import { filesBelow } from '../local/sources.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONFIG = 'oxlint.config.mjs';
const MAX_LINES = 600;
const SOURCES = new Set(['.ts', '.tsx', '.js', '.mjs', '.css', '.sql']);

/** Imports that the files of a folder must not have. They are the reverse of the arrows in ARCHITECTURE.md. */
const FORBIDDEN: Record<string, string[]> = {
  'api/audience/contacts/routes.ts': [
    '../../../db/connection.ts',
    '../../../activities/mail.ts',
    '../../../workers/main.ts',
    '../../../temporal/client.ts',
    '../../../workflows/campaign/workflow.ts',
    '../../../deploy/assemble.ts',
    '../../../test/harness/world.ts',
    '../../../web/build.ts',
    'knex',
    'pg',
    'objection',
  ],
  'activities/mail.ts': [
    '../db/connection.ts',
    '../api/http/route.ts',
    '../workers/main.ts',
    '../temporal/client.ts',
    '../workflows/campaign/workflow.ts',
    'koa',
    'pg',
  ],
  'domain/campaigns/start.ts': [
    '../../api/http/route.ts',
    '../../activities/mail.ts',
    '../../workers/main.ts',
    '../../temporal/client.ts',
    '../../workflows/campaign/workflow.ts',
    '../../test/harness/world.ts',
    '../../db/raw.ts',
    'koa',
    '@koa/router',
    'koa-body',
    'knex',
    'pg',
  ],
  'domain/platform/conditions.ts': ['../sending/campaign/graph.ts', '../campaigns/start.ts', '../directory/address.ts'],
  'domain/platform/scheduling/zone.ts': ['../../sending/campaign/graph.ts', '../../directory/segments/compile.ts'],
  'domain/mail/messages/build.ts': ['../../platform/kernel/context.ts', '../inbound/parse.ts'],
  'domain/sending/campaign/graph.ts': [
    '../control/finish.ts',
    '../claim.ts',
    '../leads/list.ts',
    '../../campaigns/start.ts',
  ],
  'domain/sending/outcomes/reply.ts': ['../claim.ts', '../../inbox/threads/thread.ts'],
  'domain/sending/leads/list.ts': ['../../campaigns/read.ts', '../../audience/contacts/read.ts'],
  'domain/audience/contacts/read.ts': ['../../connect/webhooks/verify.ts', '../../campaigns/read.ts'],
  'domain/connect/webhooks/verify.ts': ['../../identity/oauth/grants.ts'],
  'domain/identity/sessions.ts': ['../operations/system/sweep.ts'],
  'domain/sending/outcomes/effects.ts': ['../../operations/subscribers/index.ts'],
  'domain/platform/events/apply-events.ts': [
    '../../sending/outcomes/spike.ts',
    '../../operations/subscribers/index.ts',
  ],
  'domain/connect/delivery/claim.ts': ['../../campaigns/start.ts'],
  'api/http/route.ts': ['../campaigns/present.ts', '../agents/tools/tool.ts'],
  'api/connect/webhooks/routes.ts': [
    '../../identity/oauth/present.ts',
    '../../../domain/identity/oauth/grants.ts',
    '../../agents/tools/tool.ts',
  ],
  'workflows/campaign/workflow.ts': [
    '../../lib/ids.ts',
    '../../db/connection.ts',
    '../../domain/campaigns/start.ts',
    '../../activities/mail.ts',
    '../../temporal/client.ts',
    'node:crypto',
    'uuid',
    'pg',
    '@temporalio/client',
    '@temporalio/common',
  ],
  'workflows/index.ts': ['../lib/ids.ts', 'luxon'],
  'workers/main.ts': ['../api/http/route.ts', '../test/harness/world.ts', 'koa', 'knex', 'pg'],
  'temporal/client.ts': [
    '../api/http/route.ts',
    '../domain/campaigns/start.ts',
    '../activities/mail.ts',
    '../workers/main.ts',
    '../workflows/campaign/workflow.ts',
    'knex',
  ],
  'db/connection.ts': [
    '../api/http/route.ts',
    '../domain/campaigns/start.ts',
    '../temporal/dispatch.ts',
    '../workflows/campaign/contract.ts',
    '../activities/mail.ts',
    'koa',
  ],
  'db/models/contact.ts': ['../../domain/audience/contacts/verbs.ts'],
  'lib/ids.ts': ['../db/connection.ts', '../domain/campaigns/start.ts', '../api/http/route.ts', 'koa', 'pg'],
  'lib/mail/send.ts': ['../../domain/campaigns/start.ts', '../../temporal/client.ts'],
  'examples/demo/main.ts': ['../../api/http/route.ts', 'pg'],
  'deploy/heron.ts': ['../db/raw.ts', '../local/stack.ts', '../bench/main.ts'],
  'local/stack.ts': ['../api/http/route.ts', '../test/harness/world.ts'],
  'bench/main.ts': ['../api/http/route.ts'],
  'web/build.ts': ['../db/connection.ts'],
  'web/src/app/api.ts': ['../../../lib/ids.ts', '../../../domain/campaigns/start.ts'],
};

const ALLOWED: Record<string, string[]> = {
  'api/audience/contacts/routes.ts': [
    '../../http/route.ts',
    '../../../domain/audience/contacts/verbs.ts',
    '../../../lib/ids.ts',
    '../../../workflows/campaign/contract.ts',
    'koa',
    'zod',
  ],
  'api/audience/contacts/routes.test.ts': ['../../../db/connection.ts', '../../../test/harness/world.ts'],
  'activities/mail.ts': [
    '../domain/campaigns/start.ts',
    '../lib/ids.ts',
    '../workflows/campaign/contract.ts',
    '@temporalio/activity',
  ],
  'domain/campaigns/start.ts': [
    '../sending/campaign/graph.ts',
    '../audience/leads/add.ts',
    '../../db/connection.ts',
    '../../db/across.ts',
    '../../lib/ids.ts',
    '../../temporal/dispatch.ts',
    '../../workflows/campaign/contract.ts',
    'luxon',
  ],
  'domain/audience/imports/batch.ts': ['../contacts/upsert.ts', '../leads/add.ts', '../../platform/conditions.ts'],
  'domain/sending/deliver.ts': ['./claim.ts', './outcomes/effects.ts', '../mail/inbound/parse.ts'],
  'domain/sending/outcomes/pause-on-spike.ts': ['./spike.ts', '../../platform/events/subscriber.ts'],
  'domain/directory/segments/compile.ts': ['./fields.ts', '../../platform/kernel/context.ts'],
  'api/pages/layout.ts': ['../http/route.ts', '../../domain/identity/sessions.ts'],
  'workflows/campaign/workflow.ts': ['./contract.ts', '../enrollment/contract.ts', '@temporalio/workflow'],
  'workers/main.ts': ['../workflows/index.ts', '../activities/mail.ts', '../temporal/client.ts', '../lib/ids.ts'],
  'temporal/client.ts': [
    '../lib/ids.ts',
    '../db/connection.ts',
    '../workflows/contract.ts',
    '../workflows/campaign/contract.ts',
  ],
  'db/connection.ts': ['../lib/ids.ts', 'knex', 'pg', 'objection', 'node:fs'],
  'lib/ids.ts': ['./clock.ts', 'uuid', 'node:crypto'],
  'deploy/processes.ts': ['../api/servers/api.ts', '../workers/main.ts'],
  'local/postgres.ts': ['./servers.ts', '../lib/ids.ts', '../deploy/processes.ts', 'pg'],
  'test/harness/world.ts': ['../../api/servers/api.ts', 'pg', 'koa'],
  'web/build.ts': ['../lib/ids.ts', 'vite'],
  'web/src/app/api.ts': ['../../../client/src/index.ts', './session.ts'],
};

interface OxlintReport {
  diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[];
}

/** Writes one file per place, with one import on each line, and returns `place: import` for each reported import. */
async function restrictedImports(plants: Record<string, string[]>): Promise<string[]> {
  const house = await mkdtemp(join(tmpdir(), 'heron-house-'));
  try {
    await copyFile(join(ROOT, CONFIG), join(house, CONFIG));
    for (const [place, imports] of Object.entries(plants)) {
      await mkdir(dirname(join(house, place)), { recursive: true });
      const lines = imports.map((name, index) => `import { x${index} } from '${name}';\n`);
      await writeFile(join(house, place), lines.join(''));
    }
    const report = JSON.parse(await oxlint(house)) as OxlintReport;
    return report.diagnostics
      .filter(({ code }) => code.includes('no-restricted-imports'))
      .map(({ filename, labels }) => {
        const place = filename.replaceAll('\\', '/');
        return `${place}: ${plants[place]?.[labels[0]!.span.line - 1]}`;
      });
  } finally {
    await rm(house, { recursive: true });
  }
}

/** Runs oxlint and returns its output. It exits with 1 if it finds anything, which is expected here. */
async function oxlint(cwd: string): Promise<string> {
  const program = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  return promisify(execFile)(process.execPath, [program, '-c', CONFIG, '--format', 'json'], { cwd }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

function listed(plants: Record<string, string[]>): string[] {
  return Object.entries(plants)
    .flatMap(([place, imports]) => imports.map((name) => `${place}: ${name}`))
    .toSorted();
}

test('the linter reports an import against any arrow', async (t) => {
  t.deepEqual((await restrictedImports(FORBIDDEN)).toSorted(), listed(FORBIDDEN));
});

test('the linter lets imports along the arrows pass', async (t) => {
  t.deepEqual(await restrictedImports(ALLOWED), []);
});

test('the linter reports files that import each other, types included', async (t) => {
  const house = await mkdtemp(join(tmpdir(), 'heron-house-'));
  t.teardown(() => rm(house, { recursive: true }));
  await copyFile(join(ROOT, CONFIG), join(house, CONFIG));
  await mkdir(join(house, 'lib'));
  await writeFile(join(house, 'lib', 'a.ts'), "import { b } from './b.ts';\nexport const a = () => b;\n");
  await writeFile(
    join(house, 'lib', 'b.ts'),
    "import type { a } from './a.ts';\nexport const b: typeof a | null = null;\n",
  );
  const codes = (JSON.parse(await oxlint(house)) as OxlintReport).diagnostics.map(({ code }) => code);
  t.deepEqual(codes, ['import(no-cycle)', 'import(no-cycle)']);
});

test('the linter refuses a verb a pool that can be asked anything', async (t) => {
  const house = await mkdtemp(join(tmpdir(), 'heron-house-'));
  t.teardown(() => rm(house, { recursive: true }));
  await copyFile(join(ROOT, CONFIG), join(house, CONFIG));
  await mkdir(join(house, 'domain', 'contacts'), { recursive: true });
  const source = "import { connectRaw } from '../../db/connection.ts';\nexport const pool = connectRaw({ url: '' });\n";
  await writeFile(join(house, 'domain', 'contacts', 'read.ts'), source);
  t.deepEqual(
    (JSON.parse(await oxlint(house)) as OxlintReport).diagnostics.map(({ code }) => code),
    ['eslint(no-restricted-imports)'],
  );
});

test('the linter reports a function of more than 90 lines, except in tests, benches and migrations', async (t) => {
  const house = await mkdtemp(join(tmpdir(), 'heron-house-'));
  t.teardown(() => rm(house, { recursive: true }));
  await copyFile(join(ROOT, CONFIG), join(house, CONFIG));
  const ofLines = (count: number) => `export function f() {\n${'  f();\n'.repeat(count - 2)}}\n`;
  for (const [file, count] of [
    ['lib/long.ts', 91],
    ['lib/short.ts', 90],
    ['lib/long.test.ts', 91],
    ['bench/long.ts', 91],
    ['db/migrations/long.ts', 91],
  ] as const) {
    await mkdir(dirname(join(house, file)), { recursive: true });
    await writeFile(join(house, file), ofLines(count));
  }
  const { diagnostics } = JSON.parse(await oxlint(house)) as OxlintReport;
  t.deepEqual(
    diagnostics.map(({ code, filename }) => `${filename}: ${code}`),
    ['lib/long.ts: eslint(max-lines-per-function)'],
  );
});

test('types of @temporalio/common and defineSearchAttributeKey may be imported by workflows', async (t) => {
  const house = await mkdtemp(join(tmpdir(), 'heron-house-'));
  t.teardown(() => rm(house, { recursive: true }));
  await copyFile(join(ROOT, CONFIG), join(house, CONFIG));
  await mkdir(join(house, 'workflows'));
  const source = [
    "import type { Duration } from '@temporalio/common';",
    "import { defineSearchAttributeKey } from '@temporalio/common';",
    "export const state = defineSearchAttributeKey('State', 'KEYWORD');",
    'export type Pause = Duration;',
    '',
  ].join('\n');
  await writeFile(join(house, 'workflows', 'pause.ts'), source);
  t.deepEqual((JSON.parse(await oxlint(house)) as OxlintReport).diagnostics, []);
});

test('the rooms of domain/ and api/ are those of the linter; no import between them points up, and no circle leads through two', async (t) => {
  const { ROOMS, API_GROUND, API_ROOF } = (await import(pathToFileURL(join(ROOT, CONFIG)).href)) as Record<
    'ROOMS' | 'API_GROUND' | 'API_ROOF',
    string[]
  >;
  const foldersOf = async (place: string) =>
    (await readdir(join(ROOT, place), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  t.deepEqual((await foldersOf('domain')).toSorted(), ROOMS.toSorted());
  const known = new Set([...ROOMS, ...API_GROUND, ...API_ROOF]);
  t.deepEqual(
    (await foldersOf('api')).filter((name) => !known.has(name)),
    [],
  );
  const imports = await roomImports();
  t.true(imports.length > 500, `${imports.length} imports between rooms`);
  t.deepEqual(upwardImports(imports), []);
  t.deepEqual(circles(imports), []);
  const way = (from: string, to: string) => ({ file: from, target: to, from, to });
  t.is(upwardImports([way('mail', 'campaigns'), way('campaigns', 'mail')]).length, 1);
  t.deepEqual(circles([way('mail', 'inbox'), way('inbox', 'crm'), way('crm', 'mail')]), [
    ['mail', 'inbox', 'crm', 'mail'],
  ]);
});

test('no two folders of domain/ import each other, however far around', async (t) => {
  const arrows = await folderImports(join(ROOT, 'domain'));
  t.true(arrows.size > 20, 'the walk found the imports');
  t.deepEqual(
    circles([...arrows].flatMap(([from, all]) => [...all].map((to) => ({ file: from, target: to, from, to })))),
    [],
  );
});

/** Returns which folders below `root` import which others, from the text of their files without tests. */
async function folderImports(root: string): Promise<Map<string, Set<string>>> {
  const arrows = new Map<string, Set<string>>();
  for (const file of await sourceFiles(root)) {
    if (file.endsWith('.test.ts')) continue;
    const from = dirname(file);
    for (const [, target] of (await readFile(file, 'utf8')).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const to = dirname(join(from, target!));
      if (to === from || !to.startsWith(root)) continue;
      arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
    }
  }
  return arrows;
}

/** Generated files, which only compilers read, may be longer. */
const GENERATED = /\/(?:client\/src|db)\/schema\.ts$/;

test(`no source file is longer than ${MAX_LINES} lines`, async (t) => {
  const files = await sourceFiles(ROOT);
  t.true(files.length > 50, 'the walk found the sources');
  const lengths = await Promise.all(
    files.map(async (file) => ({ file, lines: (await readFile(file, 'utf8')).split('\n').length - 1 })),
  );
  t.deepEqual(
    lengths.filter(({ file, lines }) => lines > MAX_LINES && !GENERATED.test(file.replaceAll('\\', '/'))),
    [],
  );
});

test('no verb asks the database in three ways: entities, named SQL and single rows of tables', async (t) => {
  const files = (await sourceFiles(join(ROOT, 'domain'))).filter((file) => !file.endsWith('.test.ts'));
  const ways = await Promise.all(
    files.map(async (file) => ({ file, ways: waysOfAsking(await readFile(file, 'utf8')) })),
  );
  t.true(ways.filter((one) => one.ways === 2).length > 10, 'the walk knows the ways');
  t.deepEqual(
    ways.filter((one) => one.ways === 3).map(({ file }) => relative(ROOT, file)),
    [],
  );
  t.is(waysOfAsking("tx.org\n  .query(Contacts); org.sql<Row>('…'); across(db, 'person').table('users')"), 3);
});

function waysOfAsking(source: string): number {
  const ways = [/\.(?:query|create)\(\s*[A-Z]/, /\.(?:sql|run)[<(]/, /\.(?:table|insert)\(\s*'/];
  return ways.filter((way) => way.test(source)).length;
}

test('what production runs imports no package that `npm ci --omit=dev` leaves out', async (t) => {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const shipped = ['api', 'activities', 'db', 'deploy', 'domain', 'lib', 'temporal', 'workers', 'workflows'];
  const notShipped = /\.test\.ts$|\/fixtures\/|^deploy\/build\.ts$/;
  const files = (await Promise.all(shipped.map((folder) => sourceFiles(join(ROOT, folder))))).flat();
  const leftOut: string[] = [];
  const imported = new Set<string>();
  for (const file of files.filter((one) => one.endsWith('.ts'))) {
    const name = relative(ROOT, file).replaceAll('\\', '/');
    if (notShipped.test(name)) continue;
    for (const found of packagesIn(await readFile(file, 'utf8'))) {
      imported.add(found);
      if (lock.packages[`node_modules/${found}`]?.dev) leftOut.push(`${name}: ${found}`);
    }
  }
  t.deepEqual(leftOut, []);
  t.true(imported.size > 30, `${imported.size} packages`);
  t.deepEqual(
    packagesIn("import {\n  a,\n} from '@b/c/d';\nimport type { e } from 'f';\nimport './g.ts';\nawait import('h');"),
    ['@b/c', 'h'],
  );
});

/** Returns the packages that a source imports, except for types. */
function packagesIn(source: string): string[] {
  const specifiers = [
    ...source.matchAll(/^(?:import|export) (?!type )[^;']* from '([^'.][^']*)'/gm),
    ...source.matchAll(/\bimport\('([^'.][^']*)'\)/g),
  ].map(([, specifier]) => specifier!);
  return specifiers
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
}

test('comments and documents state rules themselves; they cite no document that is not here', async (t) => {
  // This file is exempt because it contains the names for which it searches.
  const exempt = /^test\/house\.test\.ts$/;
  const files = [...(await sourceFiles(ROOT)), ...(await markdownFiles(ROOT))];
  const found: string[] = [];
  for (const file of files) {
    const name = relative(ROOT, file).replaceAll('\\', '/');
    if (exempt.test(name)) continue;
    found.push(...citations(await readFile(file, 'utf8')).map((text) => `${name}: ${text}`));
  }
  t.deepEqual(found, []);
  const planted = '/** A rule (contract 2, "Campaign"; supplement part 3). See DECISIONS 6 and DESIGN section 3. */';
  t.is(citations(planted).length, 4);
});

/** Returns citations of documents outside this repository. */
function citations(text: string): string[] {
  return (
    text.match(/\bcontract \d\b|\bsupplement(?: parts? \d|,| [A-Z])|\bDECISIONS \d|\bDESIGN (?:section|\d)/g) ?? []
  );
}

test('every path that a document names is there', async (t) => {
  const missing: string[] = [];
  let named = 0;
  const all = new Set((await sourceFiles(ROOT)).map((file) => basename(file)));
  for (const file of await markdownFiles(ROOT)) {
    for (const path of pathsIn(await readFile(file, 'utf8'))) {
      named += 1;
      const folders = [ROOT, dirname(file), join(ROOT, 'domain')];
      const isFileName = !path.includes('/') && all.has(path);
      if (!isFileName && !folders.some((folder) => existsSync(join(folder, path))))
        missing.push(`${relative(ROOT, file)}: ${path}`);
    }
  }
  t.deepEqual(missing, []);
  t.true(named > 50, `${named} paths`);
  t.deepEqual(
    pathsIn(
      '`api/x.ts`, `engine/y.ts`, `z.ts` and [it](docs/y.md#part), not `a/b` or `lib/*.ts` or [that](https://x.example)',
    ),
    ['api/x.ts', 'engine/y.ts', 'z.ts', 'docs/y.md'],
  );
});

test('every link to a part of a document leads to a heading, and every source names pages that are there', async (t) => {
  const missing: string[] = [];
  let links = 0;
  for (const file of [...(await markdownFiles(ROOT)), ...(await sourceFiles(ROOT))]) {
    const name = relative(ROOT, file).replaceAll('\\', '/');
    if (name === 'test/house.test.ts') continue;
    const text = await readFile(file, 'utf8');
    const isDocument = file.endsWith('.md');
    for (const { page, part } of isDocument ? linksIn(text) : pagesIn(text)) {
      const target = page === '' ? file : join(isDocument ? dirname(file) : ROOT, page);
      if (!target.endsWith('.md')) continue;
      links += 1;
      const there = await readFile(target, 'utf8').catch(() => undefined);
      if (there === undefined || (part && !headingsIn(there).includes(part))) missing.push(`${name}: ${page}#${part}`);
    }
  }
  t.deepEqual(missing, []);
  t.true(links > 200, `${links} links`);
  t.deepEqual(linksIn('[a](b.md#c), [d](#e) and [f](https://g.example/h.md#i)'), [
    { page: 'b.md', part: 'c' },
    { page: '', part: 'e' },
  ]);
  t.deepEqual(pagesIn("'docs/a/b.md#c-d' and https://e.example/docs/f.md"), [{ page: 'docs/a/b.md', part: 'c-d' }]);
  t.deepEqual(headingsIn('# One: `two` & three\n\n```sh\n# no\n```\n## One: two\n'), ['one-two--three', 'one-two']);
});

interface Link {
  page: string;
  /** Fragment of the link, which names a heading; empty for a link without one. */
  part: string;
}

/** Returns the links of a document to documents of this repository. */
function linksIn(markdown: string): Link[] {
  return [...markdown.matchAll(/\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)/g)].map(([, page, part]) => ({
    page: page!,
    part: part!,
  }));
}

/** Returns the pages of docs/ that a source names. */
function pagesIn(source: string): Link[] {
  return [...source.matchAll(/(?<![\w/.])(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)].map(([, page, part = '']) => ({
    page: page!,
    part,
  }));
}

/** Returns the headings of a document in the form of link fragments. */
function headingsIn(markdown: string): string[] {
  const withoutCode = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...withoutCode.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

/**
 * Returns the files and folders of this repository that a text names as code or as a link, except patterns and build
 * output.
 */
function pathsIn(markdown: string): string[] {
  const inCode = [...markdown.matchAll(/`([\w@.-]+(?:\/[\w@.-]*)*)`/g)].map(([, path]) => path!);
  const links = [...markdown.matchAll(/\]\((?!\w+:)([^)#\s]+)[^)]*\)/g)].map(([, path]) => path!);
  const isOurs = (path: string) =>
    /\w\.(?:ts|mjs)$/.test(path) ||
    /^(?:api|domain|workflows|activities|workers|temporal|db|lib|local|deploy|examples|bench|docs|test)\//.test(path);
  return [...inCode.filter(isOurs), ...links];
}

test('every exported function and class says what it is', async (t) => {
  const files = (await sourceFiles(ROOT)).filter((file) => file.endsWith('.ts'));
  const silent: string[] = [];
  let documented = 0;
  for (const file of files) {
    const name = relative(ROOT, file).replaceAll('\\', '/');
    if (/\.test\.ts$|^(?:test|bench|db\/migrations)\//.test(name)) continue;
    const found = withoutDocstring(await readFile(file, 'utf8'));
    silent.push(...found.silent.map((exported) => `${name}: ${exported}`));
    documented += found.documented;
  }
  t.deepEqual(silent, []);
  t.true(documented > 500, `${documented} docstrings`);
  t.deepEqual(withoutDocstring('/** One. */\nexport function a() {}\n\nexport async function b() {}\n').silent, ['b']);
});

/**
 * Returns the exported functions and classes of a source without a docstring, and the number of those with one.
 * Overloads share the docstring of the first.
 */
function withoutDocstring(source: string): { silent: string[]; documented: number } {
  const silent: string[] = [];
  const seen = new Set<string>();
  for (const match of source.matchAll(/^export (?:async )?(?:function\*?|class|abstract class) (\w+)/gm)) {
    const name = match[1]!;
    if (!seen.has(name) && !source.slice(0, match.index).trimEnd().endsWith('*/')) silent.push(name);
    seen.add(name);
  }
  return { silent, documented: seen.size - silent.length };
}

/** Names in documents that come from others: the prefix of Temporal's metrics, and names of PostgreSQL. */
const NAMES_OF_OTHERS = new Set(['temporal_', 'pg_dump', 'pg_prewarm', 'shared_buffers']);

test('every name in code that a document mentions is in a source', async (t) => {
  const sources = await Promise.all(
    [...(await sourceFiles(ROOT)), join(ROOT, 'package.json'), join(ROOT, 'deploy/monitoring/prometheus-alerts.yaml')]
      .filter((file) => !file.endsWith('house.test.ts'))
      .map((file) => readFile(file, 'utf8')),
  );
  const words = new Set(sources.flatMap((source) => source.match(/[A-Za-z_]\w*/g) ?? []));
  const unknown: string[] = [];
  for (const file of await markdownFiles(ROOT)) {
    for (const name of namesIn(await readFile(file, 'utf8'))) {
      if (!words.has(name) && !NAMES_OF_OTHERS.has(name)) unknown.push(`${relative(ROOT, file)}: ${name}`);
    }
  }
  t.deepEqual(unknown, []);
  t.deepEqual(namesIn('`tx.emit` and `across(handle, reason)`, not `POST /v1` or `api/x.ts`'), [
    'tx',
    'emit',
    'across',
  ]);
});

/** Returns identifiers that a text shows as code: alone, with a dot, or called. */
function namesIn(markdown: string): string[] {
  return [...markdown.matchAll(/`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:<[^`]*>)?(?:\([^`]*)?`/g)]
    .map(([, name]) => name!)
    .filter((name) => !/\.(?:ts|md|mjs|json)$/.test(name))
    .flatMap((name) => name.split('.'));
}

function markdownFiles(folder: string): Promise<string[]> {
  return filesBelow(folder, new Set(['.md']));
}

function sourceFiles(folder: string): Promise<string[]> {
  return filesBelow(folder, SOURCES);
}
