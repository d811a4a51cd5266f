import test, { type ExecutionContext } from 'ava';
import { createEmptyDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { fillSchema } from '../../test/harness/filled-schema.ts';
import { measureMigration } from '../../test/harness/migration.ts';
import { migrateTo, MIGRATIONS, type Migration } from './index.ts';

/** Name of the last migration of the last release. Before the first release, it is the baseline. */
const RELEASED = '0001_baseline';
const ROWS = 60;
const released = MIGRATIONS.findIndex(({ name }) => name === RELEASED) + 1;

/** An example of a migration in the next release. */
const PLANTED: Migration = {
  name: '9999_planted',
  up: async (knex) => {
    await knex.raw(`
      alter table contacts add column nickname text;
      create index sends_planted on sends (sent_at);
      create table planted_notes (id uuid primary key, contact_id uuid not null references contacts on delete cascade);
    `);
  },
  impact: { locks: { contacts: 'AccessExclusiveLock', sends: 'ShareLock' }, secondsAtMillionRows: 1 },
};

test('the migrations since the last release run on its filled schema, keep every row and take the locks they state', async (t) => {
  const { db, tables } = await releasedSchema(t);
  const before = await counts(db, tables);
  t.deepEqual(
    tables.filter((table) => before[table]! < 10),
    [],
    'every table has rows',
  );
  await assertReferences(t, db, tables);
  for (const migration of [...MIGRATIONS.slice(released), PLANTED])
    t.deepEqual(await faultsOf(db, migration, tables), [], migration.name);
  await assertReferences(t, db, tables);
});

test('a migration that states no impact, states another lock than it takes, or loses rows is refused', async (t) => {
  const { db, tables } = await releasedSchema(t);
  const up: Migration['up'] = async (knex) => {
    await knex.raw('create index sends_late on sends (sent_at); delete from waits');
  };
  t.deepEqual(await faultsOf(db, { name: '9998_silent', up: async () => {} }, tables), ['states no impact']);
  t.deepEqual(
    await faultsOf(
      db,
      { name: '9999_wrong', up, impact: { locks: { contacts: 'ShareLock' }, secondsAtMillionRows: 0 } },
      tables,
    ),
    ['locks {"sends":"ShareLock"}, and states {"contacts":"ShareLock"}', `waits has 0 rows, and had ${ROWS}`],
  );
});

/** Returns a filled database with the last release's schema, and the names of its tables. */
async function releasedSchema(t: ExecutionContext): Promise<{ db: TestDatabase['db']; tables: string[] }> {
  const database = await createEmptyDatabase();
  t.teardown(() => database.drop());
  await migrateTo(
    database.db,
    MIGRATIONS.slice(0, released).map(({ name }) => name),
  );
  const tables = await fillSchema(database.db, ROWS);
  t.true(tables.length > 50, 'the schema is filled');
  return { db: database.db, tables };
}

/** Runs a migration on a filled schema, and returns the differences from its stated impact and from the rules. */
async function faultsOf(db: TestDatabase['db'], migration: Migration, tables: readonly string[]): Promise<string[]> {
  const before = await counts(db, tables);
  const { locks } = await measureMigration(db, migration);
  if (!migration.impact) return ['states no impact'];
  const [taken, stated] = [locks, migration.impact.locks].map((of) => JSON.stringify(of, Object.keys(of).toSorted()));
  const after = await counts(db, tables);
  return [
    ...(taken === stated ? [] : [`locks ${taken}, and states ${stated}`]),
    ...tables
      .filter((table) => after[table] !== before[table])
      .map((table) => `${table} has ${after[table]} rows, and had ${before[table]}`),
  ];
}

async function counts(db: TestDatabase['db'], tables: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of tables) found[table] = Number((await db(table).count({ n: '*' }).first())!.n);
  return found;
}

/** Makes PostgreSQL check every foreign key again for all rows. */
async function assertReferences(t: ExecutionContext, db: TestDatabase['db'], tables: readonly string[]): Promise<void> {
  const { rows } = (await db.raw(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`,
  )) as { rows: { table: string; name: string; definition: string }[] };
  t.true(rows.length > 50);
  for (const { table, name, definition } of rows.filter((row) => tables.includes(row.table))) {
    await t.notThrowsAsync(async () => {
      await db.raw(`alter table ${table} add constraint checked_again ${definition}`);
      await db.raw(`alter table ${table} drop constraint checked_again`);
    }, `${table}.${name}`);
  }
}
