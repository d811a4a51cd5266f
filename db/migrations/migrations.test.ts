import test, { type ExecutionContext } from 'ava';
import { createEmptyDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { fillSchema } from '../../test/harness/filled-schema.ts';
import { measureMigration } from '../../test/harness/migration.ts';
import { migrate, MIGRATIONS } from './index.ts';

/** The last migration of the release before this one. */
const RELEASED = '0008_inbox';
const ROWS = 60;
const later = MIGRATIONS.slice(MIGRATIONS.findIndex(({ name }) => name === RELEASED) + 1);

test('the migrations since the last release run on its filled schema, keep every row and take the locks they state', async (t) => {
  const { db } = await emptyDatabase(t);
  await migrate(db, RELEASED);
  const tables = await fillSchema(db, ROWS);
  t.true(tables.length > 50, 'the schema is filled');
  const before = await counts(db, tables);
  t.true(
    Object.entries(before).every(
      ([table, count]) => count === (table === 'organizations' || table === 'outreach_settings' ? 10 : ROWS),
    ),
    JSON.stringify(before),
  );
  await assertReferences(t, db, tables);
  for (const migration of later) {
    const { locks } = await measureMigration(db, migration);
    t.truthy(migration.impact, `${migration.name} exports its impact`);
    t.deepEqual(locks, migration.impact?.locks, `${migration.name}: the locks it takes are those it states`);
  }
  t.deepEqual(await counts(db, tables), before);
  await assertReferences(t, db, tables);
});

test('the newest schema can be filled as well: the next release’s migrations will run on it', async (t) => {
  const { db } = await emptyDatabase(t);
  await migrate(db);
  const tables = await fillSchema(db, ROWS);
  await assertReferences(t, db, tables);
});

async function emptyDatabase(t: ExecutionContext): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  t.teardown(() => database.drop());
  return database;
}

async function counts(db: TestDatabase['db'], tables: readonly string[]): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of tables) found[table] = Number((await db(table).count({ n: '*' }).first())!.n);
  return found;
}

/** Has PostgreSQL check every reference once more, as it would have on the way in. */
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
