/** Tests commits that arrive and whose answers are lost: the worker must take neither "done" nor "not done" for granted. */
import test from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { acceptDirectSend } from '../../domain/inbox/direct-sends/create.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { compareDirectSends } from '../faults/direct-sends.ts';
import { openDoor } from '../harness/door.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createMailbox } from '../harness/factories.ts';
import { startMailWorld } from '../harness/mail.ts';
import { startReceiver } from '../harness/receiver.ts';
import { createEndpoint } from '../harness/webhooks.ts';
import { createWorld } from '../harness/world.ts';

const EMAILS = 12;
/** Number of consecutive commits whose answers are lost. Such a series begins five times a second. */
const LOST_IN_A_ROW = 2;
/** Total number of lost answers. */
const LOST = 24;
const PATIENCE_MS = 120_000;

test('emails and webhooks are sent once although answers to commits are lost', async (t) => {
  t.timeout(PATIENCE_MS * 3);
  const [world, mail, receiver] = await Promise.all([
    createWorld({ env: { SEND_CLAIM_MS: '5000', SMTP_UNREACHABLE_RETRY_MS: '3000', WEBHOOK_RETRY_BASE_MS: '500' } }),
    startMailWorld(),
    startReceiver(),
  ]);
  const door = await openDoor(world.databaseUrl);
  const pool = connectRaw({ url: door.url, name: 'heron-worker', prepared: true });
  const { deps } = world;
  await registerSubscribers(deps, SUBSCRIBERS);
  const engine = await startEngine({ ...world, deps: { ...deps, db: pool } });
  try {
    const { organizationId } = await world.tenant();
    const endpoint = await createEndpoint(deps, organizationId, `${receiver.url}/hook`);
    const mailboxes: string[] = [];
    for (let n = 0; n < EMAILS; n += 1) {
      const box = await mail.addMailbox({ email: `writer${n}@example.com`, password: 'secret' });
      mailboxes.push(await createMailbox(deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap }));
    }
    const losing = setInterval(() => {
      if (door.lost() < LOST) door.loseAnswers(LOST_IN_A_ROW);
    }, 200);
    t.teardown(() => clearInterval(losing));
    for (const [n, mailboxId] of mailboxes.entries())
      await acceptDirectSend(world.system(organizationId), 'compose', {
        email_account_id: mailboxId,
        to: [`p${n}@people.example.org`],
        subject: `Hello ${n}`,
        body_plain: 'Hello',
      });
    await eventually(async () => door.lost() >= LOST, PATIENCE_MS, 100);
    clearInterval(losing);
    door.loseAnswers(0);
    const open = () => deps.db('direct_sends').where({ state: 'queued' }).first('id');
    await eventually(async () => !(await open()), PATIENCE_MS, 100);
    for (const { name, faults } of await compareDirectSends(deps.db, mail.messages)) t.deepEqual(faults, [], name);
    const events = await deps.db('domain_events').where({ organization_id: organizationId });
    const deliveries = () => deps.db('webhook_deliveries').where({ endpoint_id: endpoint.id, status: 'delivered' });
    await eventually(async () => (await deliveries()).length === events.length, PATIENCE_MS, 100);
    for (const { event_id: eventId, attempt_count: attempts } of await deliveries()) {
      const times = receiver.requests.filter(({ headers }) => headers['x-service-event-id'] === eventId).length;
      t.true(times >= 1 && times <= attempts, `event ${eventId} came ${times} times in ${attempts} attempts`);
    }
  } finally {
    await engine.stop();
    await pool.destroy();
    door.close();
    await Promise.all([mail.stop(), receiver.stop()]);
    await world.close();
  }
});
