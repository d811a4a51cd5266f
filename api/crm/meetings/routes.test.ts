import test from 'ava';
import { createCampaign, createContact, enroll, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { newId } from '../../../lib/ids.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { recordMeeting } from '../../../domain/crm/meetings/record.ts';

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const ask = (tenant: Tenant, method: string, path: string, body?: unknown, headers = {}) =>
  call(world, method, `/v1/meetings${path}`, {
    token: tenant.apiKey,
    headers,
    ...(body === undefined ? {} : { body }),
  });

const events = async ({ organizationId }: Tenant) =>
  (await world.deps.db('domain_events').where({ organization_id: organizationId }).orderBy('id').pluck('type')).filter(
    (type: string) => type.startsWith('meeting.'),
  );

test('a meeting that is logged by hand does what a booking does: campaigns end, events fire, the log has it', async (t) => {
  const tenant = await world.tenant();
  const { db } = world.deps;
  const contactId = await createContact(db, clock.now(), tenant.organizationId, { first_name: 'Ada', last_name: 'L.' });
  const { campaignId } = await createCampaign(world.deps, tenant.organizationId, [{}], { stop_on_reply: true });
  const [enrollmentId] = await enroll(world.deps, tenant.organizationId, campaignId, [contactId]);
  const body = {
    contact_id: contactId,
    event_name: 'First talk',
    scheduled_for: '2026-03-05T09:00:00Z',
    end_time: '2026-03-05T09:30:00Z',
    location: 'By phone',
  };
  const key = { 'idempotency-key': newId() };
  const logged = await ask(tenant, 'POST', '', body, key);
  assertStatus(t, logged, 201);
  t.like(logged.body, {
    source: 'manual',
    status: 'booked',
    contact_id: contactId,
    contact_name: 'Ada L.',
    campaign_id: campaignId,
    event_name: 'First talk',
    location: 'By phone',
    scheduled_for: '2026-03-05T09:00:00.000Z',
  });
  t.deepEqual((await ask(tenant, 'POST', '', body, key)).body, logged.body, 'sent again, it is the same meeting');
  t.like(await db('enrollments').where({ id: enrollmentId }).first(), { state: 'completed' });
  t.deepEqual(await events(tenant), ['meeting.booked']);
  const { id } = logged.body;
  const timeline = await call(world, 'GET', `/v1/contacts/${contactId}/activities`, { token: tenant.apiKey });
  t.true(timeline.text.includes('meeting_booked'), timeline.text);

  const moved = await ask(tenant, 'PATCH', `/${id}`, {
    scheduled_for: '2026-03-06T09:00:00Z',
    end_time: '2026-03-06T09:30:00Z',
  });
  t.like(moved.body, { status: 'rescheduled', event_name: 'First talk', scheduled_for: '2026-03-06T09:00:00.000Z' });
  t.like((await ask(tenant, 'PATCH', `/${id}`, { location: 'Video' })).body, {
    status: 'rescheduled',
    location: 'Video',
  });
  t.like((await ask(tenant, 'PATCH', `/${id}`, { status: 'no_show' })).body, { status: 'no_show' });
  t.deepEqual(await events(tenant), ['meeting.booked', 'meeting.rescheduled'], 'words and outcomes are no move');
  t.like((await ask(tenant, 'POST', `/${id}/cancel`, { reason: 'Ill' })).body, {
    status: 'canceled',
    canceled_reason: 'Ill',
  });
  t.like((await ask(tenant, 'POST', `/${id}/cancel`, { reason: 'Other' })).body, { canceled_reason: 'Ill' });
  t.is((await ask(tenant, 'PATCH', `/${id}`, { location: 'Here' })).body.code, 'conflict');
  t.deepEqual(await events(tenant), ['meeting.booked', 'meeting.rescheduled', 'meeting.canceled']);
  const actions = await db('audit_logs')
    .where({ organization_id: tenant.organizationId, entity_id: id })
    .pluck('action');
  t.deepEqual(actions.toSorted(), ['cancel', 'create', 'update', 'update', 'update']);
});

test('a meeting is matched by address, and may be with somebody who is no contact', async (t) => {
  const tenant = await world.tenant();
  const contactId = await createContact(world.deps.db, clock.now(), tenant.organizationId, {
    email: 'grace@lead.test',
  });
  const log = (invitee_email: string) =>
    ask(tenant, 'POST', '', {
      invitee_email,
      event_name: 'Call',
      scheduled_for: '2026-02-01T09:00:00Z',
      status: 'completed',
    });
  t.like((await log('Grace@lead.test')).body, { contact_id: contactId, status: 'completed' });
  t.like((await log('nobody@lead.test')).body, { contact_id: null, invitee_email: 'nobody@lead.test' });
});

test('bad meetings are refused with every fault, and those of providers are changed there', async (t) => {
  const tenant = await world.tenant();
  const bad = await ask(tenant, 'POST', '', {
    event_name: '',
    scheduled_for: '2026-03-05T09:00:00Z',
    end_time: '2026-03-05T09:00:00Z',
    join_url: 'javascript:alert(1)',
  });
  assertStatus(t, bad, 400);
  t.deepEqual(bad.body.problems.map(({ path }: { path: string }) => path).toSorted(), [
    'body.contact_id',
    'body.end_time',
    'body.event_name',
    'body.join_url',
  ]);
  for (const scheduled_for of ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00']) {
    const unwritable = await ask(tenant, 'POST', '', {
      event_name: 'Call',
      invitee_email: 'ada@lead.test',
      scheduled_for,
    });
    t.like(unwritable, { status: 400 }, scheduled_for);
    t.deepEqual(
      unwritable.body.problems.map(({ path }: { path: string }) => path),
      ['body.scheduled_for'],
    );
  }
  for (const field of ['from', 'to']) t.is((await ask(tenant, 'GET', `?${field}=0000-01-01`)).status, 400);
  assertStatus(t, await ask(tenant, 'GET', '?from=0001-01-01&to=9999-12-31'), 200);
  const foreign = await createContact(world.deps.db, clock.now(), (await world.tenant()).organizationId);
  const given = { event_name: 'Call', scheduled_for: '2026-03-05T09:00:00Z' };
  t.is((await ask(tenant, 'POST', '', { ...given, contact_id: foreign })).body.problems[0].path, 'body.contact_id');
  const { body } = await ask(tenant, 'POST', '', { ...given, invitee_email: 'ada@lead.test' });
  t.is(
    (await ask(tenant, 'PATCH', `/${body.id}`, { end_time: '2026-03-05T08:00:00Z' })).body.problems[0].path,
    'body.end_time',
  );

  await transact(world.system(tenant.organizationId), (tx) =>
    recordMeeting(
      tx,
      { source: 'calendly', connectionId: null },
      {
        externalEventId: 'theirs',
        kind: 'booked',
        occurredAt: clock.now(),
        inviteeEmail: 'ada@lead.test',
        inviteeName: 'Ada',
        eventName: 'Call',
        eventType: '',
        scheduledFor: clock.now(),
        endTime: null,
        joinUrl: '',
        location: '',
        cancelUrl: '',
        rescheduleUrl: '',
        canceledReason: '',
      },
    ),
  );
  const theirs = await world.deps
    .db('meetings')
    .where({ organization_id: tenant.organizationId, source: 'calendly' })
    .first();
  assertStatus(t, await ask(tenant, 'PATCH', `/${theirs.id}`, { location: 'Here' }), 409);
  t.regex((await ask(tenant, 'POST', `/${theirs.id}/cancel`, {})).body.fix, /there/);
});
