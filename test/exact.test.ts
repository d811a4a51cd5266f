import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

/* Checks for flaky tests: the records of known ones, and patterns in sources that cause them. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FLAKES = 'test/FLAKES.md';
const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', 'client', 'web', '.git', '.heron']);
const HEADINGS = ['test', 'first seen', 'what it said', 'cause', 'mended by'];

/** Returns the first cells of table rows that have missing cells. Throws if there is no table. */
function openRows(markdown: string): string[] {
  const rows = markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.slice(1, line.lastIndexOf('|')).split('|'))
    .map((cells) => cells.map((cell) => cell.trim()));
  const [headings, , ...entries] = rows;
  if (headings?.join() !== HEADINGS.join()) throw new Error(`the table has the columns ${HEADINGS.join(', ')}`);
  const isOpen = (cells: string[]) =>
    cells.length !== HEADINGS.length ||
    !/^\d{4}-\d\d-\d\d$/.test(cells[1]!) ||
    cells.some((cell) => !/[a-z]{3}/i.test(cell) && !/^\d/.test(cell)) ||
    /\b(?:unknown|unclear|todo|tbd)\b/i.test(cells[3]!);
  return entries.filter(isOpen).map((cells) => cells[0]!);
}

test('every test that failed by chance has a cause, and what mended it', async (t) => {
  t.deepEqual(openRows(await readFile(join(ROOT, FLAKES), 'utf8')), []);
  const table = (...rows: string[]) => [`| ${HEADINGS.join(' | ')} |`, '|---|---|---|---|---|', ...rows].join('\n');
  const known = '| a.test.ts: a | 2026-11-28 | 1 is not 2 | the port was short | a longer one |';
  const without = [
    '| b.test.ts: b | 2026-11-28 | 1 is not 2 | | |',
    '| c.test.ts: c | 2026-11-28 | 1 is not 2 | ? | a rerun |',
    '| d.test.ts: d | 2026-11-28 | 1 is not 2 | unknown | a rerun |',
    '| e.test.ts: e | lately | 1 is not 2 | the port was short | a longer one |',
  ];
  t.deepEqual(
    openRows(table(known, ...without)).map((name) => name[0]),
    ['b', 'c', 'd', 'e'],
  );
});

interface Kind {
  finds: (source: string) => string[];
  /** Places in which the pattern is correct, with the reasons. */
  exact: Record<string, string>;
}

const DRAWS_ORDERS = 'draws which of things at once is first; what is asserted holds in any order';
const SUBJECT = 'intervals and limits are what is tested';

const KINDS: Record<string, Kind> = {
  'draws without a seed': {
    finds: (source) => source.match(/Math\.random\(/g) ?? [],
    exact: { 'test/faults/main.ts': 'draws the seed, and prints it' },
  },
  'fixed waits': {
    finds: (source) => source.match(/(?<![.\w])(?:setTimeout|setInterval|sleep)\((?!callback)/g) ?? [],
    exact: {
      'api/servers/realtime/resume.test.ts': DRAWS_ORDERS,
      'db/notify.test.ts': 'gives a notification that must not come time to do so; with less the test proves less',
      'domain/connect/delivery/fan-out.test.ts': DRAWS_ORDERS,
      'domain/sending/allocate.test.ts': 'a limit for who would wait for ever',
      'domain/audience/product-events/publish.test.ts': DRAWS_ORDERS,
      'domain/campaigns/runs/races.test.ts': DRAWS_ORDERS,
      'domain/sending/enrollment/wait.test.ts': DRAWS_ORDERS,
      'domain/audience/verification/by-probe.test.ts':
        'gives a third conversation time to begin; with less the test proves less',
      'lib/egress/request.test.ts': SUBJECT,
      'lib/every.test.ts': SUBJECT,
      'local/child.test.ts': SUBJECT,
      'local/temporal/fairness.test.ts': 'an activity takes a while, so that others queue',
      'temporal/relay-order.test.ts': 'a call takes a while, so that two of one workflow would overlap',
      'temporal/relay.test.ts': 'a call takes a while; notices come one after the other',
      'test/engine/interleavings.test.ts': DRAWS_ORDERS,
      'test/costs/idle.test.ts': 'an idle worker is counted for a time; a busy machine runs fewer turns in it',
      'test/engine/frozen-calls.test.ts': 'a process that stands still for some time is what is tested',
      'test/engine/frozen-worker.test.ts': 'a process that stands still for some time is what is tested',
      'test/engine/lost-answers.test.ts': 'loses answers again and again; what is asserted holds for any of them',
      'test/engine/partial-outage.test.ts':
        'gives a count that must not rise time to do so; with less the test proves less',
      'test/engine/steps.test.ts': DRAWS_ORDERS,
      'test/harness/eventually.ts': 'the pause between two looks',
      'test/harness/keyboard.ts': 'the pause between two looks, in the browser',
      'test/harness/lock-holder.ts': 'keeps the process alive',
      'test/harness/mail.ts': 'ends a wait with an error',
      'test/harness/mailbox-orders.ts': 'the pause between two attempts',
      'test/harness/probe/waiting.ts': 'a timer of a workflow',
      'test/harness/provider.ts': 'a provider that is slow when a test says so',
      'test/harness/receiver.ts': 'ends a wait with an error; a receiver that is slow when a test says so',
      'test/summary.test.ts': 'keeps a test open while its rejection is noticed',
    },
  },
  'fixed waits of a browser': {
    finds: (source) => source.match(/\.waitForTimeout\(/g) ?? [],
    exact: {
      'api/approvals/pages/pages.test.ts':
        'gives a navigation that must not come time to begin; with less the test proves less',
      'test/dashboard/leads.test.ts': 'the pause between two turns of the wheel',
    },
  },
  'short texts that must stand nowhere': {
    finds: shortNeedles,
    exact: {
      'api/approvals/pages/pages.test.ts': 'the page has these words alone',
      'api/identity/oauth/register.test.ts': 'a list of scopes',
      'api/campaigns/runs/routes.test.ts': 'a list of states',
      'api/inbox/threads/content.test.ts': 'a list of paths',
      'api/operations/system/routes.test.ts': 'the page is always the same',
      'db/statement.test.ts': 'the message is always the same',
      'domain/sending/outcomes/received-cases.test.ts': 'the messages are files of the repository',
      'domain/sending/outcomes/record-inbound.test.ts': 'a character that no text of the database can have',
      'domain/connect/integrations/providers/providers.test.ts': 'the message is always the same',
      'domain/mail/inbound/parse.test.ts': 'the message is a file of the repository',
      'domain/mail/messages/build.test.ts': 'a list of names of headers',
      'local/packages/npm.test.ts': 'a list of files',
      'local/temporal/state-file.test.ts': 'a list of files',
      'temporal/codec.test.ts': 'nine letters in a hundred bytes of a cipher',
      'test/dashboard/texts.test.ts': 'the texts are those of the repository',
      'test/examples/examples.test.ts': 'the example is always the same',
      'test/suites/mcp-client.test.ts': 'a list of tools',
      'test/suites/openapi.test.ts': 'a list of fields',
    },
  },
  'bytes that are searched as JSON, which has them as numbers': {
    finds: (source) => source.match(/t\.false\(\s*JSON\.stringify\([\s\S]{0,200}?\)\.includes\(/g) ?? [],
    exact: {},
  },
};

/** Returns short literals that a test asserts to be absent. */
function shortNeedles(source: string): string[] {
  const denied = [...source.matchAll(/\bt\.false\(([\s\S]*?)\);\n/g)].map(([, statement]) => statement!);
  const inLoops = [...source.matchAll(/\bfor \(const \w+ of \[([^\]]*)\]\)\s*\{?\s*t\.false\(\w+\.includes\(/g)];
  return [
    ...denied.flatMap((statement) => [...statement.matchAll(/\.includes\(\s*(['"`])((?:(?!\1)[^$]){1,11})\1\)/g)]),
    ...inLoops.flatMap(([, list]) => [...list!.matchAll(/(['"`])((?:(?!\1)[^$]){1,11})\1/g)]),
  ].map(([, , needle]) => needle!);
}

async function testSources(directory = ROOT): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : testSources(path);
      const name = relative(ROOT, path).replaceAll('\\', '/');
      return /\.test\.ts$|^test\/(?:harness\/.*|faults\/main)\.ts$/.test(name) ? [name] : [];
    }),
  );
  return nested.flat();
}

test('no test fails by chance in a way that can be seen in its source', async (t) => {
  const names = (await testSources()).filter((name) => name !== 'test/exact.test.ts');
  t.true(names.length > 300, 'the walk found the tests');
  const found: string[] = [];
  for (const [kind, { finds, exact }] of Object.entries(KINDS)) {
    const places = new Set<string>();
    for (const name of names) {
      const all = finds(await readFile(join(ROOT, name), 'utf8'));
      if (all.length > 0) places.add(name);
      if (all.length > 0 && !(name in exact)) found.push(`${kind}: ${name}: ${all.join(', ')}`);
    }
    for (const name of Object.keys(exact)) if (!places.has(name)) found.push(`${kind}: ${name} has none any more`);
  }
  t.deepEqual(found, []);
});

test('the kinds of chance are seen', (t) => {
  const planted: Record<keyof typeof KINDS, [string, number]> = {
    'draws without a seed': ['const name = `a${Math.random()}`;', 1],
    'fixed waits': ['await sleep(50); setTimeout(done, 5); setInterval(look, 5); request.setTimeout(5);', 3],
    'fixed waits of a browser': ['await page.waitForTimeout(50); await page.getByText("a").waitFor();', 1],
    'short texts that must stand nowhere': [
      "t.false(text.includes('Hello'), text);\nfor (const one of ['at-', rest]) t.false(all.includes(one));\nt.false(text.includes('long and drawn'));\nt.false(text.includes(secret));\n",
      2,
    ],
    'bytes that are searched as JSON, which has them as numbers': [
      't.false(JSON.stringify(await db.first()).includes(secret));',
      1,
    ],
  };
  for (const [kind, [source, count]] of Object.entries(planted)) t.is(KINDS[kind]!.finds(source).length, count, kind);
  t.deepEqual(Object.keys(planted), Object.keys(KINDS));
});
