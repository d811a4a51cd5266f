import test, { type ExecutionContext } from 'ava';
import { claimVisits, rankMailboxes } from '../domain/mailboxes/leases.ts';
import { recordFolderRead } from '../domain/mailboxes/sync-state.ts';
import { oldestLookSeconds } from '../domain/mailboxes/unread.ts';
import { createMetrics } from '../lib/metrics.ts';
import { eventually } from '../test/harness/eventually.ts';
import { createMailbox } from '../test/harness/factories.ts';
import { startMailWorld, type MailWorld } from '../test/harness/mail.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startReadingReview } from './reading.ts';
import { startSync, type SyncOptions } from './sync.ts';

const QUICK: SyncOptions = { leaseMs: 1_500, sweepMs: 100, retryMs: 100, rankMs: 100 };
const PATIENCE_MS = 100_000;
const SERVER = { smtp: { host: '127.0.0.1', port: 1 }, imap: { host: '127.0.0.1', port: 1 } };

const plain = (id: string) =>
  `From: lea@lead.test\r\nTo: sam@ours.test\r\nSubject: ${id}\r\nMessage-ID: <${id}@lead.test>\r\n\r\nHello\r\n`;
const until = <T>(look: () => Promise<T | undefined | false>): Promise<T> => eventually(look, PATIENCE_MS);

async function newWorld(t: ExecutionContext, env: Record<string, string> = {}): Promise<World> {
  const world = await createWorld({ env });
  t.teardown(() => world.close());
  return world;
}

async function mailboxes(world: World, organizationId: string, mail: MailWorld, count: number) {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const email = `m${n}@${organizationId.slice(-8)}.test`;
      const box = await mail.addMailbox({ email, password: 'secret' });
      return { box, id: await createMailbox(world.deps, organizationId, email, { smtp: box.smtp, imap: box.imap }) };
    }),
  );
}

test('with more mailboxes than connections every mailbox is read, again and again', async (t) => {
  const world = await newWorld(t, { IMAP_MAX_MAILBOXES: '2', IMAP_POLL_SECONDS: '1' });
  const mail = await startMailWorld();
  t.teardown(() => mail.stop());
  const { organizationId } = await world.tenant();
  const all = await mailboxes(world, organizationId, mail, 6);
  const read = async () => Number((await world.deps.db('inbound_messages').count().first())!.count);
  const sync = await startSync(world.deps, QUICK);
  for (let turn = 1; turn <= 2; turn += 1) {
    for (const { box } of all) box.deliver(plain(`${box.email}/${turn}`));
    await until(async () => (await read()) === turn * all.length);
  }
  const standing = await world.deps.db('mailbox_sync').where({ folder: 'INBOX', standing: true });
  t.is(standing.length, 1, 'one connection watches, the other reads in turn');
  await sync.stop();
});

test('the most active mailbox keeps its connection', async (t) => {
  const world = await newWorld(t, { IMAP_MAX_MAILBOXES: '2', IMAP_POLL_SECONDS: '1' });
  const mail = await startMailWorld();
  t.teardown(() => mail.stop());
  const { organizationId } = await world.tenant();
  const all = await mailboxes(world, organizationId, mail, 4);
  const sync = await startSync(world.deps, QUICK);
  const row = (id: string) => world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first();
  await until(async () => (await world.deps.db('mailbox_sync').where({ standing: true })).length === 1);
  const { mailbox_id: watched } = await world.deps.db('mailbox_sync').where({ standing: true }).first();
  const { id, box } = all.find((one) => one.id !== watched)!;
  for (let n = 0; n < 5; n += 1) box.deliver(plain(`busy ${n}`));
  await until(async () => (await row(id)).standing);
  await until(async () => box.commands.includes('IDLE'));
  await sync.stop();
  t.false((await row(watched)).standing);
});

test('organizations take turns, in connections and in visits', async (t) => {
  const world = await newWorld(t);
  const { db } = world.deps;
  const large = await world.tenant();
  const small = await world.tenant();
  for (let n = 0; n < 6; n += 1) {
    const id = await createMailbox(world.deps, large.organizationId, `m${n}@large.test`, SERVER);
    await db('mailbox_sync')
      .where({ mailbox_id: id })
      .update({ activity: 1_000 + n });
  }
  const one = await createMailbox(world.deps, small.organizationId, 'm@small.test', SERVER);
  await db('mailbox_sync')
    .where({ mailbox_id: one })
    .update({ last_synced_at: new Date(Date.now() - 60_000) });

  await rankMailboxes(db, 2);
  const standing = await db('mailbox_sync').where({ standing: true });
  t.deepEqual(
    new Set(standing.map(({ organization_id: id }) => id)),
    new Set([large.organizationId, small.organizationId]),
  );
  t.true(
    standing.some(({ activity }) => activity === 1_005),
    'within an organization the most active comes first',
  );

  const visits = await claimVisits(db, 'worker', 10_000, 30_000, 2);
  t.deepEqual(
    new Set(visits.map((lease) => lease.organizationId)),
    new Set([large.organizationId, small.organizationId]),
  );
  const later = await claimVisits(db, 'other', 10_000, 30_000, 10);
  t.is(later.length, 5, 'what one process reads no other takes');
  t.deepEqual(await claimVisits(db, 'other', 10_000, 30_000, 10), []);
});

test('activity grows with messages and fades from day to day', async (t) => {
  const world = await newWorld(t);
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const ids = await Promise.all(
    ['a', 'b'].map((name) => createMailbox(world.deps, organizationId, `${name}@ours.test`, SERVER)),
  );
  await recordFolderRead(ctx, ids[0]!, 'INBOX', 8);
  await recordFolderRead(ctx, ids[1]!, 'INBOX', 1);
  const activity = async (id: string) =>
    (await world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first()).activity as number;
  t.true(Math.abs((await activity(ids[0]!)) - (await activity(ids[1]!)) - 3) < 0.01, '8 messages are 2^3 times one');
  await world.deps.db('mailbox_sync').where({ mailbox_id: ids[0]! }).decrement('activity', 4);
  t.true(
    (await activity(ids[0]!)) < (await activity(ids[1]!)),
    '8 messages of four days ago count less than one of today',
  );
});

test('a metric has the age of the oldest reading, failing servers left out', async (t) => {
  const world = await newWorld(t);
  const { organizationId } = await world.tenant();
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
  const [late, failing] = await Promise.all(
    ['late', 'failing'].map((name) => createMailbox(world.deps, organizationId, `${name}@ours.test`, SERVER)),
  );
  await world.deps
    .db('mailbox_sync')
    .where({ mailbox_id: late! })
    .update({ last_synced_at: ago(900) });
  await world.deps
    .db('mailbox_sync')
    .where({ mailbox_id: failing! })
    .update({ last_synced_at: ago(9_000), failures: 3 });
  const seconds = await oldestLookSeconds(world.deps);
  t.true(seconds >= 900 && seconds < 9_000);
  const metrics = createMetrics();
  const review = startReadingReview(world.deps, metrics, 50);
  t.teardown(() => review.stop());
  await until(async () => (await metrics.oldestLookSeconds.get()).values[0]!.value >= 900);
  t.pass();
});
