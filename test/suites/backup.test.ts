import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { migrate, MIGRATIONS, type Migration } from '../../db/migrations/index.ts';
import { backup, restore, type RestoreReport } from '../../deploy/backup-command.ts';
import { makeBackup, type Manifest } from '../../domain/operations/system/backup.ts';
import { openBlobStores } from '../../lib/blobs/index.ts';
import { loadConfig, type Config } from '../../lib/config/index.ts';
import { newId } from '../../lib/ids.ts';
import { createKeyring } from '../../lib/keyring.ts';
import { createEmptyDatabase, type RawDb } from '../harness/database.ts';
import { createMailbox } from '../harness/factories.ts';
import { fillSchema } from '../harness/filled-schema.ts';
import { heron } from '../harness/heron.ts';
import { createWorld } from '../harness/world.ts';
import { render } from '../../messages/render.ts';

const KEY = '3c'.repeat(32);
const OTHER_KEY = '9d'.repeat(32);
const ROWS = 25;
/** Migration of a later release than the one that made the backup. */
const LATER: Migration = {
  name: '9999_later',
  up: async (knex) => {
    await knex.raw(`
      alter table contacts add column nickname text not null default 'none';
      create index contacts_nickname on contacts (organization_id, nickname);
    `);
  },
};
/** Tables that backups omit: see db/backup/tables.ts. */
const NOT_KEPT = new Set(['rate_limit_counts', 'workers', 'heron_migrations', 'heron_migrations_lock']);

test('every row of every table comes back, that of an earlier release is migrated as well, with sequences, keys and triggers; what does not fit is refused before anything is written', async (t) => {
  t.timeout(120_000);
  const folder = await temporaryFolder(t);
  const from = await createEmptyDatabase();
  t.teardown(() => from.drop());
  await migrate(from.db);
  await fillSchema(from.db, ROWS);
  // Marks all files as stored in PostgreSQL, because no external store contains their bytes.
  await from.db('blobs').update({ store: 'postgres', store_key: null, moving_to: null, moving_key: null });
  await from.db.raw(`select setval('outbox_id_seq', 4711)`);
  const of = loadConfig(settings(from.url));
  const manifest = await makeBackup({ config: of, keyring: createKeyring(KEY), blobs: openBlobStores(of) }, folder);
  t.is(manifest.keys.current.length, 8);
  t.false((await readFile(join(folder, 'manifest.json'), 'utf8')).includes(KEY));

  const into = await createEmptyDatabase();
  t.teardown(() => into.drop());
  const refused = async (config: Config, folderOf: string, reason: RegExp) => {
    const error = await t.throwsAsync(restore(config, folderOf, undefined, () => {}));
    t.regex(error.message, reason);
    t.deepEqual(
      (await into.db.raw(`select relname from pg_class where relnamespace = 'public'::regnamespace`)).rows,
      [],
    );
  };
  const config = loadConfig(settings(into.url));
  await refused(
    loadConfig({ ...settings(into.url), CREDENTIALS_ENCRYPTION_KEY: OTHER_KEY }),
    folder,
    /needs a key that/,
  );
  const changed = async (change: (found: Manifest) => void): Promise<string> => {
    const copy = join(await temporaryFolder(t), 'copy');
    await cp(folder, copy, { recursive: true });
    const found = JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8')) as Manifest;
    change(found);
    await writeFile(join(copy, 'manifest.json'), JSON.stringify(found));
    return copy;
  };
  await refused(
    config,
    await changed((found) => found.migrations.push('9998_unknown')),
    /a later release .*9998_unknown/,
  );
  await refused(config, await changed((found) => Object.assign(found, { format: 2 })), /form that this release/);
  await refused(config, await changed((found) => (found.tables[3]!.sha256 = '00')), /is damaged: tables\//);
  const lacking = await changed(() => {});
  await rm(join(lacking, manifest.tables[3]!.file));
  await refused(config, lacking, new RegExp(`is damaged: ${manifest.tables[3]!.file} missing`));
  await refused(config, join(folder, 'tables'), /has no manifest.json: it is no backup/);
  await refused(config, await changed((found) => Object.assign(found, { tables: 1 })), /is damaged: tables/);

  const restored = await heron(['restore', folder, '--nothing-since', '--json'], settings(into.url));
  t.is(restored.code, 0, restored.stderr);
  const report = JSON.parse(restored.stdout) as RestoreReport;
  t.like(report, { campaignsPaused: 0, emailsInDoubt: 0, warmupInDoubt: 0 });
  t.deepEqual(report.migrated, []);
  t.deepEqual(await contents(into.db), await contents(from.db));
  t.deepEqual(await guards(into.db), await guards(from.db));
  const twice = await heron(['restore', folder], settings(into.url));
  t.is(twice.code, 1);
  t.regex(twice.stderr, /the database is not empty/);

  MIGRATIONS.push(LATER);
  t.teardown(() => MIGRATIONS.pop());
  const later = await createEmptyDatabase();
  t.teardown(() => later.drop());
  t.like(await restore(loadConfig(settings(later.url)), folder, undefined, () => {}), { migrated: [LATER.name] });
  await migrate(from.db);
  t.deepEqual(await contents(later.db), await contents(from.db));
  t.deepEqual(await guards(later.db), await guards(from.db));
});

test('what runs on after a backup is held: campaigns stand, emails and warmup that may have left are not sent again', async (t) => {
  const folder = await temporaryFolder(t);
  const world = await createWorld({ env: { CREDENTIALS_ENCRYPTION_KEY: KEY } });
  t.teardown(() => world.close());
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const mailboxId = await createMailbox(world.deps, organizationId, 'ann@ours.test');
  const campaignId = newId();
  const now = new Date();
  const row = { organization_id: organizationId, created_at: now, updated_at: now };
  await db('campaigns').insert({ ...row, id: campaignId, name: 'Spring', status: 'active' });
  const send = (state: string, slotInMs: number) => ({
    ...row,
    id: newId(),
    campaign_id: campaignId,
    mailbox_id: mailboxId,
    state,
    recipient: 'bob@theirs.test',
    slot_at: new Date(now.getTime() + slotInMs),
    slot_day: now.toISOString().slice(0, 10),
    ...(state === 'sending' ? { claim_token: newId(), claimed_at: now, handover: 'pending' } : {}),
  });
  const [due, far, held] = [send('reserved', 2_000), send('reserved', 86_400_000), send('sending', -1_000)];
  await db('sends').insert([due, far, held]);
  const partnerId = await createMailbox(world.deps, organizationId, 'cat@ours.test');
  const warmup = [send('reserved', 2_000), send('reserved', 86_400_000), send('sending', -1_000)].map(
    ({ campaign_id: _campaign, recipient: _recipient, updated_at: _updated, ...mail }) => ({
      ...mail,
      partner_id: partnerId,
    }),
  );
  for (const mail of warmup) await db('warmup_mails').insert(mail);

  const taken = await heron(['backup', folder, '--json'], settings(world.databaseUrl));
  t.is(taken.code, 0, taken.stderr);
  const manifest = JSON.parse(taken.stdout) as Manifest;
  t.deepEqual(manifest.keys.sealed, [manifest.keys.current], 'the mailbox is sealed under the key');
  await t.throwsAsync(
    backup(loadConfig(settings(world.databaseUrl)), folder, () => {}),
    {
      message: /is not empty: name a new folder/,
    },
  );
  const into = await createEmptyDatabase();
  t.teardown(() => into.drop());
  const report = await restore(loadConfig(settings(into.url)), folder, new Date(), () => {});
  t.like(report, { emailsInDoubt: 2, warmupInDoubt: 2, campaignsPaused: 1 });
  t.deepEqual(
    await into.db('warmup_mails').orderBy('slot_at').pluck('state'),
    ['uncertain', 'uncertain', 'reserved'],
    'what was due or in the hands of a worker is not sent again',
  );
  const rows = await into.db('sends').orderBy('slot_at');
  t.deepEqual(
    rows.map(({ id, state, handover, message_id }) => ({ id, state, handover, message_id })),
    [held, due].map(({ id }) => ({ id, state: 'sending', handover: 'begun', message_id: `<${id}@ours.test>` })),
    'those that may have left are claimed by no worker; the one that was far off went with the pause',
  );
  const campaign = await into.db('campaigns').where({ id: campaignId }).first();
  t.is(campaign.status, 'paused');
  const [line] = await into.db('campaign_logs').where({ campaign_id: campaignId, event_type: 'campaign_paused' });
  t.regex(render(line.message), /Restored from a backup of .* compare with the Sent folders/);

  // Runs the check for a database that another program restored; here it is the backed-up database itself.
  const asOf = new Date(manifest.takenAt).toISOString();
  const elsewhere = await heron(['restored', '--as-of', asOf, '--json'], settings(world.databaseUrl));
  t.is(elsewhere.code, 0, elsewhere.stderr);
  t.deepEqual(JSON.parse(elsewhere.stdout), { emailsInDoubt: 2, warmupInDoubt: 2, campaignsPaused: 1 });
});

function settings(url: string): Record<string, string> {
  return { PRIMARY_DB: url, CREDENTIALS_ENCRYPTION_KEY: KEY };
}

async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-backup-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns row count and hash of every table, and the values of the sequences. */
async function contents(db: RawDb): Promise<Record<string, string>> {
  const { rows: tables } = (await db.raw(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )) as { rows: { name: string }[] };
  const found: Record<string, string> = {};
  for (const { name } of tables.filter((table) => !NOT_KEPT.has(table.name))) {
    const { rows } = await db.raw(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, chr(10) order by t::text)), '') as seen from ${name} t`,
    );
    found[name] = rows[0].seen;
  }
  const { rows } = await db.raw(
    `select sequencename as name, last_value::text as last from pg_sequences where sequencename not like 'heron_migrations%'`,
  );
  for (const { name, last } of rows) found[name] = last;
  return found;
}

/** Returns constraints, indexes and triggers, each with its state. */
async function guards(db: RawDb): Promise<unknown[]> {
  const { rows } = await db.raw(
    `select conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) || convalidated::text as guard from pg_constraint
       where connamespace = 'public'::regnamespace and contype <> 'n'
     union all select indexdef from pg_indexes where schemaname = 'public'
     union all select tgrelid::regclass::text || ' ' || tgname || ' ' || tgenabled::text from pg_trigger where not tgisinternal
     order by 1`,
  );
  return rows;
}
