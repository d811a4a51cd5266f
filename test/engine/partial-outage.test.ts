/** Tests a Temporal that answers for some workflows and not for others, as while one of its history shards moves. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { acceptDirectSend } from '../../domain/inbox/direct-sends/create.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createMailbox } from '../harness/factories.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { openTemporalDoor, type TemporalDoor } from '../harness/temporal-door.ts';
import { createWorld, type World } from '../harness/world.ts';

/** gRPC codes that say that the server cannot answer now: UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED. */
const MISSING_ANSWERS = [14, 4, 8];
const EMAILS = 5;
const PATIENCE_MS = 60_000;

let world: World;
let mail: MailWorld;
let door: TemporalDoor;
let engine: Engine;
test.before(async () => {
  door = await openTemporalDoor(process.env.HERON_TEST_TEMPORAL!);
  [world, mail] = await Promise.all([createWorld({ env: { TEMPORAL_ADDRESS: door.address } }), startMailWorld()]);
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  door?.close();
  await mail?.stop();
  await world?.close();
});

for (const code of MISSING_ANSWERS)
  test.serial(
    `while Temporal answers ${code} for some workflows, others go on; then these do, and none is parked`,
    async (t) => {
      t.timeout(PATIENCE_MS * 3);
      const { deps } = world;
      const { organizationId } = await world.tenant();
      const box = await mail.addMailbox({ email: `writer${code}@example.com`, password: 'secret' });
      const mailboxId = await createMailbox(deps, organizationId, box.email, { smtp: box.smtp, imap: box.imap });
      const write = async (to: string) => {
        const email = { email_account_id: mailboxId, to: [to], subject: to, body_plain: 'Hello' };
        return (await acceptDirectSend(world.system(organizationId), 'compose', email)).task_id;
      };
      const sent = async (ids: readonly string[]) =>
        (await deps.db('direct_sends').whereIn('id', ids).where({ state: 'sent' })).length === ids.length;

      // Deletes the intents of the organization's setup, so that its first intent is one that Temporal refuses.
      await deps.db('outbox').delete();
      const refusedBefore = door.refused();
      door.refuse([organizationId], code);
      const moved: string[] = [];
      for (let n = 0; n < EMAILS; n += 1) moved.push(await write(`moved${n}-${code}@people.example.org`));
      const other = await world.tenant();
      const otherBox = await mail.addMailbox({ email: `other${code}@example.com`, password: 'secret' });
      const otherId = await createMailbox(deps, other.organizationId, otherBox.email, {
        smtp: otherBox.smtp,
        imap: otherBox.imap,
      });
      const { task_id: id } = await acceptDirectSend(world.system(other.organizationId), 'compose', {
        email_account_id: otherId,
        to: ['spared@people.example.org'],
        subject: 'spared',
        body_plain: 'Hello',
      });
      await eventually(() => sent([id]), PATIENCE_MS);
      await eventually(async () => door.refused() - refusedBefore > EMAILS, PATIENCE_MS);
      await sleep(1_000);
      const waiting = await deps
        .db('outbox')
        .whereRaw('workflow_id ~ ?', moved.join('|'))
        .select('refusals', 'parked_at');
      t.is(waiting.length, EMAILS);
      for (const { refusals, parked_at: parkedAt } of waiting) t.deepEqual([refusals, parkedAt], [0, null]);

      door.open();
      await eventually(() => sent(moved), PATIENCE_MS);
      t.is((await deps.db('outbox').whereRaw('workflow_id ~ ?', moved.join('|'))).length, 0);
      const received = mail.messages.filter(({ envelope }) => envelope.to[0]!.endsWith(`-${code}@people.example.org`));
      t.is(received.length, EMAILS, 'each email once');
      t.deepEqual(
        (await reconcile(deps, { dryRun: true })).filter(({ missing }) => missing > 0),
        [],
      );
    },
  );
