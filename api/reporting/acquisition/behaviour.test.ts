import test from 'ava';
import { json } from '../../../db/connection.ts';
import { updateFacts } from '../../../domain/reporting/aggregates/update-facts.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { recordReply } from '../../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../../domain/sending/outcomes/subject.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { recordOpens } from '../../../domain/campaigns/tracking/opens.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { announceSend, createEvent, createGoal, createPerson } from '../../../test/harness/acquisition.ts';
import { createCampaign, createContact, createMailbox, enroll } from '../../../test/harness/factories.ts';
import { createSend } from '../../../test/harness/inbound.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const MAIL_PROGRAM = 'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Mail';
/** Start time of the tests, a Saturday. */
const START = new Date('2026-03-28T12:00:00Z');
const clock = new ManualClock(START);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, [updateFacts]);
});
test.after.always(() => world?.close());

const at = (days: number, ms = 0) => new Date(START.getTime() + days * DAY_MS + ms);

/** Creates a workspace with a campaign of two steps and three contacts. The first two contacts were mailed. */
async function scene() {
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const mailboxId = await createMailbox(world.deps, org);
  const goals = {
    signup: await createGoal(world, org, 'signup'),
    activation: await createGoal(world, org, 'activation'),
    paid: await createGoal(world, org, 'paid'),
  };
  const { campaignId, stepIds } = await createCampaign(world.deps, org, [{ subject: 'One' }]);
  const contacts: { id: string; email: string; personId: string }[] = [];
  for (const name of ['Ann', 'Bo', 'Cy']) {
    const email = `${name.toLowerCase()}@${name.toLowerCase()}.test`;
    const id = await createContact(world.deps.db, clock.now(), org, {
      email,
      first_name: name,
      company: `${name} & Co`,
    });
    contacts.push({ id, email, personId: await createPerson(world, org, { contactId: id }) });
  }
  const sends: string[] = [];
  for (const [index, days] of [-5, -4].entries()) {
    const to = contacts[index]!;
    const [enrollmentId] = (await enroll(world.deps, org, campaignId, [to.id])) as [string];
    const { id } = await createSend(
      world.deps,
      org,
      { campaignId, enrollmentId, stepId: stepIds[0]!, contactId: to.id, mailboxId, recipient: to.email },
      { sent_at: at(days), dimensions: json({}) },
    );
    await announceSend(world, org, {
      id,
      campaignId,
      stepId: stepIds[0]!,
      contactId: to.id,
      email: to.email,
      mailboxId,
      at: at(days),
    });
    sends.push(id);
  }
  const event = (who: number, name: string, when: Date, more: Record<string, unknown> = {}) =>
    createEvent(world, org, {
      personId: contacts[who]!.personId,
      contactId: contacts[who]!.id,
      name,
      at: when,
      ...more,
    });
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(world, method, `/v1/acquisition${path}`, { token: tenant.apiKey, headers, ...(body ? { body } : {}) });
  const settle = () => react(world.deps, [updateFacts]);
  await settle();
  return { org, goals, campaignId, contacts, sends, event, ask, settle };
}

test.serial(
  'trends: occurrences and people by UTC day and by week from Monday, edges of the range, conditions',
  async (t) => {
    const { contacts, event, ask } = await scene();
    await event(0, 'app.opened', new Date('2026-03-15T23:59:59.999Z'), { data: { plan: 'Pro' } });
    await event(0, 'app.opened', new Date('2026-03-16T00:00:00Z'), { data: { plan: 'pro' } });
    await event(0, 'app.opened', new Date('2026-03-16T10:00:00+02:00'), { data: { plan: 'ÄPFEL' } });
    await event(1, 'app.opened', new Date('2026-03-17T00:00:00Z'), { data: {} });
    await event(1, 'app.closed', new Date('2026-03-17T00:00:00Z'));
    const range = { from: '2026-03-15T23:59:59.999Z', to: '2026-03-17T00:00:00Z' };
    const { body, status } = await ask('POST', '/event-trends', { name: 'app.opened', ...range });
    t.is(status, 200);
    t.like(body, { occurrences: 3, people: 1, interval: 'day' });
    t.deepEqual(body.buckets, [
      { start: '2026-03-15T00:00:00.000Z', occurrences: 1, people: 1 },
      { start: '2026-03-16T00:00:00.000Z', occurrences: 2, people: 1 },
    ]);
    const people = await ask('POST', '/event-trends/people', { name: 'app.opened', ...range });
    t.is(people.body.pagination.total, 1);
    t.like(people.body.data[0], { contact_id: contacts[0]!.id, at: '2026-03-15T23:59:59.999Z' });
    const cut = await ask('POST', '/event-trends/people?limit=1', {
      name: 'app.opened',
      ...range,
      to: '2026-03-18T00:00:00Z',
    });
    t.like(cut.body.pagination, { total: 2, has_more: true });
    const weeks = await ask('POST', '/event-trends', {
      name: 'app.opened',
      ...range,
      to: '2026-03-30T00:00:00Z',
      interval: 'week',
    });
    t.deepEqual(
      weeks.body.buckets.map(({ start, occurrences }: any) => [start.slice(0, 10), occurrences]),
      [
        ['2026-03-09', 1],
        ['2026-03-16', 3],
        ['2026-03-23', 0],
      ],
    );
    const said = async (value: string) =>
      (
        await ask('POST', '/event-trends', {
          name: 'app.opened',
          ...range,
          predicates: [{ path: 'plan', op: 'contains', value }],
        })
      ).body.occurrences;
    t.is(await said('PRO'), 2);
    t.is(await said('äpf'), 1, 'beyond ASCII');
    const bad = await ask('POST', '/event-trends', { name: 'No', from: range.to, to: range.from, interval: 'month' });
    t.deepEqual(bad.body.problems.map(({ path }: any) => path).sort(), ['body.interval', 'body.name', 'body.to']);
  },
);

test.serial('funnels: four kinds of steps, in order and within the window, each occurrence once', async (t) => {
  const { org, goals, campaignId, contacts, sends, event, ask, settle } = await scene();
  await transact(world.system(org), async (tx) =>
    recordReply(tx, (await lockSubject(tx, sends[0]!))!, {
      intent: 'positive',
      confidence: 1,
      unsubscribeRequest: false,
      source: 'inbox',
      message: null,
    }),
  );
  await event(0, 'user.signed-up', at(1), { goalIds: [goals.signup] });
  await event(1, 'user.signed-up', at(-4, -1), { goalIds: [goals.signup] });
  await event(0, 'app.opened', at(1));
  await settle();
  const steps = [
    { kind: 'confirmed_send', campaign_id: campaignId },
    { kind: 'positive_reply', campaign_id: campaignId },
    { kind: 'goal', goal_id: goals.signup },
    { kind: 'event', event_name: 'app.opened' },
  ];
  const range = { from: at(-5).toISOString(), to: at(-3).toISOString() };
  const { body, status } = await ask('POST', '/funnels', { steps, ...range });
  t.is(status, 200);
  t.deepEqual(
    body.steps.map((step: any) => [
      step.people,
      step.conversion_from_previous,
      step.conversion_from_first,
      step.drop_off,
    ]),
    [
      [2, null, 100, 0],
      [1, 50, 50, 1],
      [1, 100, 50, 0],
      [1, 100, 50, 0],
    ],
  );
  t.is(body.largest_drop_off_step, 2);
  const taken = await ask('POST', '/funnels/people', { steps, step: 3, ...range });
  t.is(taken.body.pagination.total, 1);
  t.like(taken.body.data[0], { contact_id: contacts[0]!.id, at: at(1).toISOString() });
  const lost = await ask(
    'POST',
    '/funnels/people',
    { steps, step: 2, lost: true, ...range },
    { 'x-heron-example': 'lost' },
  );
  t.is(lost.body.pagination.total, 1, 'as many as the drop-off');
  t.is(lost.body.data[0].contact_id, contacts[1]!.id);
  const unlost = await ask('POST', '/funnels/people', { steps, step: 1, lost: true, ...range });
  t.deepEqual([unlost.status, unlost.body.problems[0].path], [400, 'body.step']);
  const none = await ask('POST', '/funnels/people', { steps, step: 5, ...range });
  t.deepEqual([none.status, none.body.problems[0].path], [400, 'body.step']);
  const people = async (given: unknown[], more: object = {}) =>
    (await ask('POST', '/funnels', { steps: given, ...range, ...more })).body.steps.map((step: any) => step.people);
  const [sent, , goal, opened] = steps;
  t.deepEqual(await people([sent, goal]), [2, 1], 'a moment before the email is not after it');
  t.deepEqual(await people([sent, goal], { window_days: 6 }), [2, 0], 'six days after the email is too late');
  t.deepEqual(await people([sent, goal], { window_days: 7 }), [2, 1]);
  t.deepEqual(await people([sent, goal], { from: at(-5, 1).toISOString() }), [1, 0], 'begins after the email');
  t.deepEqual(await people([opened, opened], { to: at(2).toISOString() }), [1, 0], 'one occurrence is one step');
  await event(0, 'app.opened', at(1));
  t.deepEqual(await people([opened, opened], { to: at(2).toISOString() }), [1, 1], 'two at one moment are two');
  await world.deps.db('contacts').where({ id: contacts[1]!.id }).delete();
  t.deepEqual(await people([sent, goal]), [1, 1], 'a deleted contact is nobody');
  const bad = await ask('POST', '/funnels', {
    steps: [
      { kind: 'goal', goal_id: newId() },
      { kind: 'confirmed_send', campaign_id: 'x' },
    ],
    ...range,
  });
  t.deepEqual(
    bad.body.problems.map(({ path }: any) => path),
    ['body.steps.0.goal_id', 'body.steps.1.campaign_id'],
  );
  const worse = await ask('POST', '/funnels/people', {
    steps: [sent, { kind: 'goal', goal_id: newId() }],
    step: 3,
    window_days: 366,
    ...range,
  });
  t.deepEqual(
    worse.body.problems.map(({ path }: any) => path),
    ['body.window_days', 'body.steps.1.goal_id', 'body.step'],
  );
  assertStatus(t, await ask('POST', '/funnels', { steps: [sent] }), 400);
  assertStatus(t, await ask('POST', '/funnels', { steps: Array.from({ length: 9 }, () => sent) }), 400);
});

test.serial('prospects: newest activity first, by stage, by drop-off, by text', async (t) => {
  const { goals, campaignId, contacts, sends, event, ask, settle } = await scene();
  await event(0, 'user.signed-up', at(-1), { goalIds: [goals.signup] });
  await event(2, 'user.signed-up', at(-1), { goalIds: [goals.signup] });
  await recordOpens(
    world.deps,
    [{ subject: sends[0]!, hit: { method: 'GET', userAgent: MAIL_PROGRAM, purpose: '' } }],
    'test',
  );
  await settle();
  const names = async (query: string) =>
    (await ask('GET', `/prospects${query}`)).body.data.map((row: any) => row.first_name);
  const { body } = await ask('GET', '/prospects');
  t.deepEqual(
    body.data.map((row: any) => [row.first_name, row.last_activity_at, row.signed_up_at]),
    [
      ['Ann', at(-1).toISOString(), at(-1).toISOString()],
      ['Bo', at(-4).toISOString(), null],
    ],
    'nobody was mailed is no prospect',
  );
  t.like(body.data[0], {
    contact_id: contacts[0]!.id,
    confirmed_sends: 1,
    first_sent_at: at(-5).toISOString(),
    opened_at: at(0).toISOString(),
    clicked_at: null,
    replied_at: null,
    bounced_at: null,
    complained_at: null,
    unsubscribed_at: null,
  });
  t.deepEqual(await names('?filter=signed_up'), ['Ann']);
  t.deepEqual(await names('?filter=silent'), ['Bo']);
  t.deepEqual(await names('?filter=activated'), []);
  t.deepEqual(await names('?filter=paid'), []);
  t.deepEqual(await names('?filter=interested'), []);
  t.deepEqual(await names('?dropoff=sent_no_reply'), ['Ann', 'Bo']);
  t.deepEqual(await names('?dropoff=signup_no_activation'), ['Ann']);
  t.deepEqual(await names('?dropoff=signup_no_paid'), ['Ann']);
  t.deepEqual(await names('?dropoff=interested_no_signup'), []);
  t.deepEqual(await names('?dropoff=activation_no_paid'), []);
  t.deepEqual(await names('?q=BO%20%26'), ['Bo']);
  t.deepEqual(await names(`?campaign_id=${campaignId}&limit=1`), ['Ann']);
  const first = await ask('GET', '/prospects?limit=1');
  t.deepEqual(await names(`?limit=1&cursor=${first.body.pagination.next_cursor}`), ['Bo']);
  assertStatus(t, await ask('GET', '/prospects?limit=201'), 400);
  assertStatus(t, await ask('GET', `/prospects?campaign_id=${newId()}`), 404);
});

test.serial('a timeline: everything in its order, conversions with the send before them', async (t) => {
  const { goals, campaignId, contacts, sends, event, ask, settle } = await scene();
  await event(0, 'user.signed-up', at(-2), { goalIds: [goals.signup], valueMinor: 500 });
  await event(0, 'app.opened', at(-6), { goalIds: [goals.activation] });
  await settle();
  const { body, status } = await ask('GET', `/prospects/${contacts[0]!.id}/timeline`);
  t.is(status, 200);
  t.deepEqual(
    body.data.map(({ kind, at: moment, title }: any) => [kind, moment, title]),
    [
      ['enrollment', at(0).toISOString(), 'pending'],
      ['conversion', at(-2).toISOString(), 'Goal of signup'],
      ['event', at(-2).toISOString(), 'user.signed-up'],
      ['send', at(-5).toISOString(), 'Hello'],
      ['conversion', at(-6).toISOString(), 'Goal of activation'],
      ['event', at(-6).toISOString(), 'app.opened'],
    ],
  );
  t.deepEqual(body.data[1].conversion, {
    goal_id: goals.signup,
    value_minor: 500,
    currency: 'EUR',
    last_send_before: { send_id: sends[0], campaign_id: campaignId, sent_at: at(-5).toISOString() },
  });
  t.is(body.data[4].conversion.last_send_before, null);
});
