import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { createSentLead } from '../test/harness/standing-leads.ts';
import { startFolderAt } from '../domain/mailboxes/sync-state.ts';
import { replyTo } from '../test/harness/inbound.ts';
import { createCampaign, createMailbox, type Tenant } from '../test/harness/factories.ts';
import { startMailWorld, type MailWorld, type MailWorldMailbox } from '../test/harness/mail.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startSync, type SyncOptions } from './sync.ts';
import { TYPESCRIPT } from '../local/typescript.ts';
import { eventually } from '../test/harness/eventually.ts';

const QUICK: SyncOptions = { leaseMs: 1_500, sweepMs: 100, retryMs: 100 };

interface Scene {
  world: World;
  mail: MailWorld;
  tenant: Tenant;
}

async function scene(t: ExecutionContext): Promise<Scene> {
  const world = await createWorld({ env: { IMAP_POLL_MS: '300' } });
  const mail = await startMailWorld();
  t.teardown(async () => {
    await mail.stop();
    await world.close();
  });
  return { world, mail, tenant: await world.tenant() };
}

async function connect({ world, mail, tenant }: Scene, email: string): Promise<{ id: string; box: MailWorldMailbox }> {
  const box = await mail.addMailbox({ email, password: 'secret' });
  return { id: await createMailbox(world.deps, tenant.organizationId, email, { smtp: box.smtp, imap: box.imap }), box };
}

const plain = (id: string) =>
  `From: lea@lead.test\r\nTo: sam@ours.test\r\nSubject: ${id}\r\nMessage-ID: <${id}@lead.test>\r\n\r\nHello ${id}\r\n`;

/** Time limit (ms) for expected results, also on a slow machine. */
const PATIENCE_MS = 100_000;
const until = <T>(look: () => Promise<T | undefined | false>): Promise<T> => eventually(look, PATIENCE_MS);

const subjectsIn = async (world: World, mailboxId: string): Promise<string[]> =>
  (await world.deps.db('inbound_messages').where({ mailbox_id: mailboxId }).orderBy('id')).map(
    ({ subject }) => subject as string,
  );
const holds = (world: World, mailboxId: string, n: number) =>
  until(async () => (await subjectsIn(world, mailboxId)).length >= n);
const readPosition = (world: World, mailboxId: string) =>
  world.deps.db('mailbox_sync').where({ mailbox_id: mailboxId, folder: 'INBOX' }).first();
const synced = (world: World, mailboxId: string) =>
  until(async () => (await readPosition(world, mailboxId)).uid_validity !== null);

test('new mail is recorded in order, as it comes, and a reply has its effects', async (t) => {
  const s = await scene(t);
  const { world, tenant } = s;
  const { id, box } = await connect(s, 'sam@ours.test');
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hello' }]);
  const { enrollmentId, original } = await createSentLead(world.deps, tenant.organizationId, {
    campaignId,
    stepId: stepIds[0]!,
    mailbox: { id, email: 'sam@ours.test' },
  });
  box.deliver(plain('one'));
  box.deliver(plain('two'));
  const sync = await startSync(world.deps, QUICK);
  await holds(world, id, 2);
  box.deliver(replyTo(original, 'Yes, please', { subject: 'Re: three' }));
  await holds(world, id, 3);
  await sync.stop();
  t.deepEqual(await subjectsIn(world, id), ['one', 'two', 'Re: three']);
  t.is((await world.deps.db('enrollments').where({ id: enrollmentId }).first()).state, 'replied');
  t.like(await readPosition(world, id), { last_uid: 3, owner: null, lease_until: null });
  t.is((await world.deps.db('sync_workers')).length, 0);
});

test('mail from before the connection is left alone', async (t) => {
  const s = await scene(t);
  const { id, box } = await connect(s, 'sam@ours.test');
  box.deliver(plain('old'));
  await s.world.deps
    .db('mailboxes')
    .where({ id })
    .update({ created_at: new Date(Date.now() + 3600_000) });
  const sync = await startSync(s.world.deps, QUICK);
  await synced(s.world, id);
  box.deliver(plain('new'));
  await holds(s.world, id, 1);
  await sync.stop();
  t.deepEqual(await subjectsIn(s.world, id), ['new']);
});

test('after a renumbering nothing is recorded twice and nothing is missed', async (t) => {
  const s = await scene(t);
  const { id, box } = await connect(s, 'sam@ours.test');
  box.deliver(plain('one'));
  box.deliver(plain('two'));
  const sync = await startSync(s.world.deps, QUICK);
  await holds(s.world, id, 2);
  const before = (await readPosition(s.world, id)).uid_validity;
  // The change of UIDVALIDITY disconnects the client. Messages that arrive in the meantime must be found under other
  // UIDs.
  box.renumber();
  box.deliver(plain('three'));
  await holds(s.world, id, 3);
  await until(async () => (await readPosition(s.world, id)).uid_validity !== before);
  box.deliver(plain('four'));
  await holds(s.world, id, 4);
  await sync.stop();
  t.deepEqual(await subjectsIn(s.world, id), ['one', 'two', 'three', 'four']);
});

test('a message the database refuses is noted and passed by', async (t) => {
  const s = await scene(t);
  const { id, box } = await connect(s, 'sam@ours.test');
  const { db } = s.world.deps;
  await db.raw(
    `create function refuse() returns trigger language plpgsql as $$ begin if new.subject = 'poison' then raise exception 'refused'; end if; return new; end $$`,
  );
  await db.raw('create trigger refuse before insert on inbound_messages for each row execute function refuse()');
  for (const name of ['before', 'poison', 'after']) box.deliver(plain(name));
  const sync = await startSync(s.world.deps, QUICK);
  await holds(s.world, id, 3);
  await sync.stop();
  const rows = await db('inbound_messages').where({ mailbox_id: id }).orderBy('uid');
  t.deepEqual(
    rows.map(({ subject, kind, error }) => [subject, kind, error && error.values.words]),
    [
      ['before', 'other', null],
      ['', 'other', 'PostgreSQL P0001'],
      ['after', 'other', null],
    ],
  );
  t.is((await readPosition(s.world, id)).last_uid, 3);
});

test('a refused sign-in holds the mailbox and tells once; new credentials end the hold at once', async (t) => {
  const s = await scene(t);
  const { world, tenant } = s;
  const { id, box } = await connect(s, 'sam@ours.test');
  box.setPassword('changed');
  const sync = await startSync(world.deps, QUICK);
  await until(async () => (await readPosition(world, id)).failures > 0);
  t.like(await world.deps.db('mailboxes').where({ id }).first(), {
    imap_hold_code: 'imap_auth_failed',
    status: 'active',
  });
  t.like(await world.deps.db('mailbox_errors').where({ mailbox_id: id }), [
    { error_code: 'imap_auth_failed', resolved_at: null },
  ] as never);
  const told = await world.deps
    .db('domain_events')
    .where({ organization_id: tenant.organizationId, type: 'email_account.error' });
  t.is(told.length, 1);
  const waitMinutes = async () => ((await readPosition(world, id)).retry_at - Date.now()) / 60_000;
  const first = await waitMinutes();
  t.true(first > 0 && first <= 1, 'a NO without a reason may pass: the first wait is a minute');
  const { imap_hold_until: heldUntil } = await world.deps.db('mailboxes').where({ id }).first();
  t.true(heldUntil < new Date(Date.now() + 2 * 60_000));
  await world.deps.db('mailbox_sync').where({ mailbox_id: id }).update({ retry_at: null, failures: 3 });
  await until(async () => (await readPosition(world, id)).failures === 4);
  t.true((await waitMinutes()) > 6, 'later ones are longer');
  await world.deps.db('mailbox_sync').where({ mailbox_id: id }).update({ retry_at: null, failures: 6 });
  await until(async () => (await readPosition(world, id)).failures === 7);
  t.true((await waitMinutes()) > 300, 'and after an hour as long as for any refused sign-in');
  t.is((await world.deps.db('mailbox_errors').where({ mailbox_id: id })).length, 1, 'still told once');
  await world.deps.db('mailbox_sync').where({ mailbox_id: id }).update({ retry_at: null });
  box.setPassword('secret');
  box.deliver(plain('one'));
  await holds(world, id, 1);
  await sync.stop();
  t.is((await world.deps.db('mailboxes').where({ id }).first()).imap_hold_code, null);
  t.truthy((await world.deps.db('mailbox_errors').where({ mailbox_id: id }).first()).resolved_at);
});

test('a mailbox that is switched off is let go, and taken up again when it is switched on', async (t) => {
  const s = await scene(t);
  const { id, box } = await connect(s, 'sam@ours.test');
  const sync = await startSync(s.world.deps, QUICK);
  await synced(s.world, id);
  await s.world.deps.db('mailboxes').where({ id }).update({ status: 'inactive' });
  await until(async () => (await readPosition(s.world, id)).owner === null);
  box.deliver(plain('while off'));
  await s.world.deps.db('mailboxes').where({ id }).update({ status: 'active' });
  await holds(s.world, id, 1);
  await sync.stop();
  t.deepEqual(await subjectsIn(s.world, id), ['while off']);
});

test('two processes share the mailboxes; when one is killed the other takes over and every message is recorded once', async (t) => {
  const s = await scene(t);
  const { world } = s;
  const boxes = await Promise.all(Array.from({ length: 6 }, (_, n) => connect(s, `m${n}@ours.test`)));
  const owners = async () =>
    new Map(
      (await world.deps.db('mailbox_sync')).map(({ mailbox_id, owner }) => [
        mailbox_id as string,
        owner as string | null,
      ]),
    );
  const share = async (worker: string) => [...(await owners()).values()].filter((owner) => owner === worker).length;
  const child = await startChild(t, world, 'victim');
  await until(async () => (await share('victim')) === 6);
  const sync = await startSync(world.deps, { ...QUICK, workerId: 'survivor' });
  // A new process gets its share of the mailboxes.
  await until(async () => (await share('survivor')) >= 2 && (await share('survivor')) + (await share('victim')) === 6);

  let sent = 0;
  const deliverAll = () => {
    sent += 1;
    for (const { box } of boxes) box.deliver(plain(`${box.email}/${sent}`));
  };
  for (let n = 0; n < 5; n += 1) deliverAll();
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (let n = 0; n < 5; n += 1) deliverAll();
  await until(async () => (await share('survivor')) === 6);
  for (const { id } of boxes) await holds(world, id, sent);
  await sync.stop();
  for (const { id, box } of boxes) {
    t.deepEqual(
      await subjectsIn(world, id),
      Array.from({ length: sent }, (_, n) => `${box.email}/${n + 1}`),
    );
  }
  const events = await world.deps
    .db('domain_events')
    .where({ organization_id: s.tenant.organizationId, type: 'inbox.email_received' });
  t.is(events.length, sent * boxes.length);
});

/** Starts a sync worker in its own process, which can be killed. */
async function startChild(t: ExecutionContext, world: World, workerId: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../test/harness/sync-process.ts', import.meta.url));
  const options = JSON.stringify({ leaseMs: QUICK.leaseMs, sweepMs: QUICK.sweepMs, workerId });
  const child = spawn(process.execPath, [...TYPESCRIPT, program, world.databaseUrl, options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

test('a place set by hand is where reading goes on', async (t) => {
  const s = await scene(t);
  const { id, box } = await connect(s, 'sam@ours.test');
  for (const name of ['one', 'two', 'three']) box.deliver(plain(name));
  const first = await startSync(s.world.deps, QUICK);
  await holds(s.world, id, 3);
  await first.stop();
  const { uid_validity: validity } = await readPosition(s.world, id);
  await s.world.deps.db('inbound_messages').where({ mailbox_id: id }).delete();
  await startFolderAt(s.world.system(s.tenant.organizationId), id, 'INBOX', validity, 1);
  const second = await startSync(s.world.deps, QUICK);
  await holds(s.world, id, 2);
  await second.stop();
  t.deepEqual(await subjectsIn(s.world, id), ['two', 'three']);
});
