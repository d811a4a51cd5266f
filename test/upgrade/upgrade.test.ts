import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { json } from '../../db/connection.ts';
import { MIGRATIONS, pendingMigrations, type Migration } from '../../db/migrations/index.ts';
import { restore } from '../../deploy/backup-command.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { loadConfig } from '../../lib/config/index.ts';
import { prepareNamespace } from '../../temporal/prepare.ts';
import { createEmptyDatabase } from '../harness/database.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld } from '../harness/mail.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { createWorld } from '../harness/world.ts';
import { KEY, PEOPLE, recordScene, TIMEOUT_MINUTES } from './scene.ts';

/** Migration that the next release may contain. */
const PLANTED: Migration = {
  name: '9999_planted',
  up: async (knex) => {
    await knex.raw(`alter table enrollments add column planted text not null default 'taken over'`);
  },
};

/** Databases of released builds, with contacts in the middle of a campaign (record.ts). */
const RELEASED = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({
    name: `of the release with ${name}`,
    folderOf: async () => fileURLToPath(new URL(name, import.meta.url)),
  }));

/** Database that this build records, to test a later build with it. */
const OWN = {
  name: 'of this build',
  folderOf: async (t: ExecutionContext) => {
    const folder = await mkdtemp(join(tmpdir(), 'heron-upgrade-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    await recordScene(folder);
    return folder;
  },
};

for (const { name, folderOf } of [...RELEASED, OWN])
  test(`the database ${name} is migrated by a later one, and its runs go to their end: nobody gets an email again`, async (t) => {
    t.timeout(120_000);
    const folder = await folderOf(t);
    MIGRATIONS.push(PLANTED);
    t.teardown(() => MIGRATIONS.pop());
    const database = await createEmptyDatabase();
    t.teardown(() => database.drop());
    const settings = { PRIMARY_DB: database.url, CREDENTIALS_ENCRYPTION_KEY: KEY };
    const { migrated } = await restore(loadConfig(settings), folder, undefined, () => {});
    t.is(migrated.at(-1), PLANTED.name);
    t.deepEqual(await pendingMigrations(database.db), []);
    t.deepEqual(await database.db('enrollments').distinct('planted').pluck('planted'), ['taken over']);

    const [temporal, mail] = await Promise.all([startOwnTemporal({ bare: true }), startMailWorld()]);
    const box = await mail.addMailbox({ email: 'ann@sender.example.com', password: 'secret' });
    const world = await createWorld({
      env: {
        TEMPORAL_ADDRESS: temporal.address,
        WORKER_ROLES: 'temporal,relay,fanout,reactions',
        CREDENTIALS_ENCRYPTION_KEY: KEY,
      },
    });
    // Replaces the world's own database by the recorded one, on which all work happens.
    const own = world.deps.db;
    world.deps.db = database.db;
    world.deps.config.PRIMARY_DB = database.url;
    const { db, config, log } = world.deps;
    const server = (port: number) => json({ host: '127.0.0.1', port, username: box.email, security: 'none' });
    await db('mailboxes').update({ smtp: server(box.smtp.port), imap: server(box.imap.port) });
    const engine = await startEngine(world);
    t.teardown(async () => {
      await engine.stop();
      world.deps.db = own;
      await world.close();
      await Promise.all([mail.stop(), temporal.stop()]);
    });
    await prepareNamespace(
      engine.temporal,
      { namespace: config.TEMPORAL_NAMESPACE, taskQueue: config.TEMPORAL_TASK_QUEUE },
      log,
    );

    const found = await reconcile(world.deps);
    const missing = Object.fromEntries(found.map(({ family, missing: count }) => [family, count]));
    t.like(missing, { campaign: 1, enrollment: PEOPLE });
    const deadline = () => new Date(Date.now() + 500);
    await eventually(
      async () => {
        await db('waits')
          .where({ state: 'open' })
          .where('deadline', '>', new Date(Date.now() + 10_000))
          .update({ deadline: deadline(), opened_at: new Date(Date.now() - TIMEOUT_MINUTES * 60_000) });
        for (const { campaign_id: campaignId, contact_id: contactId } of await db('enrollments').where({
          state: 'active',
        }))
          await engine.temporal.workflow
            .getHandle(`enrollment/${campaignId}/${contactId}`)
            .signal('control', { cause: 'campaign', epoch: null })
            .catch(() => {});
        return Boolean(await db('campaigns').where({ status: 'completed' }).first());
      },
      90_000,
      500,
    );
    const received = mail.messages.flatMap(({ envelope }) => envelope.to).sort();
    t.deepEqual(
      received,
      [
        'late@lead.example.org',
        'late@lead.example.org',
        ...Array.from({ length: PEOPLE }, (_, n) => `person${n}@lead.example.org`),
      ].sort(),
      'those who had the first email get the second, the one who was not launched both',
    );
    t.deepEqual(await db('step_runs').where({ state: 'blocked' }), []);
  });
