import test from 'ava';
import { createSentLead } from '../../../test/harness/standing-leads.ts';
import { newId } from '../../../lib/ids.ts';
import { createSend } from '../../../test/harness/inbound.ts';
import { createCampaign, createMailbox, enroll, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const FROM = 'sam@ours.test';
let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Creates a workspace with a contact whose first email was sent. */
async function scene() {
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const mailbox = {
    id: await createMailbox(world.deps, org, FROM),
    email: FROM,
  };
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'Hello' }]);
  const lead = await createSentLead(world.deps, org, {
    campaignId,
    stepId: stepIds[0]!,
    mailbox,
    email: 'lea@lead.test',
  });
  return { ...lead, tenant, campaignId };
}

const report = (tenant: Tenant, body: Record<string, unknown>) =>
  call(world, 'POST', '/v1/deliverability/events', { token: tenant.apiKey, body });
const events = async (tenant: Tenant) =>
  (await world.deps.db('domain_events').where({ organization_id: tenant.organizationId }).orderBy('id')).map(
    ({ type }) => type as string,
  );

test('a reported bounce has the effects of one we see, once per idempotency key', async (t) => {
  const { tenant, sendId, enrollmentId } = await scene();
  const body = {
    event_type: 'bounce',
    recipient_email: 'Lea@Lead.test',
    provider: 'ses',
    reason: '550 no such user',
    idempotency_key: 'e1',
    metadata: { a: 1 },
  };
  const answer = await report(tenant, body);
  t.deepEqual([answer.status, answer.text], [202, '']);
  assertStatus(t, await report(tenant, body), 202);
  t.like(await world.deps.db('sends').where({ id: sendId }).first(), { state: 'bounced' });
  t.is((await world.deps.db('enrollments').where({ id: enrollmentId }).first()).state, 'bounced');
  t.like(await world.deps.db('suppressions').where({ organization_id: tenant.organizationId }), [
    { email: 'lea@lead.test', source: 'bounce' },
  ] as never);
  t.deepEqual(await events(tenant), ['deliverability.bounce', 'campaign.email_bounced']);
  t.is((await world.deps.db('deliverability_events').where({ organization_id: tenant.organizationId })).length, 1);
});

test('a report names its email by our Message-ID or by that of a relay, also after later emails', async (t) => {
  const { db } = world.deps;
  for (const named of ['<own@ours.test>', 'own@ours.test', '<0100-7@us-east-1.amazonses.com>']) {
    const { tenant, sendId, contactId } = await scene();
    const ids = { message_id: '<own@ours.test>', assigned_id: '<0100-7@email.amazonses.com>' };
    await db('sends').where({ id: sendId }).update(ids);
    const { organizationId: org } = tenant;
    const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'Later' }]);
    const [enrollmentId] = (await enroll(world.deps, org, campaignId, [contactId])) as [string];
    const { mailbox_id: mailboxId } = await db('sends').where({ id: sendId }).first();
    const email = { campaignId, enrollmentId, stepId: stepIds[0]!, contactId, mailboxId, recipient: 'lea@lead.test' };
    const later = await createSend(world.deps, org, email);
    const opened = () =>
      db('sends').where({ organization_id: org }).whereNotNull('opened_at').orderBy('id').pluck('id');

    const body = { event_type: 'open', recipient_email: 'lea@lead.test', message_id: named };
    assertStatus(t, await report(tenant, body), 202);
    t.deepEqual(await opened(), [sendId], named);
    assertStatus(t, await report(tenant, { ...body, message_id: '<nobody@knows.test>' }), 202);
    t.deepEqual(await opened(), [sendId, later.id], 'an unknown one counts for the latest email');
  }
});

test('the same key in another workspace is another event; reports at the same moment count once', async (t) => {
  const [one, two] = [await scene(), await scene()];
  const body = { event_type: 'complaint', recipient_email: 'lea@lead.test', idempotency_key: 'shared' };
  await Promise.all([one, one, one, two].map(({ tenant }) => report(tenant, body)));
  for (const { tenant, enrollmentId } of [one, two]) {
    t.deepEqual(await events(tenant), ['deliverability.complaint']);
    t.is((await world.deps.db('enrollments').where({ id: enrollmentId }).first()).state, 'unsubscribed');
  }
});

test('opens, clicks, replies and opt-outs are put down to the email', async (t) => {
  const { tenant, sendId, contactId, campaignId } = await scene();
  for (const event_type of ['open', 'click', 'reply', 'unsubscribe']) {
    t.is(
      (await report(tenant, { event_type, recipient_email: 'lea@lead.test', task_id: sendId, campaign_id: campaignId }))
        .status,
      202,
    );
  }
  const send = await world.deps.db('sends').where({ id: sendId }).first();
  for (const column of ['opened_at', 'clicked_at', 'replied_at', 'unsubscribed_at']) t.truthy(send[column], column);
  t.false((await world.deps.db('contacts').where({ id: contactId }).first()).subscribed);
  t.deepEqual(await events(tenant), [
    'campaign.email_opened',
    'campaign.email_clicked',
    'campaign.reply_received',
    'campaign.unsubscribed',
  ]);
});

test('a recipient we never mailed can still be suppressed', async (t) => {
  const { tenant } = await scene();
  assertStatus(t, await report(tenant, { event_type: 'bounce', recipient_email: 'nobody@lead.test' }), 202);
  t.like(await world.deps.db('suppressions').where({ organization_id: tenant.organizationId }), [
    { email: 'nobody@lead.test' },
  ] as never);
});

test('a reported bounce is judged by its reason: only an address that is gone is suppressed', async (t) => {
  for (const [reason, hard] of [
    ['550 5.1.1 The email account that you tried to reach does not exist', true],
    ['smtp; 550 5.1.1 user unknown', true],
    ['552 5.2.2 Mailbox full', false],
    ['550 5.7.1 Message rejected as spam', false],
    ['550 5.7.26 Unauthenticated email is not accepted', false],
    ['421 4.7.0 Try again later, closing connection', false],
    ['5.4.4 no route to host, connection timed out', false],
  ] as const) {
    const { tenant, enrollmentId } = await scene();
    assertStatus(t, await report(tenant, { event_type: 'bounce', recipient_email: 'lea@lead.test', reason }), 202);
    const listed = await world.deps.db('suppressions').where({ organization_id: tenant.organizationId });
    t.is(listed.length, hard ? 1 : 0, reason);
    t.is((await world.deps.db('enrollments').where({ id: enrollmentId }).first()).state === 'bounced', hard, reason);
    const contact = await world.deps.db('contacts').where({ organization_id: tenant.organizationId }).first();
    t.is(contact.subscribed, !hard, reason);
  }
});

test('a late report that names a contact or campaign that is gone is taken, and the address counts', async (t) => {
  const { tenant, sendId } = await scene();
  const gone = [
    ['campaign_id', 'a@lead.test'],
    ['contact_id', 'b@lead.test'],
  ] as const;
  for (const [name, recipient_email] of gone)
    assertStatus(t, await report(tenant, { event_type: 'unsubscribe', recipient_email, [name]: newId() }), 202);
  const both = { campaign_id: newId(), contact_id: newId() };
  assertStatus(t, await report(tenant, { event_type: 'complaint', recipient_email: 'lea@lead.test', ...both }), 202);
  const listed = await world.deps.db('suppressions').where({ organization_id: tenant.organizationId }).orderBy('email');
  t.deepEqual(
    listed.map(({ email, source, campaign_id }) => [email, source, campaign_id]),
    [
      ['a@lead.test', 'unsubscribe', null],
      ['b@lead.test', 'unsubscribe', null],
      ['lea@lead.test', 'complaint', null],
    ],
  );
  t.is((await world.deps.db('sends').where({ id: sendId }).first()).complained_at, null, 'no other campaign has it');
});

test('ids of another workspace are not found, a foreign recipient is refused, all faults are named', async (t) => {
  const { tenant, sendId } = await scene();
  const stranger = await scene();
  for (const id of [{ task_id: stranger.sendId }, { task_id: newId() }]) {
    assertStatus(t, await report(tenant, { event_type: 'bounce', recipient_email: 'lea@lead.test', ...id }), 404);
  }
  t.like(
    (await report(tenant, { event_type: 'bounce', recipient_email: 'else@lead.test', task_id: sendId })).body.problems,
    [{ path: 'body.recipient_email' }] as never,
  );
  const bad = await report(tenant, {
    event_type: 'delivery',
    recipient_email: 'x',
    task_id: 'y',
    metadata: { a: '\0' },
  });
  t.deepEqual(bad.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.event_type',
    'body.metadata.a',
    'body.recipient_email',
    'body.task_id',
  ]);
  t.deepEqual(await events(tenant), []);
});
