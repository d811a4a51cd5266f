import test from 'ava';
import { inTransaction } from '../../../db/transaction.ts';
import { createTestDatabase, type RawDb, type TestDatabase } from '../../../test/harness/database.ts';
import { fillSchema } from '../../../test/harness/filled-schema.ts';
import { eraseOrganizationRow, erasePages } from './erase-organization.ts';

const ROWS = 40;
/** Tables whose rows belong to a person and contain only the id of the selected workspace. */
const SELECTED = ['sessions'];

let database: TestDatabase;
let db: RawDb;
test.before(async () => {
  database = await createTestDatabase();
  ({ db } = database);
  await fillSchema(db, ROWS);
  // Sets a store outside PostgreSQL for all files, because the generated rows have keys and only such files may have
  // one.
  await db('blobs').update({ store: 'disk', moving_to: null, moving_key: null });
  await db('blob_removals').delete();
});
test.after.always(() => database?.drop());

/** Lists every table with a column for the organization's id, including the table of organizations. */
async function tablesOf(): Promise<{ table: string; column: string }[]> {
  const { rows } = (await db.raw(
    `select c.relname as table, a.attname as column from pg_class c
     join pg_attribute a on a.attrelid = c.oid and not a.attisdropped and a.attname = case c.relname when 'organizations' then 'id' else 'organization_id' end
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  )) as { rows: { table: string; column: string }[] };
  return rows;
}

/** Returns for each table the number of the organization's rows, and a digest of all other rows. */
async function rowsOf(organizationId: string): Promise<Map<string, { own: number; others: string }>> {
  const found = new Map<string, { own: number; others: string }>();
  for (const { table, column } of await tablesOf()) {
    const { rows } = (await db.raw(
      `select count(*) filter (where ${column} = :id)::int as own,
         md5(string_agg(t::text, ',' order by t::text) filter (where ${column} is distinct from :id)) as others from ${table} t`,
      { id: organizationId },
    )) as { rows: { own: number; others: string }[] };
    found.set(table, rows[0]!);
  }
  return found;
}

/** Lists the columns of all tables that contain an id in any row. */
async function placesOf(id: string): Promise<string[]> {
  const tables: string[] = await db('pg_class')
    .whereRaw(`relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    .pluck('relname');
  const places: string[] = [];
  for (const table of tables)
    for (const row of (
      await db.raw(`select to_jsonb(t) as row from ${table} t where to_jsonb(t)::text like ?`, [`%${id}%`])
    ).rows)
      for (const [column, value] of Object.entries(row.row))
        if (JSON.stringify(value).includes(id)) places.push(`${table}.${column}`);
  return [...new Set(places)].sort();
}

/**
 * Corrects tables in which the organization's id is not a foreign key, and which were filled with ids that do not
 * exist. Each row gets the organization of a row to which it refers. In tables without such a reference, some rows get
 * the given organization.
 */
async function fillLooseTables(mine: string): Promise<void> {
  const { rows } = (await db.raw(
    `select c.relname as table, (
       select jsonb_build_object('column', f.attname, 'parent', k.confrelid::regclass::text)
       from pg_constraint k join pg_attribute f on f.attrelid = c.oid and f.attnum = k.conkey[1]
       where k.conrelid = c.oid and k.contype = 'f' and cardinality(k.conkey) = 1
         and exists (select from pg_attribute p where p.attrelid = k.confrelid and p.attname = 'organization_id') limit 1) as reference
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and not exists (
       select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and a.attnum = any(k.conkey))`,
  )) as { rows: { table: string; reference: { column: string; parent: string } | null }[] };
  // Runs twice, because a referenced table may be one of these tables.
  for (const { table, reference } of [...rows, ...rows])
    if (reference)
      await db.raw(
        `update ${table} t set organization_id = p.organization_id from ${reference.parent} p where p.id = t.${reference.column}`,
      );
    else
      await db(table)
        .whereIn('ctid', db(table).select('ctid').orderBy('ctid').limit(5))
        .update({ organization_id: mine });
}

test.serial(
  'nothing of an erased organization is left in any table, and other organizations keep every row',
  async (t) => {
    const [mine] = (await db('organizations').orderBy('id').pluck('id')) as [string];
    await fillLooseTables(mine);
    await db('outbox').insert({ kind: 'cancel', workflow_id: 'x', tenant: mine, payload: '{}' });
    const { store_key: ownFile } = await db('blobs').where({ organization_id: mine }).whereNotNull('store_key').first();
    const before = await rowsOf(mine);
    for (const [table, { own }] of before) t.true(own > 0, `${table} has rows of the organization`);

    const aborted = new AbortController();
    aborted.abort();
    const began = await erasePages(db, mine, null, aborted.signal);
    t.is(began?.block, 0, 'a worker that stops erases nothing');
    t.deepEqual(await rowsOf(mine), before);

    // Runs two passes. While the first one erases rows, triggers write counts, which the second one erases.
    for (const from of [began, null]) t.is(await erasePages(db, mine, from, new AbortController().signal), null);
    const left = await rowsOf(mine);
    t.deepEqual(
      [...left].filter(([, { own }]) => own > 0).map(([table]) => table),
      ['organizations', ...SELECTED],
      'pages erase everything but the row of the organization',
    );
    await inTransaction(db, (trx) => eraseOrganizationRow(trx, mine));

    const after = await rowsOf(mine);
    for (const [table, { own, others }] of after) {
      t.is(own, 0, `${table}: nothing of the organization`);
      if (!SELECTED.includes(table)) t.is(others, before.get(table)!.others, `${table}: others keep their rows`);
    }
    t.deepEqual(await placesOf(mine), []);
    t.is((await db('blob_removals').where({ store_key: ownFile })).length, 1, 'its files leave their store');
  },
);
