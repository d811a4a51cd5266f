import test from 'ava';
import { singleStatement, transact } from '../../domain/platform/kernel/transact.ts';
import { readSeats } from '../../domain/sending/seats.ts';
import { claimWarmup, deliverWarmup, submitWarmup } from '../../domain/mailboxes/warmup/deliver.ts';
import { evaluateHealth, healthOf } from '../../domain/mailboxes/warmup/health.ts';
import { planDay } from '../../domain/mailboxes/warmup/plan.ts';
import { recordWarmup } from '../../domain/mailboxes/warmup/record.ts';
import { reconciledFamilies } from '../../domain/operations/system/reconcile.ts';
import { advanceWarmup } from '../../domain/mailboxes/warmup/advance.ts';
import { DAY_MS, MINUTE_MS, utcDay } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createSmtpSender, type SmtpSender } from '../../lib/smtp/index.ts';
import { startSync } from '../../workers/sync.ts';
import { cutConnectionOnce } from '../harness/cut-connection.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { awayMessage, bounceOf } from '../harness/inbound.ts';
import { startMailWorld, type MailWorld } from '../harness/mail.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';

const ALWAYS = {
  warmup_days: 127,
  warmup_start_time: '00:00',
  warmup_end_time: '00:00',
  warmup_reply_rate: 100,
  min_wait_time: 0,
};
const SERVER = { host: '127.0.0.1', port: 1 };

let world: World;
let mail: MailWorld;
let smtp: SmtpSender;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay' } });
  mail = await startMailWorld();
  smtp = createSmtpSender({ allowPrivate: true });
});
test.after.always(async () => {
  await smtp?.close();
  await mail?.stop();
  await world?.close();
});

let count = 0;

/** Creates a mailbox at the mail server, with warmup on. */
async function warmed(
  at: World,
  tenant: Tenant,
  fields: Record<string, unknown> = {},
  server: { spam?: (raw: Buffer) => boolean } = {},
) {
  const box = await mail.addMailbox({ email: `warm${(count += 1)}@ours.test`, password: 'secret', ...server });
  const id = await createMailbox(at.deps, tenant.organizationId, box.email, box, {
    ...ALWAYS,
    warmup: at.deps.clock.now(),
    ...fields,
  });
  await at.deps
    .db('warmup_standings')
    .insert({ mailbox_id: id, organization_id: tenant.organizationId, planned_day: utcDay(Date.now()) });
  return { id, box };
}

/** Creates a due email between two mailboxes. */
async function due(tenant: Tenant, from: string, to: string, fields: Record<string, unknown> = {}): Promise<string> {
  const id = newId();
  const now = world.deps.clock.now();
  await world.deps.db('warmup_mails').insert({
    id,
    organization_id: tenant.organizationId,
    mailbox_id: from,
    partner_id: to,
    slot_at: now,
    slot_day: utcDay(now.getTime()),
    created_at: now,
    ...fields,
  });
  return id;
}

const mailRow = (id: string) => world.deps.db('warmup_mails').where({ id }).first();
const eventTypes = async (tenant: Tenant) =>
  (await world.deps.db('domain_events').where({ organization_id: tenant.organizationId }).orderBy('id')).map(
    ({ type }) => type as string,
  );
const deliver = async (tenant: Tenant, id: string) =>
  deliverWarmup(world.system(tenant.organizationId), smtp, await mailRow(id));

test('a day is planned within hours, cap and gap, beside the slots of campaigns, by the rules of routing', async (t) => {
  const clock = new ManualClock(new Date('2026-05-04T00:00:00Z'));
  const played = await createWorld({ clock });
  t.teardown(() => played.close());
  const tenant = await played.tenant();
  const { db } = played.deps;
  const ids: string[] = [];
  for (let i = 0; i < 12; i += 1) {
    const email = `a${i}@${i < 2 ? 'shut.test' : 'open.test'}`;
    ids.push(
      await createMailbox(
        played.deps,
        tenant.organizationId,
        email,
        { smtp: SERVER, imap: SERVER },
        {
          warmup: new Date(clock.now().getTime() - 30 * DAY_MS),
          min_wait_time: 600,
          campaign_limit: 30,
          warmup_max: 20,
          warmup_days: 31,
          warmup_start_time: '09:00',
          warmup_end_time: '17:00',
        },
      ),
    );
    await db('warmup_standings').insert({ mailbox_id: ids[i], organization_id: tenant.organizationId });
  }
  await db('warmup_rules').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    name: 'shut',
    sender_match_type: 'any',
    recipient_match_type: 'domain',
    recipient_match_value: 'shut.test',
    weight: 0,
    created_at: clock.now(),
    updated_at: clock.now(),
  });
  const { campaignId, stepIds } = await createCampaign(played.deps, tenant.organizationId, [{ subject: 'Hi' }]);
  const [enrollment] = await enroll(played.deps, tenant.organizationId, campaignId, [
    await createContact(db, clock.now(), tenant.organizationId),
  ]);
  const noon = new Date('2026-05-04T12:00:00Z');
  await db('sends').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    campaign_id: campaignId,
    enrollment_id: enrollment,
    step_id: stepIds[0],
    mailbox_id: ids[5],
    state: 'reserved',
    slot_at: noon,
    slot_day: '2026-05-04',
    recipient: '',
    created_at: noon,
    updated_at: noon,
  });
  t.is(await planDay(played.system(tenant.organizationId)), 12);
  t.is(await planDay(played.system(tenant.organizationId)), 0);
  const mails = await db('warmup_mails').orderBy('slot_at');
  t.true(mails.length > 100, String(mails.length));
  for (const id of ids) {
    const own = mails.filter(({ mailbox_id: from }) => from === id);
    t.true(own.length <= 15);
    const times = [...own.map(({ slot_at: at }) => at.getTime()), ...(id === ids[5] ? [noon.getTime()] : [])].sort(
      (a, b) => a - b,
    );
    for (const [index, at] of times.entries()) if (index > 0) t.true(at - times[index - 1]! >= 600_000);
    for (const { slot_at: at } of own)
      t.true(at >= new Date('2026-05-04T09:00:00Z') && at < new Date('2026-05-04T17:00:00Z'));
    t.true(own.every(({ partner_id: to }) => to !== id && to !== ids[0] && to !== ids[1]));
    const counter = await db('daily_counters').where({ scope_id: id, scope: 'mailbox' }).first();
    t.is(counter?.count ?? 0, own.length);
  }
  // Saturday is not a sending day.
  clock.set(new Date('2026-05-09T06:00:00Z'));
  await planDay(played.system(tenant.organizationId));
  t.is((await db('warmup_mails').where('slot_at', '>', new Date('2026-05-05'))).length, 0);
});

test('emails are exchanged over SMTP and IMAP: read, replied to, and no message of the inbox', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  const sync = await startSync(world.deps, { sweepMs: 100 });
  t.teardown(() => sync.stop());
  const first = await due(tenant, ada.id, bob.id);
  const report = await advanceWarmup(world.system(tenant.organizationId), smtp, ada.id);
  t.is(report.kind, 'wait');
  t.like(await mailRow(first), { state: 'sent' });
  await eventually(async () => (await mailRow(first)).landed === 'inbox');
  await eventually(async () => bob.box.messages('INBOX').every(({ flags }) => flags.includes('\\Seen')));

  const reply = await eventually(async () => world.deps.db('warmup_mails').where({ answers: first }).first());
  t.like(reply, { mailbox_id: bob.id, partner_id: ada.id, state: 'reserved' });
  t.true(reply.slot_at.getTime() >= reply.created_at.getTime() + 3 * MINUTE_MS);
  await world.deps
    .db('warmup_mails')
    .where({ id: reply.id })
    .update({ slot_at: new Date(), slot_day: utcDay(Date.now()) });
  await deliver(tenant, reply.id);
  await eventually(async () => (await mailRow(reply.id)).landed === 'inbox');
  const [sent, answer] = mail.messages.filter(({ envelope }) =>
    [ada.box.email, bob.box.email].includes(envelope.to[0]!),
  );
  const parsed = await answer!.parsed();
  t.is(parsed.inReplyTo, (await sent!.parsed()).messageId);
  t.regex(parsed.subject!, /^Re: /);
  // The reply gets no answer of its own, and no part of the exchange is in the workspace's inbox.
  t.is((await world.deps.db('warmup_mails').where({ organization_id: tenant.organizationId })).length, 2);
  t.deepEqual(await world.deps.db('inbound_messages').where({ organization_id: tenant.organizationId }), []);
  const types = await eventTypes(tenant);
  t.is(types.filter((type) => type === 'warmup.email_sent').length, 2);
  t.false(types.some((type) => type.startsWith('inbox.') || type.startsWith('campaign.')));
});

test('an email whose answer was lost is never sent again; that it has landed settles it', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  mail.script(bob.box.email, { kind: 'drop' });
  const id = await due(tenant, ada.id, bob.id);
  await deliver(tenant, id);
  t.like(await mailRow(id), { state: 'uncertain' });
  await advanceWarmup(world.system(tenant.organizationId), smtp, ada.id);
  const taken = () => mail.messages.filter(({ envelope }) => envelope.to[0] === bob.box.email);
  t.is(taken().length, 1);
  await recordWarmup(world.system(tenant.organizationId), bob, taken()[0]!.raw, {
    folder: 'INBOX',
    uidValidity: 1,
    uid: 1,
    receivedAt: new Date(),
  });
  t.like(await mailRow(id), { state: 'sent', landed: 'inbox' });

  const old = new Date(Date.now() - 10 * MINUTE_MS);
  const begun = await due(tenant, ada.id, bob.id, {
    state: 'sending',
    claimed_at: old,
    claim_token: newId(),
    handover: 'begun',
  });
  const pending = await due(tenant, ada.id, bob.id, {
    state: 'sending',
    claimed_at: old,
    claim_token: newId(),
    handover: 'pending',
  });
  await deliver(tenant, begun);
  await deliver(tenant, pending);
  t.like(await mailRow(begun), { state: 'uncertain' });
  t.like(await mailRow(pending), { state: 'reserved' });
});

test('that an email was taken is stored once the database is back', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  const id = await due(tenant, ada.id, bob.id);
  await cutConnectionOnce(world.deps.db, {
    table: 'warmup_mails',
    before: 'update',
    where: `new.id = '${id}' and new.state = 'sent'`,
  });
  await deliver(tenant, id);
  t.like(await mailRow(id), { state: 'sent' });
  t.is(mail.messages.filter(({ envelope }) => envelope.to[0] === bob.box.email).length, 1);
});

test('an email whose worker died is settled though its mailbox was stopped or paused meanwhile', async (t) => {
  const tenant = await world.tenant();
  const { db } = world.deps;
  const ctx = world.system(tenant.organizationId);
  const partner = await warmed(world, tenant);
  for (const away of [{ warmup: null }, { warmup_paused_at: new Date() }]) {
    const { id } = await warmed(world, tenant, away);
    const leave = async (handover: 'pending' | 'begun', ageMs: number) => {
      const claimed = { state: 'sending', claim_token: newId(), claimed_at: new Date(Date.now() - ageMs), handover };
      await db('daily_counters')
        .insert({
          organization_id: tenant.organizationId,
          scope: 'mailbox',
          scope_id: id,
          day: utcDay(Date.now()),
          count: 1,
        })
        .onConflict()
        .ignore();
      return due(tenant, id, partner.id, claimed);
    };
    const under = await leave('pending', 0);
    const missing = async () => {
      const looked = await reconciledFamilies(world.deps)
        .find(({ contract }) => contract.kind === 'warmup')!
        .mustBeOpen.only(world.deps.db, [id]);
      return looked.length;
    };
    const waits = await advanceWarmup(ctx, smtp, id);
    t.true(waits.kind === 'wait' && waits.wakeAt! > Date.now(), 'its worker may be alive');
    t.is(await missing(), 1);
    await db('warmup_mails')
      .where({ id: under })
      .update({ claimed_at: new Date(Date.now() - 10 * MINUTE_MS) });
    const over = await advanceWarmup(ctx, smtp, id);
    t.deepEqual(over.kind === 'wait' ? over.wakeAt : over.why, 'warmup' in away ? 'warmup is off' : null);
    t.like(await mailRow(under), { state: 'failed', error: 'not_warming' });
    t.is((await db('daily_counters').where({ scope_id: id }).first()).count, 0, 'its place is free again');
    const returned = await leave('pending', 10 * MINUTE_MS);
    await db('warmup_mails')
      .where({ id: returned })
      .update({
        state: 'reserved',
        claim_token: null,
        claimed_at: null,
        handover: null,
        slot_at: new Date(Date.now() + 5 * MINUTE_MS),
      });
    await advanceWarmup(ctx, smtp, id);
    t.like(await mailRow(returned), { state: 'failed', error: 'not_warming' }, 'its worker died after the return');
    const begun = await leave('begun', 10 * MINUTE_MS);
    await advanceWarmup(ctx, smtp, id);
    t.like(await mailRow(begun), { state: 'uncertain' });
    t.is(await missing(), 'warmup' in away ? 0 : 1);
  }
});

test('an email whose worker died is settled though its mailbox is held or inactive, and is never sent twice', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const partner = await warmed(world, tenant);
  for (const rest of [{ hold_code: 'auth_failed' }, { status: 'inactive' }]) {
    const { id } = await warmed(world, tenant, rest);
    // An older email without a claim does not hide the claimed one.
    const waiting = await due(tenant, id, partner.id, { slot_at: new Date(Date.now() - 20 * MINUTE_MS) });
    const claimedAt = new Date(Date.now() - 10 * MINUTE_MS);
    const claimed = { state: 'sending', claim_token: newId(), claimed_at: claimedAt, handover: 'begun' };
    const left = await due(tenant, id, partner.id, claimed);
    const rests = await advanceWarmup(ctx, smtp, id);
    t.true(rests.kind === 'wait' && rests.why === 'the mailbox rests', JSON.stringify(rests));
    t.like(await mailRow(left), { state: 'uncertain', error: 'worker_died' });
    t.like(await mailRow(waiting), { state: 'reserved' }, 'it keeps its slot');
  }
});

test('a rule of weight 0 keeps planned emails and replies from leaving, and so does a partner who has left', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  const first = await due(tenant, ada.id, bob.id);
  await deliver(tenant, first);
  await world.deps.db('warmup_rules').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    name: 'none',
    sender_match_type: 'any',
    recipient_match_type: 'tld',
    recipient_match_value: 'test',
    weight: 0,
    created_at: new Date(),
    updated_at: new Date(),
  });
  const { raw } = mail.messages.find(({ envelope }) => envelope.to[0] === bob.box.email)!;
  await recordWarmup(world.system(tenant.organizationId), bob, raw, {
    folder: 'INBOX',
    uidValidity: 1,
    uid: 1,
    receivedAt: new Date(),
  });
  t.is(await world.deps.db('warmup_mails').where({ answers: first }).first(), undefined);
  const excluded = await due(tenant, ada.id, bob.id);
  await deliver(tenant, excluded);
  t.like(await mailRow(excluded), { state: 'failed', error: 'excluded' });
  await world.deps.db('warmup_rules').where({ organization_id: tenant.organizationId }).delete();
  await world.deps.db('mailboxes').where({ id: bob.id }).update({ warmup_paused_at: new Date() });
  const left = await due(tenant, ada.id, bob.id);
  await deliver(tenant, left);
  t.like(await mailRow(left), { state: 'failed', error: 'partner_left' });
});

test('an email keeps the gap to campaign emails that have just left, and the cap of the day', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await warmed(world, tenant, { min_wait_time: 60 }), await warmed(world, tenant)];
  const { campaignId, stepIds } = await createCampaign(world.deps, tenant.organizationId, [{ subject: 'Hi' }]);
  const [enrollment] = await enroll(world.deps, tenant.organizationId, campaignId, [
    await createContact(world.deps.db, new Date(), tenant.organizationId),
  ]);
  const now = new Date();
  await world.deps.db('sends').insert({
    id: newId(),
    organization_id: tenant.organizationId,
    campaign_id: campaignId,
    enrollment_id: enrollment,
    step_id: stepIds[0],
    mailbox_id: ada.id,
    state: 'sent',
    slot_at: now,
    sent_at: now,
    slot_day: utcDay(now.getTime()),
    recipient: '',
    created_at: now,
    updated_at: now,
  });
  const id = await due(tenant, ada.id, bob.id);
  await deliver(tenant, id);
  const moved = await mailRow(id);
  t.true(moved.state === 'reserved' ? moved.slot_at.getTime() >= now.getTime() + 60_000 : moved.error === 'no_room');
  await world.deps.db('mailboxes').where({ id: ada.id }).update({ min_wait_time: 0, campaign_limit: 3 });
  await world.deps.db('daily_counters').insert({
    organization_id: tenant.organizationId,
    scope: 'mailbox',
    scope_id: ada.id,
    day: utcDay(Date.now()),
    count: 4,
  });
  const over = await due(tenant, ada.id, bob.id);
  await deliver(tenant, over);
  t.like(await mailRow(over), { state: 'failed', error: 'no_room' });
});

test('health follows from where emails land; it throttles campaigns, and quarantine is over in time', async (t) => {
  t.deepEqual(
    [
      [0, 3],
      [3, 3],
      [1, 20],
      [3, 20],
      [6, 20],
      [10, 20],
      [14, 20],
    ].map(([spam, all]) => healthOf(spam!, all!).state),
    ['healthy', 'healthy', 'healthy', 'watch', 'throttled', 'quarantined', 'blocked'],
  );
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const [ada, bob] = [await warmed(world, tenant, { campaign_limit: 40 }), await warmed(world, tenant)];
  const land = (landed: string) => due(tenant, ada.id, bob.id, { state: 'sent', landed, landed_at: new Date() });
  const cap = async () =>
    (await readSeats(singleStatement(ctx), { id: newId() }, [ada.id], { day: '2026-05-04', from: 0, until: 0 }))[0]!
      .cap;
  const judge = () => transact(ctx, (tx) => evaluateHealth(tx, ada.id));
  for (let i = 0; i < 6; i += 1) await land('inbox');
  for (let i = 0; i < 3; i += 1) await land('spam');
  await judge();
  t.is(await cap(), 20);
  for (let i = 0; i < 4; i += 1) await land('spam');
  await judge();
  t.is(await cap(), 10);
  const standing = () => call(world, 'GET', `/v1/emails/${ada.id}/warmup`, { token: tenant.apiKey });
  t.like((await standing()).body, {
    status: 'blocked',
    health_state: 'quarantined',
    daily_target: 0,
    blocked_reason: '7 of 13 warmup emails landed in spam',
  });
  const types = await eventTypes(tenant);
  t.deepEqual(
    types.filter((type) => type.startsWith('warmup.')),
    ['warmup.health_changed', 'warmup.health_changed', 'warmup.quarantined'],
  );
  await world.deps
    .db('warmup_standings')
    .where({ mailbox_id: ada.id })
    .update({ blocked_until: new Date(Date.now() - 1000) });
  await planDay(ctx);
  t.like((await standing()).body, { health_state: 'throttled' });

  const spam = await due(tenant, bob.id, ada.id);
  await deliver(tenant, spam);
  const { raw } = mail.messages.find(({ envelope }) => envelope.to[0] === ada.box.email)!;
  await recordWarmup(ctx, ada, raw, { folder: 'Junk', uidValidity: 1, uid: 1, receivedAt: new Date() });
  t.like(await mailRow(spam), { landed: 'spam' });
  await recordWarmup(ctx, ada, raw, { folder: 'INBOX', uidValidity: 1, uid: 9, receivedAt: new Date() });
  t.like(await mailRow(spam), { landed: 'spam' });
  t.true((await eventTypes(tenant)).includes('warmup.placement_in_spam'));
});

test('an email that lands in Junk is taken out of it and read, over IMAP', async (t) => {
  const tenant = await world.tenant();
  const ada = await warmed(world, tenant);
  const bob = await warmed(world, tenant, {}, { spam: (raw) => raw.includes(ada.box.email) });
  const sync = await startSync(world.deps, { sweepMs: 100 });
  t.teardown(() => sync.stop());
  const id = await due(tenant, ada.id, bob.id);
  const other = await world.tenant();
  bob.box.deliver('From: eve@else.test\r\nSubject: spam\r\nMessage-ID: <spam@else.test>\r\n\r\nBuy!\r\n', 'Junk');
  await deliver(tenant, id);
  await eventually(async () => bob.box.messages('INBOX').some(({ flags }) => flags.includes('\\Seen')));
  t.like(await mailRow(id), { state: 'sent', landed: 'spam' });
  // Emails that are not warmup emails are neither changed nor moved.
  await eventually(async () => bob.box.messages('Junk').length === 1);
  t.deepEqual(
    bob.box.messages('Junk').map(({ flags, raw }) => [flags.includes('\\Seen'), raw.includes('Buy!')]),
    [[false, true]],
  );
  t.true((await eventTypes(tenant)).includes('warmup.placement_in_spam'));
  t.deepEqual(await eventTypes(other), []);
});

test('reports about a warmup email are its own: it came back, and no message of the inbox knows of it', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  const sync = await startSync(world.deps, { sweepMs: 100 });
  t.teardown(() => sync.stop());
  for (let landed = 0; landed < 7; landed += 1)
    await due(tenant, ada.id, bob.id, { state: 'sent', landed: 'inbox', landed_at: new Date() });
  const about = async () => {
    const id = await due(tenant, ada.id, bob.id, { state: 'sent', message_id: `<${newId()}@ours.test>` });
    return { id, from: ada.box.email, to: bob.box.email, messageId: (await mailRow(id)).message_id as string };
  };
  const [back, away, forged] = [await about(), await about(), await about()];
  ada.box.deliver(bounceOf(forged, '5.1.1', 'somebody@else.test'));
  ada.box.deliver(awayMessage(away, 'I am away until Monday.'));
  ada.box.deliver(bounceOf(back, '5.7.1'));
  await eventually(async () => (await mailRow(back.id)).landed === 'bounced');
  t.like(await mailRow(back.id), { state: 'sent', error: '5.7.1' });
  t.like(await mailRow(forged.id), { landed: null });
  t.like(await mailRow(away.id), { landed: null });
  t.deepEqual(await world.deps.db('inbound_messages').where({ organization_id: tenant.organizationId }), []);
  t.false((await eventTypes(tenant)).some((type) => /bounce|inbox|campaign/.test(type)));
  for (let landed = 0; landed < 2; landed += 1)
    await due(tenant, ada.id, bob.id, { state: 'sent', landed: 'spam', landed_at: new Date() });
  await transact(ctx, (tx) => evaluateHealth(tx, ada.id));
  t.like((await call(world, 'GET', `/v1/emails/${ada.id}/warmup`, { token: tenant.apiKey })).body, {
    health_state: 'throttled',
    blocked_reason: '2 of 10 warmup emails landed in spam, 1 came back',
  });

  // A bounce of any other email belongs to the inbox.
  ada.box.deliver(bounceOf({ ...back, messageId: '<other@ours.test>' }, '5.1.1'));
  await eventually(
    async () =>
      (await world.deps.db('inbound_messages').where({ organization_id: tenant.organizationId })).length === 1,
  );
});

test('workers that claim at once, and one that died, send an email once', async (t) => {
  const tenant = await world.tenant();
  const ctx = world.system(tenant.organizationId);
  const [ada, bob] = [await warmed(world, tenant), await warmed(world, tenant)];
  const taken = () => mail.messages.filter(({ envelope }) => envelope.to[0] === bob.box.email).length;
  const id = await due(tenant, ada.id, bob.id);
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimWarmup(ctx, id)));
  t.is(claims.filter(({ kind }) => kind === 'claimed').length, 1);
  // The worker was killed before it sent the end of the message: another worker sends the email, and the first one must
  // not.
  const first = claims.find(({ kind }) => kind === 'claimed') as Extract<(typeof claims)[number], { kind: 'claimed' }>;
  t.true((await deliver(tenant, id))!.retryInMs > 0);
  await world.deps
    .db('warmup_mails')
    .where({ id })
    .update({ claimed_at: new Date(Date.now() - DAY_MS) });
  await deliver(tenant, id);
  t.like(await mailRow(id), { state: 'reserved', handover: null });
  const late = submitWarmup(
    ctx,
    smtp,
    { ...mail.smtp, username: ada.box.email, password: 'secret', security: 'none' },
    id,
    first,
    performance.now() + 10_000,
  );
  t.is((await late).kind, 'withheld');
  await Promise.all(Array.from({ length: 4 }, () => deliver(tenant, id)));
  t.like(await mailRow(id), { state: 'sent' });
  t.is(taken(), 1);

  // The worker was killed after it sent the end of the message. An email that may have been sent is never sent again.
  const begun = await due(tenant, ada.id, bob.id);
  await claimWarmup(ctx, begun);
  await world.deps
    .db('warmup_mails')
    .where({ id: begun })
    .update({ handover: 'begun', claimed_at: new Date(Date.now() - DAY_MS) });
  for (let turns = 0; turns < 3; turns += 1) await advanceWarmup(ctx, smtp, ada.id);
  t.like(await mailRow(begun), { state: 'uncertain', error: 'worker_died' });
  t.is(taken(), 1);
});

test('a started warmup runs: its workflow sends at the time, waits while it is paused, and ends when it is stopped', async (t) => {
  const played = await createWorld({ env: { WORKER_ROLES: 'temporal,relay' } });
  const engine = await startEngine(played);
  t.teardown(async () => {
    await engine.stop();
    await played.close();
  });
  const tenant = await played.tenant();
  const act = (id: string, action: string) =>
    call(played, 'POST', `/v1/emails/${id}/warmup/${action}`, { token: tenant.apiKey });
  const [ada, bob] = [await warmed(played, tenant), await warmed(played, tenant)];
  await played.deps.db('mailboxes').where({ id: ada.id }).update({ warmup: null });
  const now = new Date();
  const id = newId();
  await played.deps.db('warmup_mails').insert({
    id,
    organization_id: tenant.organizationId,
    mailbox_id: ada.id,
    partner_id: bob.id,
    slot_at: now,
    slot_day: utcDay(now.getTime()),
    created_at: now,
  });
  assertStatus(t, await act(ada.id, 'start'), 200);
  await eventually(async () => (await played.deps.db('warmup_mails').where({ id }).first()).state === 'sent');
  const run = engine.temporal.workflow.getHandle(`warmup/${ada.id}`);
  await act(ada.id, 'pause');
  t.is((await played.deps.db('warmup_mails').where({ mailbox_id: ada.id, state: 'reserved' })).length, 0);
  await act(ada.id, 'stop');
  t.is(await run.result(), 'warmup is off');
});
