import test from 'ava';
import { createSentLead, type SentLead } from '../../../test/harness/standing-leads.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createCampaign, createMailbox, enroll, type Tenant } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { recordSendUnsubscribe } from './effects.ts';
import { awayMessage, bounceOf, complaintAbout, replyTo, storeSentContent } from '../../../test/harness/inbound.ts';
import { recordInbound, recordUnreadable } from './record-inbound.ts';
import { newId } from '../../../lib/ids.ts';
import { externalText } from '../../platform/external-text.ts';

const NOW = new Date('2026-11-20T08:00:00Z');
const FROM = 'sam@ours.test';
let world: World;

test.before(async () => {
  world = await createWorld({ clock: new ManualClock(NOW) });
});
test.after.always(() => world.close());

interface Scene extends SentLead {
  tenant: Tenant;
  mailbox: { id: string; email: string };
  campaignId: string;
}

/** Creates a workspace with one contact who has been sent the first email of a campaign. */
async function scene(campaign: Record<string, unknown> = {}, contact: Record<string, unknown> = {}): Promise<Scene> {
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const mailboxId = await createMailbox(world.deps, org, FROM, {
    smtp: { host: '127.0.0.1', port: 25 },
    imap: { host: '127.0.0.1', port: 143 },
  });
  await world.deps.db('mailbox_sync').where({ mailbox_id: mailboxId }).update({ uid_validity: 1 });
  const { campaignId, stepIds } = await createCampaign(
    world.deps,
    org,
    [{ subject: 'Hello' }, { subject: 'Again' }],
    campaign,
  );
  const mailbox = { id: mailboxId, email: FROM };
  const lead = await createSentLead(world.deps, org, { campaignId, stepId: stepIds[0]!, mailbox, contact });
  return { ...lead, tenant, mailbox, campaignId };
}

let uid = 0;
const arrive = (
  s: Scene,
  raw: Buffer,
  place: { uid?: number; uidValidity?: number; mailbox?: { id: string; email: string } } = {},
) =>
  recordInbound(world.system(s.tenant.organizationId), place.mailbox ?? s.mailbox, raw, {
    folder: 'INBOX',
    uidValidity: place.uidValidity ?? 1,
    uid: place.uid ?? (uid += 1),
    receivedAt: NOW,
  });

const readRow = (table: string, id: string) => world.deps.db(table).where({ id }).first();
const readEvents = async (s: Scene) =>
  (await world.deps.db('domain_events').where({ organization_id: s.tenant.organizationId }).orderBy('id')).map(
    ({ type }) => type as string,
  );
const readSuppressions = (s: Scene) =>
  world.deps.db('suppressions').where({ organization_id: s.tenant.organizationId });
const settings = (s: Scene, block: Record<string, unknown>) =>
  world.deps
    .db('outreach_settings')
    .insert({ organization_id: s.tenant.organizationId, settings: JSON.stringify(block), updated_at: NOW });

test("a human reply is recorded with its thread and ends the contact's way where stop_on_reply is on", async (t) => {
  const s = await scene();
  t.is(await arrive(s, replyTo(s.original, 'Sounds great, let us talk on Monday!')), 'reply');
  const inbound = await world.deps.db('inbound_messages').where({ mailbox_id: s.mailbox.id }).first();
  t.like(inbound, {
    kind: 'reply',
    intent: 'positive',
    send_id: s.sendId,
    campaign_id: s.campaignId,
    contact_id: s.contactId,
    thread_id: s.original.messageId,
  });
  t.deepEqual((await readRow('sends', s.sendId)).replied_at, NOW);
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'replied');
  t.deepEqual(await readEvents(s), [
    'campaign.reply_received',
    'inbox.reply_classified',
    'inbox.email_received',
    'inbox.reply_received',
  ]);
  t.is((await world.deps.db('engagement_events').where({ send_id: s.sendId })).length, 1);
  t.is((await readSuppressions(s)).length, 0);
});

test('a reply stops that campaign only, and none where stop_on_reply is off', async (t) => {
  const s = await scene({ stop_on_reply: false });
  const other = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Other' }]);
  const [elsewhere] = await enroll(world.deps, s.tenant.organizationId, other.campaignId, [s.contactId]);
  await arrive(s, replyTo(s.original, 'Who are you?'));
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'active');
  t.is((await readRow('enrollments', elsewhere!)).state, 'pending');
  t.truthy((await readRow('sends', s.sendId)).replied_at);
});

test('a lead that had come to the end of its way when it replied is a lead that replied', async (t) => {
  const s = await scene();
  const finished_at = new Date(NOW.getTime() - 60_000);
  await world.deps.db('enrollments').where({ id: s.enrollmentId }).update({ state: 'completed', finished_at });
  await arrive(s, replyTo(s.original, 'Sounds great, let us talk on Monday!'));
  t.like(await readRow('enrollments', s.enrollmentId), { state: 'replied', finished_at, last_activity_at: NOW });
});

test('auto_pause_on_negative stops a contact who refuses even without stop_on_reply', async (t) => {
  const s = await scene({ stop_on_reply: false });
  await settings(s, { reply_intent: { auto_pause_on_negative: true } });
  await arrive(s, replyTo(s.original, 'Not interested, sorry.'));
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'replied');
});

test('a reply that asks to be left out unsubscribes in every campaign, once', async (t) => {
  const s = await scene();
  const other = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Other' }]);
  const [elsewhere] = await enroll(world.deps, s.tenant.organizationId, other.campaignId, [s.contactId]);
  await arrive(s, replyTo(s.original, 'Please unsubscribe me.'));
  await arrive(s, replyTo(s.original, 'I said: please unsubscribe me!'));
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'unsubscribed');
  t.is((await readRow('enrollments', elsewhere!)).state, 'unsubscribed');
  t.false((await readRow('contacts', s.contactId)).subscribed);
  t.like(await readSuppressions(s), [
    { email: s.original.to, source: 'unsubscribe', campaign_id: s.campaignId },
  ] as never);
  const told = await world.deps
    .db('domain_events')
    .where({ organization_id: s.tenant.organizationId, type: 'campaign.unsubscribed' });
  t.is(told.length, 1);
  t.is(told[0].data.source, 'reply');
});

test('an opt-out after the contact was subscribed anew counts again', async (t) => {
  const s = await scene();
  const optOut = () =>
    transact(world.system(s.tenant.organizationId), (tx) =>
      recordSendUnsubscribe(tx, { sendId: s.sendId, email: s.original.to }, 'link'),
    );
  await optOut();
  await optOut();
  t.is((await readEvents(s)).length, 1);
  await world.deps.db('suppressions').where({ organization_id: s.tenant.organizationId }).delete();
  await world.deps.db('contacts').where({ id: s.contactId }).update({ subscribed: true });
  await optOut();
  t.is((await readEvents(s)).length, 2);
  t.is((await readSuppressions(s)).length, 1);
});

test('a hard bounce suppresses the address and ends every campaign of the contact; its repetition changes nothing', async (t) => {
  const s = await scene();
  const other = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Other' }]);
  const [elsewhere] = await enroll(world.deps, s.tenant.organizationId, other.campaignId, [s.contactId]);
  t.is(await arrive(s, bounceOf(s.original, '5.1.1')), 'bounce');
  await arrive(s, bounceOf(s.original, '5.1.1'));
  t.like(await readRow('sends', s.sendId), { state: 'bounced', bounced_at: NOW });
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'bounced');
  t.is((await readRow('enrollments', elsewhere!)).state, 'bounced');
  t.like(await readSuppressions(s), [{ email: s.original.to, source: 'bounce' }] as never);
  const events = await readEvents(s);
  t.is(events.filter((type) => type === 'campaign.email_bounced').length, 1);
  t.is(events.filter((type) => type === 'deliverability.bounce').length, 1);
});

test('a soft bounce is only recorded; a hard one after it counts', async (t) => {
  const s = await scene();
  await arrive(s, bounceOf(s.original, '4.2.2'));
  t.is((await readRow('sends', s.sendId)).state, 'sent');
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'active');
  t.is((await readSuppressions(s)).length, 0);
  await arrive(s, bounceOf(s.original, '5.1.1'));
  t.is((await readRow('sends', s.sendId)).state, 'bounced');
});

test("a report about another recipient than the email's is not believed", async (t) => {
  const s = await scene();
  t.is(await arrive(s, bounceOf(s.original, '5.1.1', 'somebody@else.test')), 'bounce');
  t.is((await readRow('sends', s.sendId)).state, 'sent');
  t.is((await readSuppressions(s)).length, 0);
});

test('an email of another organization is not matched', async (t) => {
  const s = await scene();
  const stranger = await scene();
  t.is(await arrive(stranger, bounceOf({ ...s.original, from: FROM }, '5.1.1')), 'bounce');
  t.is((await readRow('sends', s.sendId)).state, 'sent');
  t.is(await arrive(stranger, replyTo(s.original, 'Hi')), 'other');
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'active');
});

test('a bounce that is faster than the answer to DATA is kept while the send is being sent', async (t) => {
  const s = await scene();
  await world.deps.db('sends').where({ id: s.sendId }).update({ state: 'sending', sent_at: null });
  await arrive(s, bounceOf(s.original, '5.1.1'));
  t.like(await readRow('sends', s.sendId), { state: 'sending', bounced_at: NOW });
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'bounced');
});

test('switched off, the bounce pipeline suppresses no address', async (t) => {
  const s = await scene();
  await settings(s, { bounce_pipeline: { enabled: false } });
  await arrive(s, bounceOf(s.original, '5.1.1'));
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'bounced');
  t.is((await readSuppressions(s)).length, 0);
  t.true((await readRow('contacts', s.contactId)).subscribed);
});

test('a complaint suppresses and unsubscribes', async (t) => {
  const s = await scene();
  t.is(await arrive(s, complaintAbout(s.original)), 'complaint');
  t.deepEqual((await readRow('sends', s.sendId)).complained_at, NOW);
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'unsubscribed');
  t.like(await readSuppressions(s), [{ source: 'complaint' }] as never);
  t.true((await readEvents(s)).includes('deliverability.complaint'));
});

test('an away message holds the contact in every campaign until a working day after the return, and is no reply', async (t) => {
  const s = await scene({}, { custom_fields: { timezone: 'Europe/Budapest' } });
  const other = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Other' }]);
  const [elsewhere] = await enroll(world.deps, s.tenant.organizationId, other.campaignId, [s.contactId]);
  const manual = await createCampaign(world.deps, s.tenant.organizationId, [{ subject: 'Third' }]);
  const [held] = await enroll(world.deps, s.tenant.organizationId, manual.campaignId, [s.contactId]);
  await world.deps.db('enrollments').where({ id: held }).update({ hold_since: NOW, hold_source: 'manual' });
  t.is(
    await arrive(s, awayMessage(s.original, 'I am out of office and will be back on 4 December 2026.')),
    'out_of_office',
  );
  for (const id of [s.enrollmentId, elsewhere!]) {
    // The return is on Friday the 4th, so the next working day is Monday the 7th, from midnight in Budapest.
    t.like(await readRow('enrollments', id), {
      hold_source: 'out_of_office',
      hold_until: new Date('2026-12-06T23:00:00Z'),
    });
  }
  t.like(await readRow('enrollments', held!), { hold_source: 'manual', hold_until: null });
  t.is((await readRow('sends', s.sendId)).replied_at, null);
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'active');
  t.deepEqual(await readEvents(s), ['inbox.email_received']);
  const nudged = await world.deps
    .db('outbox')
    .where({ kind: 'signal' })
    .where('workflow_id', 'like', `%${s.contactId}`);
  t.deepEqual(
    nudged.map(({ workflow_id }) => workflow_id),
    [`enrollment/${s.campaignId}/${s.contactId}`],
  );
});

test('an away message without a date holds for out_of_office_hold_days, or not at all', async (t) => {
  const s = await scene();
  await settings(s, { reply_intent: { out_of_office_hold_days: 3 } });
  await arrive(s, awayMessage(s.original, 'I am out of office.'));
  t.deepEqual((await readRow('enrollments', s.enrollmentId)).hold_until, new Date('2026-11-23T08:00:00Z'));
  const off = await scene();
  await settings(off, { reply_intent: { hold_on_out_of_office: false } });
  await arrive(off, awayMessage(off.original, 'I am out of office.'));
  t.is((await readRow('enrollments', off.enrollmentId)).hold_since, null);
});

test('the same message under a new UIDVALIDITY, or in another mailbox, has its effects once', async (t) => {
  const s = await scene();
  const raw = replyTo(s.original, 'Hello', { messageId: '<once@lead.test>' });
  t.is(await arrive(s, raw, { uid: 7 }), 'reply');
  t.is(await arrive(s, raw, { uid: 7 }), null);
  t.is(await arrive(s, raw, { uid: 1, uidValidity: 2 }), null);
  const second = await createMailbox(world.deps, s.tenant.organizationId, 'team@ours.test', {
    smtp: { host: '127.0.0.1', port: 25 },
  });
  t.is(await arrive(s, raw, { mailbox: { id: second, email: 'team@ours.test' } }), 'reply');
  t.is((await readEvents(s)).filter((type) => type === 'campaign.reply_received').length, 1);
  t.is((await world.deps.db('inbound_messages').where({ organization_id: s.tenant.organizationId })).length, 2);
});

test('copies of one message that arrive at the same moment have their effects once', async (t) => {
  const s = await scene();
  const raw = replyTo(s.original, 'Hello');
  await Promise.all([1, 2, 3, 4].map((n) => arrive(s, raw, { uid: 100 + n })));
  t.is((await readEvents(s)).filter((type) => type === 'campaign.reply_received').length, 1);
});

test('mail of colleagues and our own campaign emails are no replies; a lead who is also a mailbox of ours is', async (t) => {
  const s = await scene();
  await createMailbox(world.deps, s.tenant.organizationId, 'boss@ours.test', { smtp: { host: '127.0.0.1', port: 25 } });
  t.is(await arrive(s, replyTo(s.original, 'Nice mail!', { from: 'boss@ours.test' })), 'other');
  t.is(await arrive(s, replyTo(s.original, 'Hello', { messageId: s.original.messageId })), 'other');
  t.is((await readRow('enrollments', s.enrollmentId)).state, 'active');
  await createMailbox(world.deps, s.tenant.organizationId, s.original.to, { smtp: { host: '127.0.0.1', port: 25 } });
  t.is(await arrive(s, replyTo(s.original, 'Hello')), 'reply');
});

test('words PostgreSQL cannot store do not stop a message', async (t) => {
  const s = await scene();
  t.is(await arrive(s, replyTo(s.original, 'zero \0 byte', { subject: 'Re: \0' })), 'reply');
  const { body_plain: body } = await world.deps.db('inbound_messages').where({ mailbox_id: s.mailbox.id }).first();
  t.false(body.includes('\0'));
});

test('the place moves on with the message, never back, and not under another numbering', async (t) => {
  const s = await scene();
  const lastUid = async () =>
    (await world.deps.db('mailbox_sync').where({ mailbox_id: s.mailbox.id }).first()).last_uid;
  await arrive(s, replyTo(s.original, 'a'), { uid: 9 });
  t.is(await lastUid(), 9);
  await arrive(s, replyTo(s.original, 'b'), { uid: 4 });
  t.is(await lastUid(), 9);
  await arrive(s, replyTo(s.original, 'c'), { uid: 50, uidValidity: 2 });
  t.is(await lastUid(), 9);
  await recordUnreadable(
    world.system(s.tenant.organizationId),
    s.mailbox,
    { folder: 'INBOX', uidValidity: 1, uid: 10, receivedAt: NOW },
    12,
    externalText('broken'),
  );
  t.is(await lastUid(), 10);
  t.like(await world.deps.db('inbound_messages').where({ mailbox_id: s.mailbox.id, uid: 10 }).first(), {
    kind: 'other',
    error: externalText('broken'),
  });
});

test('our own footer below an answer is no opt-out, however the mail program quoted it', async (t) => {
  const s = await scene();
  const quoted =
    'Hi Lea, we find every pallet in your warehouse at once.\n\nIf you would rather not hear from me again, reply "unsubscribe" and I will not write any more.';
  const { from, to } = s.original;
  const written = { subject: 'Hello', text: quoted };
  await storeSentContent(world.deps, s.tenant.organizationId, { id: s.sendId, from, to }, written);
  t.is(await arrive(s, replyTo(s.original, `Yes, call me.\n\n${quoted}`)), 'reply');
  t.like(await world.deps.db('inbound_messages').where({ mailbox_id: s.mailbox.id }).first(), { intent: 'positive' });
  t.deepEqual(await readSuppressions(s), []);
  t.like(await readRow('contacts', s.contactId), { subscribed: true });
});

test('a doubtful opt-out stops the sequence for a person to read, and suppresses nothing', async (t) => {
  const s = await scene({ stop_on_reply: false });
  await arrive(s, replyTo(s.original, 'We get a lot of these emails. What is it about?'));
  t.like(await readRow('enrollments', s.enrollmentId), { state: 'replied' });
  t.deepEqual(await readSuppressions(s), []);
  t.like(await readRow('contacts', s.contactId), { subscribed: true });
  const logged = await world.deps
    .db('campaign_logs')
    .where({ campaign_id: s.campaignId, event_type: 'opt_out_doubtful' });
  t.is(logged.length, 1);
});

const named = (from: string, words: string, subject = 'Your offer') =>
  Buffer.from(
    `From: ${from}\r\nTo: ${FROM}\r\nSubject: ${subject}\r\nMessage-ID: <${newId()}@x.test>\r\n\r\n${words}\r\n`,
  );

test('a reply that names no email of ours is known by its sender and the mailbox it came to', async (t) => {
  const s = await scene();
  t.is(await arrive(s, named('stranger@lead.test', 'Please call me.')), 'other');
  const colleague = await createMailbox(world.deps, s.tenant.organizationId, 'ann@ours.test', {
    smtp: { host: '127.0.0.1', port: 25 },
  });
  const elsewhere = { id: colleague, email: 'ann@ours.test' };
  t.is(await arrive(s, named(s.original.to, 'Please call me.'), { mailbox: elsewhere }), 'other');
  t.like(await world.deps.db('enrollments').where({ id: s.enrollmentId }).first(), { state: 'active' });
  t.is(await arrive(s, named(s.original.to, 'Please call me.')), 'reply');
  t.like(await world.deps.db('enrollments').where({ id: s.enrollmentId }).first(), { state: 'replied' });
});

test('a reply to the Message-ID that a relay gave stops the sequence', async (t) => {
  const s = await scene();
  await world.deps.db('sends').where({ id: s.sendId }).update({ assigned_id: '<0100@email.amazonses.com>' });
  const reply = replyTo({ ...s.original, messageId: '<0100@email.amazonses.com>' }, 'Please call me.', {
    from: 'assistant@lead.test',
  });
  t.is(await arrive(s, reply), 'reply');
  t.like(await world.deps.db('enrollments').where({ id: s.enrollmentId }).first(), { state: 'replied' });
});

test('a negative reply stops the person in every campaign, another one in its own, unless the settings say otherwise', async (t) => {
  const after = async (words: string, custom?: object) => {
    const s = await scene();
    const org = s.tenant.organizationId;
    if (custom)
      await world.deps
        .db('outreach_settings')
        .insert({ organization_id: org, settings: JSON.stringify({ custom }), updated_at: NOW });
    const other = await createCampaign(world.deps, org, [{ subject: 'Other' }]);
    const [elsewhere] = await enroll(world.deps, org, other.campaignId, [s.contactId]);
    await arrive(s, replyTo(s.original, words));
    const rows = await world.deps.db('enrollments').whereIn('id', [s.enrollmentId, elsewhere!]);
    return [s.enrollmentId, elsewhere!].map((id) => rows.find((row) => row.id === id).state);
  };
  t.deepEqual(await after('No thanks, we are not interested.'), ['replied', 'replied']);
  t.deepEqual(await after('Sounds great, please call me tomorrow.'), ['replied', 'pending']);
  t.deepEqual(await after('No thanks, we are not interested.', { stop_everywhere_intents: [] }), [
    'replied',
    'pending',
  ]);
  t.deepEqual(await after('Sounds great, please call me.', { stop_everywhere_intents: ['positive'] }), [
    'replied',
    'replied',
  ]);
});
