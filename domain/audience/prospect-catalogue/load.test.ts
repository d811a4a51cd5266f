import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import pg from 'pg';
import { CATALOGUE_INDEXES } from '../../../db/catalogue/schema.ts';
import { CatalogueBusy, CatalogueWriter } from '../../../db/catalogue/writer.ts';
import { openCatalogue } from '../../../db/catalogue/reader.ts';
import { TYPESCRIPT } from '../../../local/typescript.ts';
import { catalogueIdOf, createTestCatalogue, type TestCatalogue } from '../../../test/harness/catalogue.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { loadCatalogue, type LoadOptions } from './load.ts';
import { COMPANY_COLUMNS, PERSON_COLUMNS } from './records.ts';
import { sampleLines } from './sample.ts';

const HERON = fileURLToPath(new URL('../../../deploy/heron.ts', import.meta.url));

let folder: string;
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heron-load-'));
});
test.after.always(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function fileOf(text: string, ending = 'csv'): Promise<string> {
  files += 1;
  const file = join(folder, `file-${files}.${ending}`);
  await writeFile(file, text);
  return file;
}

async function withCatalogue(work: (catalogue: TestCatalogue, db: pg.Client) => Promise<void>): Promise<void> {
  const catalogue = await createTestCatalogue();
  const db = new pg.Client({ connectionString: catalogue.url });
  await db.connect();
  try {
    await work(catalogue, db);
  } finally {
    await db.end();
    await catalogue.drop();
  }
}

test('a CSV file: columns by name, bad lines told with their number and left out, later rows of an id win', async (t) => {
  await withCatalogue(async ({ url }, db) => {
    const file = await fileOf(
      [
        '\uFEFFType,ID,First Name,Last-Name,Email,Employees,Domain,Name,Technologies,Unknown column',
        `company,crm-77,,,,12,WWW.acme.example,Acme,"React; Node.js",x`,
        `person,${catalogueIdOf('p', 1)},Ana,"O""Neil, Jr",ANA@acme.example,,,,,`,
        ',,No,Id,,,,,,',
        'robot,r1,A,B,,,,,,',
        'company,c9,,,,many,,Nine,,',
        `,p3,"broken quote`,
        `,p4,Dee,"two`,
        `lines",d@d.example,,,,,`,
        `,p5,${'x'.repeat(201)},,,,,,,`,
        `,p4,Dora,Later,,,,,,`,
        ',p6,a,b,c,d,e,f,g,h,too many',
      ].join('\n'),
    );
    const refused: [number, string][] = [];
    const options: LoadOptions = { url, file, onRefused: (line, faults) => refused.push([line, faults.join(', ')]) };
    const report = await loadCatalogue(options);
    t.deepEqual(
      refused.map(([line]) => line),
      [4, 5, 6, 7, 10, 12],
      JSON.stringify(refused),
    );
    t.regex(refused[0]![1], /id is required/);
    t.regex(refused[2]![1], /employees/);
    t.like(report, { people: 3, companies: 1, refused: 6, resumedAt: 0, indexedAfter: true });
    const { rows } = await db.query('select first_name, last_name, email from catalogue_people order by first_name');
    t.deepEqual(rows, [
      { first_name: 'Ana', last_name: `O"Neil, Jr`, email: 'ana@acme.example' },
      { first_name: 'Dora', last_name: 'Later', email: '' },
    ]);
    const companies = await db.query('select id, domain, technologies, employees from catalogue_companies');
    t.like(companies.rows[0], { domain: 'acme.example', technologies: ['node.js', 'react'], employees: 12 });
    t.regex(companies.rows[0].id, /^[0-9a-f]{24}$/, 'a source id of another form has a digest');

    t.deepEqual(
      await loadCatalogue(options),
      { ...report, indexedAfter: false },
      'the same file again changes nothing',
    );
    t.is((await db.query('select from catalogue_people')).rowCount, 2);
    await t.throwsAsync(loadCatalogue({ url, file: await fileOf('name,email\na,b') }), { message: /no column "id"/ });
    await t.throwsAsync(loadCatalogue({ url, file: await fileOf('', 'xlsx') }), { message: /--format/ });
  });
});

test('people follow their company when it comes later or changes, and the role that searches may only read', async (t) => {
  await withCatalogue(async (catalogue, db) => {
    const role = `heron_reader_${Date.now()}`;
    await db.query(`create role ${role} login password 'reads'`);
    try {
      const file = await fileOf(
        `{"id":"p1","company_id":"c1","first_name":"Ana"}\nnot json\n{"type":"company","id":"c1","domain":"one.example","employees":5,"industries":["a\\"b","c"]}\n[]`,
        'jsonl',
      );
      t.like(await loadCatalogue({ url: catalogue.url, reader: role, file }), { people: 1, companies: 1, refused: 2 });
      const followed = async () => (await db.query('select domain, employees, tags from catalogue_people')).rows[0];
      t.deepEqual(await followed(), { domain: 'one.example', employees: 5, tags: ['i:a"b', 'i:c'] });
      await catalogue.load([{ type: 'company', id: 'c1', domain: 'two.example', technologies: ['t'] }]);
      t.deepEqual(await followed(), { domain: 'two.example', employees: null, tags: ['t:t'] });

      const url = new URL(catalogue.url);
      url.username = role;
      url.password = 'reads';
      const reader = openCatalogue({ url: url.href });
      t.deepEqual(await reader.query('select domain from catalogue_people'), [{ domain: 'two.example' }]);
      await t.throwsAsync(reader.query('delete from catalogue_people'));
      await reader.close();
    } finally {
      await db.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

test('one loads at a time', async (t) => {
  await withCatalogue(async (catalogue) => {
    const writer = await CatalogueWriter.open(catalogue.url, { person: PERSON_COLUMNS, company: COMPANY_COLUMNS });
    await t.throwsAsync(catalogue.load([]), { instanceOf: CatalogueBusy });
    await writer.close();
  });
});

test('a load that is killed goes on behind its last stored chunk, and comes to the same', async (t) => {
  t.timeout(120_000);
  await withCatalogue(async (catalogue, db) => {
    const people = 100_000;
    const file = await fileOf([...sampleLines(people, 200)].join(''), 'jsonl');
    const env = { ...process.env, PROSPECT_DB: catalogue.url, HERON_DATA_DIR: folder };
    const load = () =>
      spawn(process.execPath, [...TYPESCRIPT, HERON, 'catalogue', 'load', file], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const first = load();
    await eventually(async () => {
      const { rows } = await db
        .query(`select lines_done::int as done from catalogue_loads`)
        .catch(() => ({ rows: [] }));
      return rows[0]?.done > 0;
    }, 60_000);
    first.kill('SIGKILL');
    await once(first, 'exit');
    const before = await db.query('select count(*)::int as people from catalogue_people');
    t.true(before.rows[0].people < people, 'it was not killed in time');

    let printed = '';
    const second = load();
    second.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const [code] = await once(second, 'exit');
    t.is(code, 0);
    const report = JSON.parse(printed);
    t.true(report.resumedAt > 0);
    t.like(report, { people, companies: 200, refused: 0 });
    const { rows } = await db.query(
      'select count(*)::int as people, count(distinct id)::int as ids from catalogue_people',
    );
    t.deepEqual(rows[0], { people, ids: people });
    const facts = await db.query('select people::int as people, companies::int as companies from catalogue_facts');
    t.deepEqual(facts.rows[0], { people, companies: 200 });
    const indexes = await db.query('select indexname from pg_indexes where indexname = any($1)', [
      Object.keys(CATALOGUE_INDEXES),
    ]);
    t.is(indexes.rowCount, Object.keys(CATALOGUE_INDEXES).length, 'the indexes are there');
  });
});
