import test from 'ava';
import { createTestDatabase, type RawDb, type TestDatabase } from '../test/harness/database.ts';
import { ZERO_UUID } from '../lib/ids.ts';
import { connectRaw } from './connection.ts';
import { runStatement, type Bindings } from './statement.ts';
import { OrgScope } from './tenancy.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database?.drop());

const ask = async (db: RawDb, text: string, bindings: Bindings): Promise<unknown> => {
  const { rows } = await runStatement<{ answer: unknown }>(db, text, bindings);
  return rows[0]?.answer;
};

for (const [name, text, bindings, answer] of [
  ['a binding beside a cast', `select :day::date::text as answer`, { day: '2026-03-01' }, '2026-03-01'],
  ['the same twice', `select :a::int + :b::int * :a::int as answer`, { a: 2, b: 3 }, 8],
  ['a list', `select cardinality(:list::text[]) as answer`, { list: ['a', 'b'] }, 2],
  ['nothing', `select :value::text is null as answer`, { value: null }, true],
  ['a colon that is no binding', `select '09:30' || :end::text as answer`, { end: '17:00' }, '09:3017:00'],
  ['one that is not used', `select :a::text as answer`, { a: 'x', b: 'y' }, 'x'],
  ['a column', `select n as answer from (values (7)) v(n) order by :column:`, { column: 'n' }, 7],
] as [string, string, Bindings, unknown][]) {
  test(`bindings: ${name}, at every run`, async (t) => {
    for (let run = 0; run < 8; run += 1) t.deepEqual(await ask(database.db, text, bindings), answer);
  });
}

test('bindings: a part of a query, and plain values under the same text', async (t) => {
  const text = `select :value::text as answer`;
  t.is(await ask(database.db, text, { value: 'plain' }), 'plain');
  t.is(await ask(database.db, text, { value: database.db.raw(`'raw'`) }), 'raw');
  t.is(await ask(database.db, text, { value: 'plain' }), 'plain');
});

test('a binding that is missing is an error, and one with the name of a cast is taken where it is given', async (t) => {
  await t.throwsAsync(ask(database.db, `select :a::text || :missing as answer`, { a: 'x' }), {
    message: /syntax error/,
  });
  t.is(await ask(database.db, `select :a || ' :word' as answer`, { a: 'x' }), 'x :word');
});

test('statements of a transaction run in the order of the calls, and none after its end', async (t) => {
  let late: RawDb | undefined;
  await database.db.transaction(async (trx) => {
    await trx.raw('create temporary table seen (place int) on commit drop');
    const places = Array.from({ length: 30 }, (_, place) => place);
    await Promise.all(
      places.map((place) =>
        place % 3 === 0
          ? trx.raw('insert into seen values (?)', [place]).then(() => undefined)
          : runStatement(trx, 'insert into seen values (:place)', { place }),
      ),
    );
    const { rows } = await runStatement<{ place: number }>(trx, 'select place from seen order by ctid', {});
    t.deepEqual(
      rows.map(({ place }) => place),
      places,
    );
    late = trx;
  });
  await t.throwsAsync(ask(late!, 'select 1 as answer', {}), { message: /already complete/ });
  t.is(await ask(database.db, 'select 1 as answer', {}), 1, 'the connection is back in the pool');
});

test('an error names neither the values nor a second statement', async (t) => {
  const error = await t.throwsAsync(ask(database.db, `select :secret::int as answer`, { secret: 'hunter2' }));
  t.false(error.message.includes('select'));
});

test('a frequent statement is prepared, but for a scope that keeps no plans', async (t) => {
  const db = connectRaw({ url: database.url, max: 1, prepared: true });
  t.teardown(() => db.destroy());
  const scope = new OrgScope(db, ZERO_UUID);
  for (let run = 0; run < 8; run += 1) {
    await scope.sql('select :org::uuid as kept');
    await scope.withoutKeptPlans().sql('select :org::uuid as planned_anew');
  }
  const { rows } = await db.raw(`select count(*) filter (where statement like '% as kept')::int as kept,
    count(*) filter (where statement like '% as planned_anew')::int as anew from pg_prepared_statements`);
  t.deepEqual(rows, [{ kept: 1, anew: 0 }]);
});
