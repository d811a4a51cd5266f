import { randomBytes } from 'node:crypto';
import test from 'ava';
import { newId } from '../lib/ids.ts';
import { createTestDatabase, rawDb, testPostgresUrl, type RawDb, type TestDatabase } from '../test/harness/database.ts';
import { fillSchema } from '../test/harness/filled-schema.ts';
import { across } from './across.ts';
import { connectRaw } from './connection.ts';
import { migrate } from './migrations/index.ts';
import { Labels } from './models/label.ts';
import { prepareTenantRole, requireRowSecurity } from './row-security.ts';
import { OrgScope } from './tenancy.ts';
import { inTransaction } from './transaction.ts';

/** Tables that belong to the installation or to a person. Every other table has a policy. */
const UNOWNED = [
  'auth_challenges',
  'auth_throttles',
  'blob_removals',
  'deletion_mails',
  'deletions',
  'free_mail_domains',
  'installation',
  'outbox',
  'rate_limit_counts',
  'reaction_subscribers',
  'reconciliations',
  'setup_links',
  'sync_workers',
  'webhook_batches',
  'workers',
];
const ROWS = 40;

let database: TestDatabase;
let db: RawDb;
let mine: string;
let theirs: string;
test.before(async () => {
  database = await createTestDatabase();
  await database.db.destroy();
  db = connectRaw({ url: database.url, max: 4, prepared: true, rowSecurity: true });
  await fillSchema(db, ROWS);
  // Disables the trigger, because it also refuses changes and would hide the result of the policy.
  await db.raw('alter table run_events disable trigger run_events_append_only');
  [mine, theirs] = (await db('organizations').orderBy('id').limit(2).pluck('id')) as [string, string];
  // In these tables organization_id is not a foreign key, so the test's filler wrote ids of organizations that do not
  // exist.
  for (const table of [
    'api_key_usage_logs',
    'api_key_usage_minutes',
    'webhook_attempts',
    'webhook_deliveries',
    'webhook_payloads',
  ])
    for (const [index, id] of [mine, theirs].entries())
      await db(table)
        .whereIn(
          'ctid',
          db(table)
            .select('ctid')
            .orderBy('ctid')
            .offset(index * 10)
            .limit(10),
        )
        .update({ organization_id: id });
});
test.after.always(async () => {
  await db?.destroy();
  await database?.drop();
});

test('every table is under a policy, but those that belong to no organization', async (t) => {
  const { rows } = (await db.raw(
    `select c.relname as table, c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid) as guarded
     from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname not like 'heron\\_migrations%'
     order by 1`,
  )) as { rows: { table: string; guarded: boolean }[] };
  t.true(rows.length > 60);
  t.deepEqual(
    rows.filter(({ guarded }) => !guarded).map(({ table }) => table),
    UNOWNED,
    'a migration that adds a table calls heron_guard_rows for it',
  );
});

test('a statement without its predicate reads the rows of its organization alone, and of none where none is set', async (t) => {
  const tables = await grantedTables();
  t.true(tables.length > 45);
  for (const table of tables) {
    const { rows } = (await db.raw(`select count(*)::int as n from ??`, [table])) as { rows: { n: number }[] };
    const all = rows[0]!.n;
    const seen = async (organization: string) =>
      (
        await new OrgScope(db, organization).sql<{ n: number }>(
          `select count(*)::int as n, :org as org from ${table}` as never,
        )
      )[0]!.n;
    const [my, their, unowned] = [await seen(mine), await seen(theirs), await seen(newId())];
    t.true(my > 0 && their > 0 && my + their < all, `${table}: ${my} and ${their} of ${all}`);
    t.is(unowned, 0, table);
  }
  const unset = await db.transaction(async (trx) => {
    await trx.raw(`set local role heron_tenant`);
    return trx('contacts').count({ n: '*' }).first();
  });
  t.is(unset!.n, 0);
});

test('a write without its predicate changes no row of another organization, and none can be written for it', async (t) => {
  for (const table of await grantedTables()) {
    const column = table === 'organizations' ? 'id' : table === 'blob_chunks' ? 'blob_id' : 'organization_id';
    const [touched, own] = await rolledBack(async (trx) => {
      const org = new OrgScope(trx, mine);
      const sql = `with changed as (update ${table} set ${column} = ${column} returning 1) select count(*)::int as n, :org as org from changed`;
      const count = `select count(*)::int as n, :org as org from ${table}`;
      const [changed, rows] = await Promise.all([
        org.sql<{ n: number }>(sql as never),
        org.sql<{ n: number }>(count as never),
      ]);
      return [changed[0]!.n, rows[0]!.n];
    });
    t.is(touched, own, table);
    if (column !== 'organization_id') continue;
    const given = `update ${table} set organization_id = '${theirs}' where :org::text is not null`;
    await t.throwsAsync(
      rolledBack((trx) => new OrgScope(trx, mine).sql(given as never)),
      { message: /row-level security/ },
      table,
    );
  }
  const planted = `insert into labels (id, organization_id, registry, title, color, position, created_at, updated_at)
    values ('${newId()}', '${theirs}', 'tag', 'planted', '#000000', 0, now(), now()) returning :org::text`;
  await t.throwsAsync(new OrgScope(db, mine).sql(planted as never), { message: /row-level security/ });
});

test('what an organization has no business with is closed to its statements', async (t) => {
  for (const table of ['sessions', 'oauth_tokens', 'webhook_secrets', 'outbox', 'setup_links', 'auth_challenges'])
    await t.throwsAsync(new OrgScope(db, mine).sql(`select 1 from ${table} where :org::text is not null` as never), {
      message: /permission denied/,
    });
  await t.throwsAsync(new OrgScope(db, mine).sql('select password_hash from users where :org::text is not null'), {
    message: /permission denied/,
  });
});

for (const prepared of [true, false]) {
  test.serial(
    `every way of asking switches, alone, in a transaction and around savepoints (prepared: ${prepared})`,
    async (t) => {
      const pool = connectRaw({ url: database.url, max: 2, prepared, rowSecurity: true });
      t.teardown(() => pool.destroy());
      const who = `select current_user::text as role, current_setting('heron.organization_id', true) as organization`;
      const asTenant = async (org: OrgScope) => {
        const [row] = await org.sql<{ role: string; organization: string }>(`${who} where :org::text is not null`);
        t.deepEqual(row, { role: 'heron_tenant', organization: org.organizationId });
      };
      const asLogin = async (handle: RawDb) => {
        const [row] = await across(handle, 'operator').sql<{ role: string; organization: string | null }>(who);
        t.not(row!.role, 'heron_tenant');
        t.falsy(row!.organization);
      };
      const org = new OrgScope(pool, mine);
      const other = new OrgScope(pool, theirs);
      const label = (await org.table('labels').first())!;
      for (let round = 0; round < 8; round += 1) {
        await Promise.all([asTenant(org), asTenant(other), asLogin(pool), asTenant(org), asLogin(pool)]);
        t.truthy(await org.query(Labels).findById(label.id));
        t.is(await other.query(Labels).whereRaw('false or true').findOne({ id: label.id }), undefined);
        t.is(await org.query(Labels).resultSize(), (await org.table('labels').select('id')).length);
        t.like(await org.query(Labels).patchAndFetchById(label.id, { title: `${round}` }), { title: `${round}` });
      }
      await inTransaction(pool, async (handle) => {
        const trx = rawDb(handle);
        const [inside, beside] = [new OrgScope(trx, mine), new OrgScope(trx, theirs)];
        await Promise.all([
          asLogin(trx),
          asTenant(inside),
          asTenant(inside),
          asTenant(beside),
          asLogin(trx),
          asTenant(inside),
        ]);
        await t.throwsAsync(
          trx.transaction(async (nested) => {
            await asTenant(new OrgScope(nested, theirs));
            throw new Error('undone');
          }),
          { message: 'undone' },
        );
        await asTenant(inside);
        await trx.transaction((nested) => asTenant(new OrgScope(nested, theirs)));
        await Promise.all([asLogin(trx), asTenant(inside)]);
      });
      await t.throwsAsync(
        inTransaction(pool, (trx) => new OrgScope(trx, mine).sql('select 1 / 0 as n where :org::text is not null')),
      );
      await t.throwsAsync(org.sql('select 1 / 0 as n where :org::text is not null'), { message: /division by zero/ });
      await Promise.all([asLogin(pool), asLogin(pool), asTenant(org), asTenant(other)]);
    },
  );
}

test('statements of an organization may read which subscribers take its events', async (t) => {
  const streams = await new OrgScope(db, mine).sql(
    `select r.name from reaction_streams s join reaction_subscribers r on r.name = s.subscriber where s.organization_id = :org`,
  );
  t.true(Array.isArray(streams));
});

test('a login that is no superuser and owns the tables makes the role itself; for one that may not, the refusal says what to do', async (t) => {
  const admin = connectRaw({ url: testPostgresUrl(), max: 1 });
  const name = `heron_owner_${randomBytes(4).toString('hex')}`;
  await admin.raw(`create role ${name} login createrole password 'owner'`);
  await admin.raw(`grant heron_tenant to ${name}`);
  await admin.raw(`create database ${name} owner ${name}`);
  const url = new URL(testPostgresUrl());
  Object.assign(url, { username: name, password: 'owner', pathname: `/${name}` });
  const pool = connectRaw({ url: url.href, max: 2, prepared: true, rowSecurity: true });
  t.teardown(async () => {
    await pool.destroy();
    await admin.raw(`drop database ${name} with (force)`);
    await admin.raw(`drop owned by ${name}; drop role ${name}`);
    await admin.destroy();
  });
  await admin.raw(`revoke heron_tenant from ${name}`);
  await migrate(pool);
  await t.throwsAsync(requireRowSecurity(pool), { message: /cannot switch to the role heron_tenant/ });
  await admin.raw(`grant heron_tenant to ${name}`);
  await t.throwsAsync(requireRowSecurity(pool), { message: /may not use acquisition_facts, .*heron migrate/ });
  await prepareTenantRole(pool);
  await prepareTenantRole(pool);
  await requireRowSecurity(pool);
  await fillSchema(pool, ROWS).catch(() => undefined);
  t.deepEqual(await new OrgScope(pool, newId()).table('contacts').select('id'), []);
});

/** Returns the tables that the tenant role may use, according to the catalogue. */
async function grantedTables(): Promise<string[]> {
  const { rows } = (await db.raw(
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition and relrowsecurity and has_table_privilege('heron_tenant', oid, 'insert') order by 1`,
  )) as { rows: { name: string }[] };
  return rows.map(({ name }) => name);
}

/** Runs work in a transaction that is rolled back. */
async function rolledBack<T>(work: (trx: RawDb) => Promise<T>): Promise<T> {
  const trx = await db.transaction();
  try {
    // Disables triggers, because those of append-only tables would refuse the change before the policy is checked.
    await trx.raw('set local session_replication_role = replica');
    return await work(trx as unknown as RawDb);
  } finally {
    await trx.rollback();
  }
}
