/**
 * Records the database of this build with open runs, as a backup in test/upgrade/<last migration>: `node bundle/run.mjs test/upgrade/record.ts` with HERON_TEST_PG
 * and HERON_TEST_TEMPORAL set. Once for each release, by its build; later builds must take it over (upgrade.test.ts).
 */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { makeBackup } from '../../domain/operations/system/backup.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { startMailWorld } from '../harness/mail.ts';
import { createWorld } from '../harness/world.ts';
import { prepareNamespace } from '../../temporal/prepare.ts';
import { EVENT, KEY, PEOPLE, TIMEOUT_MINUTES } from './scene.ts';

const temporal = await startOwnTemporal({ bare: true });
const mail = await startMailWorld();
const world = await createWorld({
  env: {
    TEMPORAL_ADDRESS: temporal.address,
    WORKER_ROLES: 'temporal,relay,fanout,reactions',
    CREDENTIALS_ENCRYPTION_KEY: KEY,
  },
});
const { db, clock, config, log, keyring } = world.deps;
const engine = await startEngine(world);
await prepareNamespace(
  engine.temporal,
  { namespace: config.TEMPORAL_NAMESPACE, taskQueue: config.TEMPORAL_TASK_QUEUE },
  log,
);
const { organizationId } = await world.tenant();
const box = await mail.addMailbox({ email: 'ann@sender.example.com', password: 'secret' });
await createMailbox(world.deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap });
const { campaignId } = await createCampaign(world.deps, organizationId, [
  { name: 'Opening', subject: 'Hello', body_plain: 'Hi' },
  {
    name: 'Paid?',
    kind: 'action',
    action: {
      type: 'wait_for_event',
      wait_event_name: EVENT,
      timeout_minutes: TIMEOUT_MINUTES,
      on_timeout: 'continue',
    },
  },
  { name: 'Follow-up', body_plain: 'Still there?' },
]);
const contacts = await Promise.all(
  Array.from({ length: PEOPLE }, (_, n) =>
    createContact(db, clock.now(), organizationId, { email: `person${n}@lead.example.org` }),
  ),
);
await enroll(world.deps, organizationId, campaignId, contacts);
await engine.launch(organizationId, campaignId);
await eventually(async () => (await db('waits').where({ campaign_id: campaignId, state: 'open' })).length === PEOPLE);
await eventually(async () => !(await db('outbox').first()));
await engine.stop();
// A lead that no launcher has seen.
const late = await createContact(db, clock.now(), organizationId, { email: 'late@lead.example.org' });
await enroll(world.deps, organizationId, campaignId, [late]);

const folder = fileURLToPath(new URL(MIGRATIONS.at(-1)!.name, import.meta.url));
await rm(folder, { recursive: true, force: true });
const { tables } = await makeBackup(
  { config: { ...config, PRIMARY_DB: world.databaseUrl }, keyring, blobs: world.deps.blobs },
  folder,
);
console.log(`${folder}: ${tables.filter(({ rows }) => rows > 0).length} tables`);
await world.close();
await mail.stop();
await temporal.stop();
process.exit(0);
