import { makeBackup, type Manifest } from '../../domain/operations/system/backup.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../harness/factories.ts';
import { startMailWorld } from '../harness/mail.ts';
import { createWorld } from '../harness/world.ts';

/** Key that encrypts the recorded databases. */
export const KEY = '4e'.repeat(32);
/**
 * Number of contacts in each recorded database that wait for an event after their first email. One more contact is not
 * launched yet.
 */
export const PEOPLE = 3;
/** Timeout (min) of the contacts' wait for an event. */
export const TIMEOUT_MINUTES = 60;

/**
 * Plays a campaign until its contacts wait for an event. Writes a backup of the database while their workflows are
 * still open.
 */
export async function recordScene(folder: string): Promise<Manifest> {
  const mail = await startMailWorld();
  const world = await createWorld({
    env: { WORKER_ROLES: 'temporal,relay,fanout,reactions', CREDENTIALS_ENCRYPTION_KEY: KEY },
  });
  const { db, clock, config, keyring, blobs } = world.deps;
  const engine = await startEngine(world);
  try {
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
          wait_event_name: 'order.paid',
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
    await eventually(
      async () => (await db('waits').where({ campaign_id: campaignId, state: 'open' })).length === PEOPLE,
    );
    await eventually(async () => !(await db('outbox').first()));
    await engine.stop();
    // Adds a lead that no launcher has read yet.
    const late = await createContact(db, clock.now(), organizationId, { email: 'late@lead.example.org' });
    await enroll(world.deps, organizationId, campaignId, [late]);
    return await makeBackup({ config: { ...config, PRIMARY_DB: world.databaseUrl }, keyring, blobs }, folder);
  } finally {
    await engine.stop();
    await world.close();
    await mail.stop();
  }
}
