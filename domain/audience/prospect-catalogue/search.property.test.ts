import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { openCatalogue, type CatalogueReader } from '../../../db/catalogue/reader.ts';
import { REPLACED_INDEXES } from '../../../db/catalogue/schema.ts';
import { systemCtx, type Ctx } from '../../platform/kernel/context.ts';
import type { Page } from '../../../lib/cursor.ts';
import { createTestCatalogue, type TestCatalogue } from '../../../test/harness/catalogue.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { searchCatalogueCompanies } from './companies.ts';
import type { CompanyFilters, PeopleFilters } from './filters.ts';
import { indexCatalogue } from './load.ts';
import { searchCataloguePeople } from './people.ts';

/**
 * Compares the results of searches with a simple filter in memory, which reads the records of the file and uses no
 * keys, tags or indexes. Records are drawn from a few words, including ones with special characters, so that filters
 * match. They are loaded twice with changes, and old values must then no longer be found. In every second world, the
 * catalogue has the indexes of an earlier version until the next load.
 */

const WORDS = [
  'ada',
  'Ann%',
  'an_n',
  'a\\b',
  '"quoted"',
  `o'neil`,
  '{braces}',
  'Ünal',
  '\\N',
  'tab\there',
  'IŞIK',
  '東京',
  '- -',
  '😀x',
  'c++',
  'r&d/vp',
];
const PLACES = ['', 'Germany', 'GERMANY', 'Österreich', 'us', 'U.S.; drop table', 'x,y'];

/** Numbers of employees at the edges of brackets, next to them, and at the limits of the column. */
const SIZES = [0, 1, 2, 9, 10, 11, 12, 50, 51, 999, 1_000, 1_001, 5_000, 999_999, 1_000_000, 2_147_483_647];

const word = fc.constantFrom(...WORDS);
const place = {
  country: fc.constantFrom(...PLACES),
  state: fc.constantFrom(...PLACES),
  city: fc.constantFrom(...PLACES),
};
const idOf = (kind: string, number: number) => `${kind}${String(number).padStart(23, '0')}`;
const company = fc.record({
  type: fc.constant('company'),
  name: fc.tuple(word, word).map((words) => words.join(' ')),
  domain: fc.constantFrom('', 'www.acme.example', 'acme.example', 'Bolt.example'),
  industries: fc.uniqueArray(word, { maxLength: 3 }),
  technologies: fc.uniqueArray(word, { maxLength: 3 }),
  employees: fc.constantFrom(null, ...SIZES),
  ...place,
});
const person = fc.record({
  first_name: word,
  last_name: word,
  email: fc.constantFrom('', 'a@b.example', 'A@B.example', 'a at b', '@', 'x@y'),
  title: fc.tuple(word, word).map((words) => words.join('  ')),
  seniority: fc.constantFrom('', 'VP', 'vp', 'c suite'),
  department: fc.constantFrom('', 'Sales', 'IT'),
  company_id: fc.constantFrom('', ...Array.from({ length: 12 }, (_, index) => idOf('c', index))),
  ...place,
});
type Company = Record<string, any>;
type Person = Record<string, any>;

/** Part of a word, in another case, with surrounding spaces. */
const part = fc.tuple(word, fc.nat(3), fc.nat(4), fc.boolean()).map(([text, from, length, upper]) => {
  const piece = [...text].slice(from, from + length + 1).join('') || text;
  return ` ${upper ? piece.toUpperCase() : piece} `;
});
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });
const companyFilters = {
  q: maybe(part),
  country: maybe(fc.constantFrom(...PLACES)),
  state: maybe(fc.constantFrom(...PLACES)),
  city: maybe(fc.constantFrom(...PLACES)),
  domain: maybe(fc.constantFrom('acme.example', 'WWW.acme.example', 'acme', 'bolt.example')),
  industry: maybe(word),
  technology: maybe(word),
  company_id: maybe(fc.nat(13).map((number) => idOf('c', number))),
};
const peopleFilters = {
  ...companyFilters,
  q: maybe(fc.oneof(part, fc.constantFrom('a@b.example', 'A@b.example', '@'))),
  title: maybe(part),
  seniority: maybe(fc.constantFrom('vp', 'VP', 'c suite', 'v')),
  department: maybe(fc.constantFrom('sales', 'it', 'i')),
  email: maybe(fc.constantFrom('present', 'missing', 'valid')),
};
const sizes = fc
  .tuple(fc.constantFrom(...SIZES), fc.constantFrom(...SIZES, 2 ** 40), fc.nat(2))
  .map(([one, other, ends]) => ({
    ...(ends < 2 && { min_employees: Math.min(one, other) }),
    ...(ends > 0 && { max_employees: Math.max(one, other) }),
  }));
/**
 * Draws at most three filters, so that some rows match. Half of the cases also have bounds of the number of employees.
 */
function few<T extends object>(filters: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> {
  return fc
    .tuple(
      fc.record(filters),
      fc.subarray(Object.keys(filters) as (keyof T)[], { maxLength: 3 }),
      fc.option(sizes, { nil: {}, freq: 1 }),
    )
    .map(
      ([all, names, size]) =>
        ({ ...Object.fromEntries(names.map((name) => [name, all[name as never]])), ...size }) as unknown as Partial<T>,
    );
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase();
const contains = (text: string, asked: string | undefined) => !asked?.trim() || plain(text).includes(plain(asked));
const equals = (text: string, asked: string | undefined) => !asked?.trim() || plain(text) === plain(asked);
const bare = (domain: string) => plain(domain).replace(/^www\./, '');

function companyFits(record: Company | undefined, asked: CompanyFilters): boolean {
  const has = (list: string[] | undefined, value: string | undefined) =>
    !value?.trim() || (list ?? []).map(plain).includes(plain(value));
  const size: number | null = record?.employees ?? null;
  return (
    (!asked.domain || (bare(record?.domain ?? '') !== '' && bare(record!.domain) === bare(asked.domain))) &&
    has(record?.industries, asked.industry) &&
    has(record?.technologies, asked.technology) &&
    (asked.min_employees === undefined || (size !== null && size >= asked.min_employees)) &&
    (asked.max_employees === undefined || (size !== null && size <= asked.max_employees))
  );
}

const placeFits = (record: Record<string, any>, asked: CompanyFilters) =>
  equals(record.country, asked.country) && equals(record.state, asked.state) && equals(record.city, asked.city);

function personFits(record: Person, companies: Map<string, Company>, asked: PeopleFilters): boolean {
  const email = record.email.toLowerCase();
  const q = asked.q?.trim();
  return (
    placeFits(record, asked) &&
    companyFits(companies.get(record.company_id), asked) &&
    (!asked.company_id || record.company_id === asked.company_id) &&
    (!q || (q.includes('@') ? email === plain(q) : contains(`${record.first_name} ${record.last_name}`, q))) &&
    contains(record.title, asked.title) &&
    equals(record.seniority, asked.seniority) &&
    equals(record.department, asked.department) &&
    (asked.email !== 'present' || email !== '') &&
    (asked.email !== 'missing' || email === '') &&
    (asked.email !== 'valid' || email === 'a@b.example')
  );
}

/** Returns the filters in the form in which the routes' schema passes them on. */
const asSent = <F extends object>(filters: F): F =>
  Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, typeof value === 'string' ? plain(value) : value]),
  ) as F;
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function everyPage<Row extends { id: string }>(
  list: (cursor: string | undefined) => Promise<Page<Row>>,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return ids;
}

/** Indexes that an earlier version of the catalogue had instead of four of the current ones. */
const EARLIER_INDEXES = `
  create index catalogue_people_name on catalogue_people using gin (name_key gin_trgm_ops);
  create index catalogue_people_title on catalogue_people using gin (title_key gin_trgm_ops);
  create index catalogue_people_tags on catalogue_people using gin (tags);
  create index catalogue_companies_search on catalogue_companies using gin (search_key gin_trgm_ops);
  create index catalogue_companies_tags on catalogue_companies using gin (tags)`;
const LATER_INDEXES = [
  'catalogue_people_exact',
  'catalogue_people_text',
  'catalogue_companies_exact',
  'catalogue_companies_text',
];

let world: World;
let catalogue: TestCatalogue;
let owner: pg.Client;
let reader: CatalogueReader;
test.before(async () => {
  [world, catalogue] = await Promise.all([createWorld(), createTestCatalogue()]);
  owner = new pg.Client({ connectionString: catalogue.url });
  await owner.connect();
  // Disables sequential scans. Otherwise PostgreSQL would read tables of forty rows completely and never use an index.
  await owner.query(
    `do $$ begin execute format('alter database %I set enable_seqscan = off', current_database()); end $$`,
  );
  // Limits the length of scans in list order, so that some end before the last person.
  reader = openCatalogue({ url: catalogue.url, shortestWalk: 5 });
});
test.after.always(async () => {
  await reader?.close();
  await owner?.end();
  await world?.close();
  await catalogue?.drop();
});

test('searches find what a plain filter of the records finds, in order, over any pages', async (t) => {
  t.timeout(120_000);
  const ctx: Ctx = { ...systemCtx(world.deps, 'none', 'test'), catalogue: reader };
  let companies: Company[] = [];
  let people: Person[] = [];
  let matched = 0;
  let worlds = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(company, { minLength: 10, maxLength: 10 }),
      fc.array(person, { minLength: 40, maxLength: 40 }),
      fc.array(fc.tuple(few<PeopleFilters>(peopleFilters as never), fc.integer({ min: 1, max: 7 })), {
        minLength: 30,
        maxLength: 30,
      }),
      fc.array(fc.tuple(few<CompanyFilters>(companyFilters as never), fc.integer({ min: 1, max: 7 })), {
        minLength: 15,
        maxLength: 15,
      }),
      async (someCompanies, somePeople, peopleSearches, companySearches) => {
        companies = someCompanies.map((record, index) => ({ ...record, id: idOf('c', index) }));
        people = somePeople.map((record, index) => ({ ...record, id: idOf('p', index) }));
        // Loads half of the people before their companies and the others after them. Both orders must give the same
        // result.
        const report = await catalogue.load([...people.slice(20), ...companies, ...people.slice(0, 20)]);
        if (report.refused > 0) throw new Error(`${report.refused} records were refused`);
        worlds += 1;
        if (worlds % 2 === 0) await owner.query(`drop index ${LATER_INDEXES.join(', ')}; ${EARLIER_INDEXES}`);
        const byId = new Map(companies.map((record) => [record.id as string, record]));
        for (const [asked, limit] of peopleSearches) {
          const expected = people
            .filter((record) => personFits(record, byId, asked))
            .sort(
              (a, b) =>
                byBytes(plain(a.country), plain(b.country)) ||
                byBytes(plain(a.seniority), plain(b.seniority)) ||
                byBytes(a.id, b.id),
            )
            .map(({ id }) => id as string);
          matched += expected.length;
          const found = await everyPage((cursor) => searchCataloguePeople(ctx, { limit, cursor }, asSent(asked)));
          if (found.join() !== expected.join())
            throw new Error(`${JSON.stringify(asked)}: found ${found.join()}, expected ${expected.join()}`);
        }
        for (const [asked, limit] of companySearches) {
          const expected = companies
            .filter(
              (record) =>
                placeFits(record, asked) &&
                companyFits(record, asked) &&
                (!asked.company_id || record.id === asked.company_id) &&
                (contains(record.name, asked.q) || contains(bare(record.domain), asked.q)),
            )
            .sort(
              (a, b) =>
                byBytes(plain(a.country), plain(b.country)) ||
                (a.employees ?? 0) - (b.employees ?? 0) ||
                byBytes(a.id, b.id),
            )
            .map(({ id }) => id as string);
          matched += expected.length;
          const found = await everyPage((cursor) => searchCatalogueCompanies(ctx, { limit, cursor }, asSent(asked)));
          if (found.join() !== expected.join())
            throw new Error(`${JSON.stringify(asked)}: found ${found.join()}, expected ${expected.join()}`);
        }
      },
    ),
    { numRuns: 3, seed: 3 },
  );
  t.true(matched > 100, `only ${matched} matches: the filters say nothing`);

  const left = async () =>
    (await owner.query('select from pg_indexes where indexname = any($1)', [REPLACED_INDEXES])).rowCount;
  t.is(await left(), 0, 'a load has made the later indexes in place of the earlier ones');
  await owner.query(`drop index ${LATER_INDEXES.join(', ')}; ${EARLIER_INDEXES}`);
  t.deepEqual((await indexCatalogue({ url: catalogue.url })).sort(), [...LATER_INDEXES].sort());
  t.deepEqual(await indexCatalogue({ url: catalogue.url }), [], 'there is nothing left to make');
  t.is(await left(), 0);
});
