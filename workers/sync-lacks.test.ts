import test, { type ExecutionContext } from 'ava';
import { reviewReading } from '../domain/mailboxes/unread.ts';
import { readHealthRows, accountHealth } from '../domain/reporting/analytics/account-health.ts';
import { reader } from '../domain/platform/kernel/transact.ts';
import { message } from '../messages/index.ts';
import { eventually } from '../test/harness/eventually.ts';
import { createMailbox, type Tenant } from '../test/harness/factories.ts';
import type { ServerLack } from '../test/harness/imap-lacks.ts';
import { startMailWorld, type MailWorldMailbox } from '../test/harness/mail.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startSync, type SyncOptions } from './sync.ts';

const QUICK: SyncOptions = { leaseMs: 2_000, sweepMs: 100, retryMs: 100 };
const PATIENCE_MS = 60_000;
const HOUR_MS = 3_600_000;
const EMAIL = 'sam@ours.test';

const plain = (id: string, date = new Date()) =>
  `From: lea@lead.test\r\nTo: ${EMAIL}\r\nDate: ${date.toUTCString()}\r\nSubject: ${id}\r\nMessage-ID: <${id}@lead.test>\r\n\r\nHello\r\n`;

interface Scene {
  world: World;
  tenant: Tenant;
  box: MailWorldMailbox;
  id: string;
  /** Sets the arrival time of the messages that are delivered afterwards. */
  arriveAt(time: Date | undefined): void;
}

async function scene(t: ExecutionContext): Promise<Scene> {
  let arrival: Date | undefined;
  const world = await createWorld({ env: { IMAP_POLL_MS: '300' } });
  const mail = await startMailWorld({ now: () => arrival ?? new Date() });
  t.teardown(async () => {
    await mail.stop();
    await world.close();
  });
  const tenant = await world.tenant();
  const box = await mail.addMailbox({ email: EMAIL, password: 'secret' });
  const id = await createMailbox(world.deps, tenant.organizationId, EMAIL, { smtp: box.smtp, imap: box.imap });
  return { world, tenant, box, id, arriveAt: (time) => void (arrival = time) };
}

const rows = (world: World, id: string) => world.deps.db('inbound_messages').where({ mailbox_id: id }).orderBy('uid');
const subjects = async ({ world, id }: Scene) => (await rows(world, id)).map(({ subject }) => subject as string);
const until = <T>(look: () => Promise<T | undefined | false>): Promise<T> => eventually(look, PATIENCE_MS);
const position = ({ world, id }: Scene) =>
  world.deps.db('mailbox_sync').where({ mailbox_id: id, folder: 'INBOX' }).first();
const mailbox = ({ world, id }: Scene) => world.deps.db('mailboxes').where({ id }).first();

const LACKS: ServerLack[][] = [
  ['UIDNEXT'],
  ['SEARCH'],
  ['SINCE'],
  ['INTERNALDATE'],
  ['INTERNALDATE value'],
  ['UIDNEXT', 'SEARCH', 'INTERNALDATE'],
];
for (const lacks of LACKS)
  test(`a server without ${lacks.join(', ')} is read, and its old mail is not`, async (t) => {
    const s = await scene(t);
    for (const lack of lacks) s.box.lacks.add(lack);
    const old = new Date(Date.now() - 48 * HOUR_MS);
    s.arriveAt(old);
    for (const id of ['old', 'older']) s.box.deliver(plain(id, old));
    s.arriveAt(undefined);
    s.box.deliver(plain('first'));
    const sync = await startSync(s.world.deps, QUICK);
    await until(async () => (await subjects(s)).length === 1);
    s.box.deliver(plain('second'));
    await until(async () => (await subjects(s)).length === 2);
    await sync.stop();
    t.deepEqual(await subjects(s), ['first', 'second']);
    const [first] = await rows(s.world, s.id);
    t.true(Math.abs(first.received_at.getTime() - Date.now()) < HOUR_MS);
    t.is((await mailbox(s)).imap_hold_code, null);
  });

test('an empty INBOX without UIDNEXT is read from its first message on', async (t) => {
  const s = await scene(t);
  s.box.lacks.add('UIDNEXT');
  const sync = await startSync(s.world.deps, QUICK);
  await until(async () => (await position(s)).last_synced_at !== null);
  s.box.deliver(plain('first'));
  await until(async () => (await subjects(s)).length === 1);
  await sync.stop();
  t.deepEqual(await subjects(s), ['first']);
});

test('a server without UIDVALIDITY holds its mailbox with the cause, until it has been read', async (t) => {
  const s = await scene(t);
  s.box.lacks.add('UIDVALIDITY');
  s.box.deliver(plain('first'));
  const sync = await startSync(s.world.deps, QUICK);
  await until(async () => (await mailbox(s)).imap_hold_code === 'imap_unsupported' && (await position(s)).failures > 0);
  t.like(await mailbox(s), {
    imap_hold_reason: { code: 'mailboxes.imap_needs_uidvalidity', values: {} },
    imap_hold_until: null,
  });
  t.like(await s.world.deps.db('mailbox_errors').where({ mailbox_id: s.id }), [
    { error_code: 'imap_unsupported', resolved_at: null },
  ] as never);
  t.is((await position(s)).last_error.code, 'mailboxes.imap_needs_uidvalidity');
  const [health] = await readHealthRows(reader(s.world.system(s.tenant.organizationId)), new Date(), [s.id]);
  t.is(accountHealth(health!).status, 'error');
  s.box.lacks.clear();
  await until(async () => (await subjects(s)).length === 1);
  await until(async () => (await position(s)).failures === 0);
  await reviewReading(s.world.deps, new Set());
  await sync.stop();
  t.is((await mailbox(s)).imap_hold_code, null);
});

test('a mailbox whose INBOX was not read for an hour is held from the second review on, until it is read', async (t) => {
  const s = await scene(t);
  const { deps } = s.world;
  const since = new Date(Date.now() - 2 * HOUR_MS);
  await deps.db('mailboxes').where({ id: s.id }).update({ created_at: since });
  const first = await reviewReading(deps, new Set());
  t.deepEqual([...first], [s.id]);
  t.is((await mailbox(s)).imap_hold_code, null, 'after a downtime the workers get time to read');
  const second = await reviewReading(deps, first);
  t.like(await mailbox(s), {
    imap_hold_code: 'imap_unread',
    imap_hold_reason: { code: 'mailboxes.unread_waiting', values: { at: since.toISOString() } },
  });
  t.true(
    (await mailbox(s)).next_free_at > new Date(Date.now() + HOUR_MS),
    'no slot is given before the end of the hold',
  );
  await reviewReading(deps, second);
  t.is((await deps.db('mailbox_errors').where({ mailbox_id: s.id })).length, 1);
  const sync = await startSync(deps, QUICK);
  await until(async () => (await position(s)).last_synced_at !== null);
  await sync.stop();
  t.is((await reviewReading(deps, second)).size, 0);
  t.like(await mailbox(s), { imap_hold_code: null, imap_hold_until: null });
  t.truthy((await deps.db('mailbox_errors').where({ mailbox_id: s.id }).first()).resolved_at);
});

test('the finding of an unread mailbox quotes the failure of its server', async (t) => {
  const s = await scene(t);
  const { deps } = s.world;
  await deps
    .db('mailbox_sync')
    .where({ mailbox_id: s.id })
    .update({
      last_synced_at: new Date(Date.now() - 2 * HOUR_MS),
      failures: 4,
      last_error: JSON.stringify(message('mailboxes.unreachable_connect')),
    });
  await reviewReading(deps, await reviewReading(deps, new Set()));
  t.like((await mailbox(s)).imap_hold_reason, {
    code: 'mailboxes.unread_failing',
    values: { reason: message('mailboxes.unreachable_connect') },
  });
});
