import { createHmac } from 'node:crypto';
import test from 'ava';
import { createCampaign, createContact, enroll } from '../../../test/harness/factories.ts';
import { connect } from '../../../test/harness/integrations.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { startCalCom, type CalComDouble } from '../../../test/doubles/index.ts';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';

let world: World;
let calCom: CalComDouble;
test.before(async () => {
  calCom = await startCalCom();
  world = await createWorld({
    ownAddress: true,
    env: { INTEGRATION_ENDPOINTS: JSON.stringify({ cal_com: { api: calCom.url } }) },
  });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(async () => {
  await world?.close();
  await calCom?.close();
});

const connections = async (token: string) =>
  (await call(world, 'GET', '/v1/integrations/connections', { token })).body.connections;

test.serial(
  'bookings come in signed, in any order and repeatedly; they stop the sequence of their contact',
  async (t) => {
    const tenant = await world.tenant();
    const { apiKey: token, organizationId: org } = tenant;
    const contactId = await createContact(world.deps.db, world.deps.clock.now(), org, {
      email: 'lea@lead.test',
      first_name: 'Lea',
      last_name: 'Lee',
    });
    const { campaignId } = await createCampaign(world.deps, org, [{ subject: 'Hello', body_plain: 'b' }], {
      stop_on_reply: true,
    });
    const [enrollmentId] = await enroll(world.deps, org, campaignId, [contactId]);
    const state = async () => (await world.deps.db('enrollments').where({ id: enrollmentId }).first('state')).state;
    calCom.webhooks.length = 0;
    const made = await connect(world, tenant, 'cal_com', { api_key: calCom.key });
    t.regex(made.inbound_webhook_url, /\/integrations\/inbound\/[\w-]{43}$/);
    t.false('inbound_webhook_url' in (await connections(token))[0], 'shown once');
    t.is(calCom.webhooks.length, 1, 'Heron has entered it');
    const at = new Date(Date.now() + 86_400_000);
    const first = calCom.book({ email: 'Lea@Lead.test', name: 'Lea', startsAt: at });
    t.deepEqual(await calCom.deliver(calCom.outbox, { secret: 'forged' }), [401]);
    t.not(await state(), 'completed');
    const sent = [...calCom.outbox];
    t.deepEqual(await calCom.deliver(sent), [200]);
    t.is(await state(), 'completed');
    const body = JSON.stringify(sent[0]);
    const signature = createHmac('sha256', calCom.webhooks[0]!.secret!).update(body).digest('hex');
    const again = await call(world, 'POST', new URL(made.inbound_webhook_url).pathname, {
      body,
      headers: { 'content-type': 'application/json', 'x-cal-signature-256': signature },
    });
    t.like(again, { status: 200, body: { received: true, outcome: 'duplicate' } });
    const bookings = async () => (await call(world, 'GET', '/v1/integrations/bookings', { token })).body.bookings;
    t.like((await bookings())[0], {
      status: 'booked',
      contact_id: contactId,
      contact_name: 'Lea Lee',
      source: 'cal_com',
    });
    const moved = calCom.reschedule(first, new Date(at.getTime() + 3_600_000));
    calCom.cancel(moved, 'ill');
    const later = calCom.outbox.slice(sent.length);
    // Delivers the cancellation first, then all events, some of them twice.
    for (const webhook of [...later.toReversed(), ...sent, ...later]) await calCom.deliver([webhook]);
    const [booking, ...others] = await bookings();
    t.deepEqual(others, []);
    t.like(booking, { status: 'canceled', canceled_reason: 'ill' });
    const events = await world.deps
      .db('domain_events')
      .where({ organization_id: org })
      .whereRaw(`type like 'meeting.%'`)
      .orderBy('id')
      .pluck('type');
    t.is(events.filter((type: string) => type === 'meeting.booked').length, 1);
    t.is(events.filter((type: string) => type === 'meeting.canceled').length, 1);
    const list = async (query: string) => (await call(world, 'GET', `/v1/meetings?${query}`, { token })).body;
    t.is((await list('timeframe=upcoming')).data.length, 0, 'what was called off is not to come');
    t.is((await list('timeframe=past')).pagination.total, 1);
    t.is((await list('')).pagination.total, 1);
    assertStatus(t, await call(world, 'GET', '/v1/meetings?timezone=Nowhere/There', { token }), 400);
    assertStatus(t, await call(world, 'POST', '/integrations/inbound/nothing', { body: {} }), 404);
  },
);

test.serial(
  'a booking with an odd field is a booking; one that cannot be read is kept, listed, and read again',
  async (t) => {
    const tenant = await world.tenant();
    const { apiKey: token } = tenant;
    calCom.webhooks.length = 0;
    calCom.outbox.length = 0;
    await connect(world, tenant, 'cal_com', { api_key: calCom.key });
    const startsAt = new Date(Date.now() + 86_400_000);
    const odd: Record<string, (payload: Record<string, any>) => void> = {
      'place-object': (payload) => (payload.location = { type: 'inPerson', address: '1 Main Street' }),
      'title-number': (payload) => (payload.title = 7),
      'meta-list': (payload) => (payload.metadata = []),
      'no-end': (payload) => delete payload.endTime,
      'answered-form': (payload) =>
        Object.assign(payload, { attendees: [], responses: { email: { value: 'answered-form@lead.test' } } }),
      'seat-without-uid': (payload) => Object.assign(payload, { uid: undefined, rescheduleUid: `seat-${payload.uid}` }),
    };
    for (const [name, change] of Object.entries(odd)) {
      calCom.book({ email: `${name}@lead.test`, name, startsAt });
      change(calCom.outbox.at(-1)!.payload);
    }
    calCom.book({ email: 'lost@lead.test', name: 'Lost', startsAt });
    calCom.outbox.at(-1)!.payload.attendees = 'nobody';
    t.deepEqual(
      await calCom.deliver(calCom.outbox),
      calCom.outbox.map(() => 200),
    );
    const invitees = async () =>
      (await call(world, 'GET', '/v1/integrations/bookings', { token })).body.bookings
        .map(({ invitee_email: email }: any) => email)
        .toSorted();
    t.deepEqual(
      await invitees(),
      Object.keys(odd)
        .map((name) => `${name}@lead.test`)
        .toSorted(),
    );

    const [letter, ...others] = (await call(world, 'GET', '/v1/tasks/dlq', { token })).body.data;
    t.like(letter, { task_type: 'integration_webhook', status: 'pending' });
    t.deepEqual(others, []);
    const replay = () => call(world, 'POST', `/v1/tasks/dlq/${letter.id}/replay`, { token });
    assertStatus(t, await replay(), 422);
    // Replaces the body by one that Heron can parse, to simulate an update of Heron.
    const kept = world.deps
      .db('integration_inbound')
      .where({ organization_id: tenant.organizationId })
      .whereNotNull('unread_id');
    const { unread_body: body } = await kept.clone().first();
    const learned = JSON.parse(Buffer.from(body, 'base64').toString('utf8'));
    learned.payload.attendees = [{ email: 'lost@lead.test', name: 'Lost' }];
    await kept.clone().update({ unread_body: Buffer.from(JSON.stringify(learned)).toString('base64') });
    assertStatus(t, await replay(), 200);
    t.true((await invitees()).includes('lost@lead.test'));
    t.is(await kept.clone().first(), undefined, 'what was read is not kept');
  },
);

test.serial('ids of bookings are kept as far as they can be, and found again', async (t) => {
  const tenant = await world.tenant();
  calCom.webhooks.length = 0;
  calCom.outbox.length = 0;
  await connect(world, tenant, 'cal_com', { api_key: calCom.key });
  for (const uid of [`long${'x'.repeat(600)}`, 'nul\0']) {
    const booking = calCom.book({ email: 'odd@lead.test', name: 'Odd', startsAt: new Date(Date.now() + 86_400_000) });
    booking.payload.uid = uid;
    calCom.outbox.at(-1)!.payload.uid = uid;
    calCom.cancel(booking, 'ill');
    t.deepEqual(await calCom.deliver(), [200, 200], uid.slice(0, 4));
  }
  const { body } = await call(world, 'GET', '/v1/integrations/bookings', { token: tenant.apiKey });
  t.deepEqual(
    body.bookings.map(({ status }: { status: string }) => status),
    ['canceled', 'canceled'],
  );
});
