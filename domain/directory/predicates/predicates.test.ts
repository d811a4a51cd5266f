import test from 'ava';
import fc from 'fast-check';
import { createEmptyDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { compilePredicates, mayBeUndecided } from './compile.ts';
import { meetsAll, propertyAt } from './evaluate.ts';
import { predicateSchema, predicatesSchema, type Predicate } from './predicate.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createEmptyDatabase();
});
test.after.always(() => database?.drop());

/** Returns PostgreSQL's result for each document: true, false, or null if undecidable. */
async function askDatabase(predicates: readonly Predicate[], documents: readonly unknown[]): Promise<unknown[]> {
  const { sql, bindings } = compilePredicates(predicates, 'd.data');
  const { rows } = await database.db.raw(
    `select ${sql} as met from (select n, text::jsonb as data from unnest(cast(:documents as text[])) with ordinality as u(text, n)) d order by n`,
    { ...bindings, documents: documents.map((each) => JSON.stringify(each)) } as never,
  );
  return rows.map(({ met }: { met: unknown }) => met);
}

const NAMES = ['a', 'b', '0', 'length', '__proto__', 'constructor', "o'x", '?', ':org'];
const name = fc.constantFrom(...NAMES);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('.'));
const words = fc.oneof(
  fc.constantFrom(
    '',
    '1',
    'true',
    'null',
    'Straße',
    'STRASSE',
    'ÄRZTE',
    'ärzte',
    'İ',
    'K',
    'k',
    'ΟΔΟΣ',
    'οδος',
    'abc',
    'ABC',
    '%',
    '_',
    '\\',
  ),
  fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'Ä', 'ä', 'ß', '%', '\\', '"', '😀', '.'), maxLength: 4 }),
);
const number = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    1.0,
    -1,
    0.1,
    0.30000000000000004,
    0.3,
    1e21,
    5e-324,
    1.7976931348623157e308,
    2 ** 53,
    2 ** 53 + 2,
  ),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const scalar = fc.oneof(words, number, fc.boolean());
const predicate: fc.Arbitrary<Predicate> = fc.oneof(
  fc.record({ path, op: fc.constantFrom('eq' as const, 'neq' as const), value: scalar }),
  fc.record({
    path,
    op: fc.constantFrom('in' as const, 'not_in' as const),
    value: fc.array(scalar, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ path, op: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const), value: number }),
  fc.record({ path, op: fc.constant('contains' as const), value: words.filter((value) => value !== '') }),
  fc.record({ path, op: fc.constantFrom('exists' as const, 'not_exists' as const) }),
);
const { tree: data } = fc.letrec<{ tree: Record<string, unknown>; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(scalar, fc.constant(null)),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('tree'),
  ),
  // Objects made by JSON.parse, in which __proto__ is an ordinary property.
  tree: fc
    .array(fc.tuple(name, tie('value')), { maxLength: 5 })
    .map((entries) =>
      JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`),
    ),
}));

test('PostgreSQL and TypeScript agree about every predicate, on data of any shape', async (t) => {
  let met = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(predicate, { maxLength: 3 }),
      fc.array(data, { minLength: 30, maxLength: 60 }),
      async (predicates, documents) => {
        // Documents as they are after they were stored and read again.
        const stored = documents.map((each) => JSON.parse(JSON.stringify(each)) as unknown);
        const answers = await askDatabase(predicates, stored);
        for (const [index, answer] of answers.entries()) {
          const expected = meetsAll(predicates, stored[index]);
          if (answer === null) t.true(mayBeUndecided(predicates));
          else t.is(answer, expected, JSON.stringify([predicates, stored[index]]));
          if (expected) met += 1;
        }
      },
    ),
    { numRuns: 150, seed: 150 },
  );
  t.true(met > 100, `${met} met`);
});

/** Data, predicate, and expected result. */
const CASES: readonly [unknown, Predicate, boolean][] = [
  [{ a: 1 }, { path: 'a', op: 'eq', value: 1.0 }, true],
  [{ a: '1' }, { path: 'a', op: 'eq', value: 1 }, false],
  [{ a: true }, { path: 'a', op: 'eq', value: 1 }, false],
  [{}, { path: 'a', op: 'eq', value: 'x' }, false],
  [{}, { path: 'a', op: 'neq', value: 'x' }, true],
  [{}, { path: 'a', op: 'not_in', value: ['x'] }, true],
  [{ a: 'x' }, { path: 'a', op: 'in', value: ['y', 'x'] }, true],
  [{ a: ['x'] }, { path: 'a', op: 'in', value: ['x'] }, false],
  [{ a: '5' }, { path: 'a', op: 'gt', value: 1 }, false],
  [{ a: 5 }, { path: 'a', op: 'gte', value: 5 }, true],
  [{ a: 'Enterprise Plan' }, { path: 'a', op: 'contains', value: 'enterPRISE' }, true],
  [{ a: 'ÄRZTEHAUS' }, { path: 'a', op: 'contains', value: 'ärzte' }, true],
  [{ a: ['pro'] }, { path: 'a', op: 'contains', value: 'pro' }, false],
  [{ a: null }, { path: 'a', op: 'exists' }, true],
  [{ a: null }, { path: 'a.b', op: 'not_exists' }, true],
  [{ a: [{ b: 1 }] }, { path: 'a.0.b', op: 'exists' }, false],
  [{ a: [1] }, { path: 'a.length', op: 'exists' }, false],
  [{ a: 'text' }, { path: 'a.length', op: 'exists' }, false],
  [{}, { path: 'constructor.name', op: 'exists' }, false],
  [{}, { path: '__proto__', op: 'exists' }, false],
];

test('each operator by example', async (t) => {
  for (const [given, condition, expected] of CASES) {
    const said = `${JSON.stringify(given)} ${JSON.stringify(condition)}`;
    t.is(meetsAll([condition], given), expected, said);
    const [answer] = await askDatabase([condition], [given]);
    if (answer !== null) t.is(answer, expected, said);
  }
});

test('PostgreSQL decides nothing about upper and lower case beyond ASCII', async (t) => {
  const contains = (value: string): Predicate => ({ path: 'a', op: 'contains', value });
  t.deepEqual(await askDatabase([contains('ärzte')], [{ a: 'ÄRZTEHAUS' }, { a: 'abc' }]), [null, false]);
  t.deepEqual(await askDatabase([contains('B')], [{ a: 'abc' }, { a: 'äbc' }]), [true, null]);
});

test('properties are own properties of objects', (t) => {
  t.is(propertyAt({ a: { b: { c: 1 } } }, 'a.b.c'), 1);
  t.is(propertyAt({}, 'toString'), undefined);
  t.is(propertyAt(JSON.parse('{"__proto__":{"x":1}}'), '__proto__.x'), 1);
  t.is(propertyAt(null, 'a'), undefined);
});

test('what a predicate may look like', (t) => {
  const accepts = (given: unknown) => predicateSchema.safeParse(given).success;
  const eight = 'a.b.c.d.e.f.g.h';
  t.true(accepts({ path: eight, op: 'exists' }));
  for (const bad of [
    { path: `${eight}.i`, op: 'exists' },
    { path: 'a..b', op: 'exists' },
    { path: '', op: 'exists' },
    { path: 'a\u0000', op: 'exists' },
    { path: 'a\ud800', op: 'exists' },
    { path: 'a', op: 'exists', value: 1 },
    { path: 'a', op: 'eq' },
    { path: 'a', op: 'eq', value: null },
    { path: 'a', op: 'eq', value: [1] },
    { path: 'a', op: 'gt', value: '1' },
    { path: 'a', op: 'gt', value: Infinity },
    { path: 'a', op: 'contains', value: '' },
    { path: 'a', op: 'in', value: [] },
    { path: 'a', op: 'in', value: Array.from({ length: 51 }, (_, n) => n) },
    { path: 'a', op: 'matches', value: 'x' },
  ])
    t.false(accepts(bad), JSON.stringify(bad));
  t.true(accepts({ path: 'a', op: 'not_in', value: Array.from({ length: 50 }, (_, n) => n) }));
  const twenty = Array.from({ length: 20 }, () => ({ path: 'a', op: 'exists' }));
  t.true(predicatesSchema.safeParse(twenty).success);
  t.false(predicatesSchema.safeParse([...twenty, twenty[0]]).success);
});
