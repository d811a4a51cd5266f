/**
 * Provider actions while workers are killed and started: each action happens once, and a booked meeting stops a
 * sequence.
 */
import test from 'ava';
import { recordInbound } from '../../domain/sending/outcomes/record-inbound.ts';
import { startDoubles } from '../doubles/all.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createCampaign, createContact, createMailbox, enroll, type Tenant } from '../harness/factories.ts';
import { createSend, replyTo } from '../harness/inbound.ts';
import { browserCookie, connect, subscribe } from '../harness/integrations.ts';
import { call, createWorld, type World } from '../harness/world.ts';

let world: World;
let engine: Engine;
let doubles: Awaited<ReturnType<typeof startDoubles>>;
test.before(async () => {
  doubles = await startDoubles(['hubspot', 'slack', 'calendly']);
  world = await createWorld({
    ownAddress: true,
    env: {
      ...doubles.env,
      WORKER_ROLES: 'temporal,relay,fanout,reactions',
      INTEGRATION_RETRY_BASE_MS: '500',
    },
  });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
  await doubles?.closeAll();
});

const PATIENCE_MS = 60_000;
const FROM = 'mia@sender.example.com';

test('a reply is told in a chat and kept in a CRM, once each, though the worker was restarted in between', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const tenant = await world.tenant();
  const hubspot = await consent(tenant, 'hubspot');
  const slack = await consent(tenant, 'slack');
  await subscribe(world, tenant, slack, {
    event_type: 'email.replied',
    action: 'slack.notify',
    config: { channel: '#sales', message: '{{.first_name}} replied' },
  });
  await subscribe(world, tenant, hubspot, { event_type: 'email.replied', action: 'hubspot.upsert_contact' });
  const lead = await createMailedLead(tenant, 'lea@lead.example.com');
  // HubSpot and Slack are unreachable when the reply arrives.
  doubles.hubspot.failAll({ kind: 'broken' });
  doubles.slack.failAll({ kind: 'broken' });
  await lead.reply('Sounds great, let us talk on Monday!');
  const calls = (path: string) =>
    [...doubles.hubspot.calls(), ...doubles.slack.calls()].filter((one) => one.includes(path));
  await eventually(async () => calls('chat.postMessage').length > 0 && calls('upsert').length > 0, PATIENCE_MS);
  await engine.stop();
  doubles.hubspot.failAll(undefined);
  doubles.slack.failAll(undefined);
  engine = await startEngine(world);
  // Counts the rows still in the queue; a delivered row is deleted.
  const waiting = () => world.deps.db('integration_deliveries').where({ organization_id: tenant.organizationId });
  await eventually(async () => (await waiting()).length === 0, PATIENCE_MS);
  t.deepEqual(doubles.slack.messages, [{ channel: 'sales', text: 'Lea replied' }]);
  t.deepEqual(
    doubles.hubspot.contacts.map(({ properties }) => properties),
    [{ email: 'lea@lead.example.com', firstname: 'Lea' }],
  );
  t.deepEqual([...doubles.hubspot.refusals, ...doubles.slack.refusals], []);
});

test('a meeting that is booked stops the sequence of who booked it', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const tenant = await world.tenant();
  await connect(world, tenant, 'calendly', { api_key: doubles.calendly.token });
  const lead = await createMailedLead(tenant, 'max@lead.example.com');
  const booking = doubles.calendly.book({
    email: 'Max@lead.example.com',
    name: 'Max',
    startsAt: new Date('2027-01-12T09:00:00Z'),
  });
  const [told] = doubles.calendly.outbox;
  t.deepEqual(await doubles.calendly.deliver([told!, told!]), [200, 200]);
  t.deepEqual(await doubles.calendly.deliver([told!], { key: 'another' }), [401]);
  doubles.calendly.outbox.length = 0;
  doubles.calendly.reschedule(booking, new Date('2027-01-13T09:00:00Z'));
  await doubles.calendly.deliver();
  const { body } = await call(world, 'GET', '/v1/integrations/bookings', { token: tenant.apiKey });
  t.is(body.bookings.length, 1);
  t.like(body.bookings[0], {
    status: 'rescheduled',
    contact_id: lead.contactId,
    scheduled_for: '2027-01-13T09:00:00.000Z',
  });
  const enrollment = await world.deps.db('enrollments').where({ id: lead.enrollmentId }).first('state');
  t.is(enrollment.state, 'completed');
});

/** Connects an account through the browser of the tenant's person. Returns the connection's id. */
async function consent(tenant: Tenant, provider: 'hubspot' | 'slack'): Promise<string> {
  const started = await call(world, 'POST', '/v1/integrations/oauth/start', {
    token: tenant.sessionToken,
    body: { provider },
  });
  if (started.status !== 200) throw new Error(started.text);
  const back = doubles[provider].oauth.consent(started.body.authorize_url);
  const shown = await fetch(back, { headers: { cookie: await browserCookie(world, tenant) } });
  if (shown.status !== 200) throw new Error(await shown.text());
  const { body } = await call(world, 'GET', '/v1/integrations/connections', { token: tenant.apiKey });
  return body.connections.find((one: { provider: string }) => one.provider === provider).id;
}

/** Creates a lead of a running campaign whose first email was sent. */
async function createMailedLead({ organizationId }: Tenant, email: string) {
  const { deps } = world;
  const mailboxId = await createMailbox(deps, organizationId, FROM);
  const { campaignId, stepIds } = await createCampaign(deps, organizationId, [{ subject: 'Hello', body_plain: 'b' }]);
  const contactId = await createContact(deps.db, deps.clock.now(), organizationId, {
    email,
    first_name: 'Lea',
    last_name: '',
    company: '',
  });
  const [enrollmentId] = (await enroll(deps, organizationId, campaignId, [contactId])) as [string];
  const { messageId } = await createSend(deps, organizationId, {
    campaignId,
    enrollmentId,
    stepId: stepIds[0]!,
    contactId,
    mailboxId,
    recipient: email,
  });
  return {
    contactId,
    enrollmentId,
    reply: (words: string) =>
      recordInbound(
        world.system(organizationId),
        { id: mailboxId, email: FROM },
        replyTo({ messageId, from: FROM, to: email }, words),
        { folder: 'INBOX', uidValidity: 1, uid: 1, receivedAt: deps.clock.now() },
      ),
  };
}
