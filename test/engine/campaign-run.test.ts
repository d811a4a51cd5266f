import test from 'ava';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { HEARTBEAT_MS } from '../../activities/heartbeat.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { removeLead } from '../../domain/sending/leads/hold.ts';
import { addLeads } from '../../domain/audience/leads/add.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { plainRun } from '../harness/plain-history.ts';
import { createWorld, type World } from '../harness/world.ts';
import { assertNowhere } from '../harness/secrets.ts';
import { listLeads } from '../../domain/sending/leads/list.ts';

let world: World;
let mail: MailWorld;
let engine: Engine;
let tenant: Tenant;

test.before(async () => {
  [world, mail] = await Promise.all([createWorld({ env: { ROW_SECURITY: 'true' } }), startMailWorld()]);
  engine = await startEngine(world);
  tenant = await world.tenant();
});
test.after.always(async () => {
  await engine?.stop();
  await mail?.stop();
  await world?.close();
});

const states = (campaignId: string) =>
  world.deps.db('enrollments').where({ campaign_id: campaignId }).select('contact_id', 'state', 'failure_reason');
const finished = (campaignId: string, count: number) =>
  eventually(async () => {
    const rows = await states(campaignId);
    return rows.length === count && rows.every((row) => !['pending', 'active'].includes(row.state)) ? rows : undefined;
  });

async function sender(email: string): Promise<string> {
  const box = await mail.addMailbox({ email, password: 'secret' });
  return createMailbox(world.deps, tenant.organizationId, email, { smtp: box.smtp, imap: box.imap });
}

const explicit = async (campaignId: string, mailboxId: string) => {
  await world.deps
    .db('campaign_senders')
    .insert({ organization_id: tenant.organizationId, campaign_id: campaignId, mailbox_id: mailboxId });
};

test.serial('a two-step campaign mails every lead once, follows up in the thread, and completes', async (t) => {
  const { organizationId } = tenant;
  const mailboxId = await sender('anna@sender.example.com');
  const contacts = await Promise.all(
    ['Bea', 'Cem', 'Dora'].map((first_name) =>
      createContact(world.deps.db, world.deps.clock.now(), organizationId, {
        email: `${first_name.toLowerCase()}@run.example.org`,
        first_name,
      }),
    ),
  );
  const { campaignId } = await createCampaign(
    world.deps,
    organizationId,
    [
      { subject: 'Hello {{.FirstName}}', body_plain: 'Hi {{.FirstName}}, see https://example.com/a' },
      { body_plain: 'Just following up, {{.FirstName}}.' },
    ],
    { sender_strategy: 'explicit' },
  );
  await explicit(campaignId, mailboxId);
  await enroll(world.deps, organizationId, campaignId, contacts);
  await engine.launch(organizationId, campaignId);

  const rows = await finished(campaignId, 3);
  t.deepEqual(
    rows.map((row) => row.state),
    ['completed', 'completed', 'completed'],
  );
  for (const name of ['bea', 'cem', 'dora']) {
    const got = mail.messages.filter((message) => message.envelope.to.includes(`${name}@run.example.org`));
    t.is(got.length, 2, name);
    const [first, second] = await Promise.all(got.map((message) => message.parsed()));
    t.regex(first!.subject!, /^Hello /);
    t.is(second!.subject, `Re: ${first!.subject}`);
    t.is(second!.inReplyTo, first!.messageId);
    t.truthy(first!.headers.get('list'));
  }
  const campaign = await eventually(() =>
    world.deps.db('campaigns').where({ id: campaignId, status: 'completed' }).first(),
  );
  t.truthy(campaign);
  const sent = world.deps
    .db('domain_events')
    .where({ type: 'campaign.email_sent' })
    .whereRaw(`data ->> 'campaign_id' = ?`, [campaignId]);
  t.is((await sent).length, 6);
  t.is(await count('outbox', {}), 0);
});

test.serial(
  'a lead that is removed while its run is open, and added again, goes on where it was, in a run of its own',
  async (t) => {
    const { organizationId } = tenant;
    const mailboxId = await sender('again@sender.example.com');
    const ctx = world.system(organizationId);
    const { campaignId } = await createCampaign(
      world.deps,
      organizationId,
      [
        { subject: 'First', body_plain: 'Hi' },
        { name: 'Pause', kind: 'action', action: { type: 'wait', wait_minutes: 60 } },
        { body_plain: 'Later.' },
      ],
      { sender_strategy: 'explicit' },
    );
    await explicit(campaignId, mailboxId);
    const contacts = await Promise.all(
      ['at-once', 'after-a-while'].map((name) =>
        createContact(world.deps.db, world.deps.clock.now(), organizationId, { email: `${name}@again.example.org` }),
      ),
    );
    const [atOnce, later] = contacts as [string, string];
    await enroll(world.deps, organizationId, campaignId, contacts);
    await engine.launch(organizationId, campaignId);
    const waiting = (contactId: string) =>
      eventually(() =>
        world.deps
          .db('enrollments')
          .where({ campaign_id: campaignId, contact_id: contactId, state: 'active' })
          .whereNotNull('waiting_until')
          .whereRaw(`waiting_for #>> '{values,what,code}' = 'wait.waiting'`)
          .first(),
      );
    const before = await Promise.all(contacts.map(waiting));

    await transact(ctx, async (tx) => {
      await removeLead({ ...ctx, trx: tx.trx }, campaignId, atOnce);
      await addLeads(tx, world.deps.config, campaignId, [atOnce]);
    });
    await removeLead(ctx, campaignId, later);
    await transact(ctx, (tx) => addLeads(tx, world.deps.config, campaignId, [later]));

    const after = await Promise.all(contacts.map(waiting));
    for (const [index, name] of ['at-once', 'after-a-while'].entries()) {
      t.not(after[index].id, before[index].id, 'another enrollment');
      const got = mail.messages.filter(({ envelope }) => envelope.to.includes(`${name}@again.example.org`));
      t.is(got.length, 1, `${name}: not once more what it has got`);
    }
  },
);

test.serial('an email step costs at most three workflow tasks and one normal activity', async (t) => {
  const { organizationId } = tenant;
  const mailboxId = await sender('cost@sender.example.com');
  const contact = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'cost@run.example.org',
  });
  const { campaignId } = await createCampaign(
    world.deps,
    organizationId,
    [{ subject: 'One', body_plain: 'one' }, { body_plain: 'two' }, { body_plain: 'three' }],
    { sender_strategy: 'explicit' },
  );
  await explicit(campaignId, mailboxId);
  await world.deps.db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: 1 });
  await enroll(world.deps, organizationId, campaignId, [contact]);
  await engine.launch(organizationId, campaignId);
  await finished(campaignId, 1);
  const history = await engine.temporal.workflow.getHandle(`enrollment/${campaignId}/${contact}`).fetchHistory();
  const counts = (type: number) => history.events!.filter((event) => event.eventType === type).length;
  const WORKFLOW_TASK_COMPLETED = 7;
  const ACTIVITY_TASK_SCHEDULED = 10;
  t.is(counts(ACTIVITY_TASK_SCHEDULED), 3);
  t.true(counts(WORKFLOW_TASK_COMPLETED) <= 9, `${counts(WORKFLOW_TASK_COMPLETED)} workflow tasks`);
  const everything = await plainRun(engine.temporal, `enrollment/${campaignId}/${contact}`);
  t.true(everything.includes(contact), 'the payloads are decoded');
  assertNowhere(t, everything, ['cost@run.example.org']);
  // A lost task is repeated after this timeout. A slow worker may miss one or two heartbeats within it.
  const timeouts = history
    .events!.flatMap((event) => event.activityTaskScheduledEventAttributes?.heartbeatTimeout?.seconds ?? [])
    .map(Number);
  t.deepEqual(timeouts, [10, 10, 10]);
  t.true(3 * HEARTBEAT_MS <= 10_000);
});

test.serial('pausing stops mail and resuming goes on where it was', async (t) => {
  const { organizationId } = tenant;
  const mailboxId = await sender('pause@sender.example.com');
  await world.deps.db('mailboxes').where({ id: mailboxId }).update({ min_wait_time: 2 });
  const contacts = await Promise.all(
    [1, 2, 3].map((n) =>
      createContact(world.deps.db, world.deps.clock.now(), organizationId, { email: `p${n}@pause.example.org` }),
    ),
  );
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }], {
    sender_strategy: 'explicit',
  });
  await explicit(campaignId, mailboxId);
  await enroll(world.deps, organizationId, campaignId, contacts);
  await engine.launch(organizationId, campaignId);
  await mail.waitFor((message) => message.envelope.to[0]!.endsWith('@pause.example.org'), 20_000);
  const stopped = await call('POST', `/v1/campaigns/${campaignId}/stop`);
  t.is(stopped.status, 200);
  const ctx = world.system(organizationId);
  const leads = async () => (await listLeads(ctx, campaignId, {}, { limit: 10 })).rows;
  const inState = (state: string) => count('sends', { campaign_id: campaignId, state });
  // An email being sent by a worker is still sent. All other emails have lost their slots, so they cannot be sent.
  await eventually(async () => (await inState('sending')) === 0);
  const resting = (await leads()).filter(({ status }) => status === 'active');
  t.true(resting.length >= 1);
  t.true(resting.every((lead) => lead.waiting_for?.code === 'wait.campaign_paused' && lead.waiting_until === null));
  t.is(await inState('reserved'), 0);
  const sent = () => mail.messages.filter(({ envelope }) => envelope.to[0]!.endsWith('@pause.example.org')).length;
  t.is(sent(), await inState('sent'));
  t.is((await call('POST', `/v1/campaigns/${campaignId}/start`)).status, 200);
  const rows = await finished(campaignId, 3);
  t.true(rows.every((row) => row.state === 'completed'));
  t.is(sent(), 3);
});

test.serial('a refused recipient bounces and is suppressed; a temporary refusal is tried again', async (t) => {
  const { organizationId } = tenant;
  const mailboxId = await sender('bounce@sender.example.com');
  const gone = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'gone@bounce.example.org',
  });
  const fine = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'fine@bounce.example.org',
  });
  mail.script('gone@bounce.example.org', { kind: 'reject' });
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }], {
    sender_strategy: 'explicit',
  });
  await explicit(campaignId, mailboxId);
  await enroll(world.deps, organizationId, campaignId, [gone, fine]);
  await engine.launch(organizationId, campaignId);
  const rows = await finished(campaignId, 2);
  t.deepEqual(Object.fromEntries(rows.map((row) => [row.contact_id, row.state])), {
    [gone]: 'bounced',
    [fine]: 'completed',
  });
  t.is(
    await count('suppressions', {
      organization_id: organizationId,
      email: 'gone@bounce.example.org',
      source: 'bounce',
    }),
    1,
  );
});

test.serial('a connection that drops after the body is uncertain, never sent twice', async (t) => {
  const { organizationId } = tenant;
  const mailboxId = await sender('drop@sender.example.com');
  const contact = await createContact(world.deps.db, world.deps.clock.now(), organizationId, {
    email: 'x@drop.example.org',
  });
  mail.script('x@drop.example.org', { kind: 'drop' });
  const { campaignId } = await createCampaign(world.deps, organizationId, [{ subject: 'S', body_plain: 'b' }], {
    sender_strategy: 'explicit',
  });
  await explicit(campaignId, mailboxId);
  await enroll(world.deps, organizationId, campaignId, [contact]);
  await engine.launch(organizationId, campaignId);
  await finished(campaignId, 1);
  t.is(await count('sends', { campaign_id: campaignId, state: 'uncertain' }), 1);
  t.is(mail.messages.filter((message) => message.envelope.to.includes('x@drop.example.org')).length, 1);
});

async function count(table: string, where: Record<string, unknown>): Promise<number> {
  return Number((await world.deps.db(table).where(where).count({ n: '*' }).first())!.n);
}

async function call(method: string, path: string): Promise<Response> {
  return fetch(world.url + path, { method, headers: { authorization: `Bearer ${tenant.sessionToken}` } });
}
