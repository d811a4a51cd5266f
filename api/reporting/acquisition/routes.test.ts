import test from 'ava';
import { json } from '../../../db/connection.ts';
import { recordReply } from '../../../domain/sending/outcomes/reply.ts';
import { lockSubject } from '../../../domain/sending/outcomes/subject.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { updateFacts } from '../../../domain/reporting/aggregates/update-facts.ts';
import { deleteCampaign } from '../../../domain/campaigns/remove.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { announceSend, createEvent, createGoal, createPerson } from '../../../test/harness/acquisition.ts';
import {
  createApiKey,
  createCampaign,
  createContact,
  createMailbox,
  enroll,
  type Tenant,
} from '../../../test/harness/factories.ts';
import { createSend } from '../../../test/harness/inbound.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { PERMISSIONS } from '../../../lib/permissions.ts';

const START = new Date('2026-03-28T12:00:00Z');
const clock = new ManualClock(START);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, [updateFacts]);
});
test.after.always(() => world?.close());
test.beforeEach(() => clock.set(START));

const get = (tenant: Tenant, path: string) => call(world, 'GET', `/v1/acquisition${path}`, { token: tenant.apiKey });
const put = (tenant: Tenant, path: string, body: unknown) =>
  call(world, 'PUT', `/v1/acquisition${path}`, { token: tenant.apiKey, body });
const del = (tenant: Tenant, path: string) => call(world, 'DELETE', `/v1/acquisition${path}`, { token: tenant.apiKey });
const at = (days: number, ms = 0) => new Date(START.getTime() + days * DAY_MS + ms);
const stage = (body: any, name: string) => body.stages.find((each: any) => each.stage === name);
const entries = (tenant: Tenant, entityType: string) =>
  world.deps.db('audit_logs').where({ organization_id: tenant.organizationId, entity_type: entityType });

/** Creates a workspace with a campaign and primary goals, and functions that store sends and conversions. */
async function scene() {
  const tenant = await world.tenant();
  const org = tenant.organizationId;
  const mailboxId = await createMailbox(world.deps, org);
  const goals = { signup: await createGoal(world, org, 'signup'), paid: await createGoal(world, org, 'paid') };
  const campaign = async () => createCampaign(world.deps, org, [{ subject: 'One' }, { subject: 'Two' }]);
  const contact = async (email = `ann@${newId()}.test`) => {
    const id = await createContact(world.deps.db, clock.now(), org, { email });
    return { id, email, personId: await createPerson(world, org, { contactId: id }) };
  };
  const enrollments = new Map<string, string>();
  const send = async (
    to: { id: string; email: string },
    { campaignId, stepId }: { campaignId: string; stepId: string },
    sentAt: Date,
    dimensions: Record<string, unknown> = {},
  ) => {
    const key = `${campaignId}/${to.id}`;
    const enrollmentId = enrollments.get(key) ?? (await enroll(world.deps, org, campaignId, [to.id]))[0]!;
    enrollments.set(key, enrollmentId);
    const fields = { campaignId, enrollmentId, stepId, contactId: to.id, mailboxId, recipient: to.email };
    const { id } = await createSend(world.deps, org, fields, { sent_at: sentAt, dimensions: json(dimensions) });
    await announceSend(world, org, {
      id,
      campaignId,
      stepId,
      contactId: to.id,
      email: to.email,
      mailboxId,
      at: sentAt,
    });
    return id;
  };
  const convert = (
    who: { id: string; personId: string },
    goalId: string,
    when: Date,
    valueMinor?: number,
    currency?: string,
  ) =>
    createEvent(world, org, {
      personId: who.personId,
      contactId: who.id,
      namedBy: 'email',
      goalIds: [goalId],
      at: when,
      ...(valueMinor === undefined ? {} : { valueMinor, currency: currency ?? 'EUR' }),
    });
  const reply = (sendId: string, intent: string) =>
    transact(world.system(org), async (tx) =>
      recordReply(tx, (await lockSubject(tx, sendId))!, {
        intent,
        confidence: 1,
        unsubscribeRequest: false,
        source: 'inbox',
        message: null,
      }),
    );
  return {
    tenant,
    org,
    goals,
    campaign,
    contact,
    send,
    convert,
    reply,
    mailboxId,
    settle: () => react(world.deps, [updateFacts]),
  };
}

test.serial('the summary of a campaign: stages, maturity, revenue by currency, spend', async (t) => {
  const { tenant, goals, campaign, contact, send, convert, reply, settle } = await scene();
  const { campaignId, stepIds } = await campaign();
  const [ann, bo] = [await contact(), await contact()];
  const first = await send(ann, { campaignId, stepId: stepIds[0]! }, at(-40));
  await send(ann, { campaignId, stepId: stepIds[1]! }, at(-2));
  await send(bo, { campaignId, stepId: stepIds[0]! }, at(-1));
  await convert(ann, goals.signup, at(-35));
  await convert(ann, goals.paid, at(-20), 5000, 'EUR');
  await convert(bo, goals.paid, at(0), 700, 'JPY');
  await convert(bo, goals.paid, at(0), 100, 'EUR');
  await settle();
  assertStatus(t, await put(tenant, `/campaign-spend/${campaignId}`, { amount_minor: 1001, currency: 'eur' }), 200);
  const { status, body } = await get(
    tenant,
    `/summary?campaign_id=${campaignId}&from=${at(-60).toISOString()}&to=${at(1).toISOString()}`,
  );
  t.is(status, 200);
  t.like(body, { window_days: 30, confirmed_sends: 3, mature_sends: 1, prospects: 2 });
  t.deepEqual(stage(body, 'signup'), {
    stage: 'signup',
    goal_id: goals.signup,
    people: 1,
    mature_people: 1,
    per_10k_sends: 10_000,
  });
  t.like(stage(body, 'paid'), { people: 2, mature_people: 1 });
  t.like(stage(body, 'activation'), { goal_id: null, people: 0, per_10k_sends: 0 });
  t.deepEqual(body.window_revenue, [
    { currency: 'EUR', amount_minor: 5100, conversions: 2 },
    { currency: 'JPY', amount_minor: 700, conversions: 1 },
  ]);
  t.deepEqual(body.spend, {
    amount_minor: 1001,
    currency: 'EUR',
    cost_per_signup_minor: 1001,
    cost_per_paid_minor: 501,
  });
  await reply(first, 'positive');
  await settle();
  const { body: month } = await get(tenant, '/summary');
  t.like(month, { from: at(-30).toISOString(), to: START.toISOString(), confirmed_sends: 2, mature_sends: 0 });
  t.like(stage(month, 'replied'), { people: 0, per_10k_sends: null }, 'the reply answers an email before the range');
  t.is(month.spend, undefined);
  const { body: wide } = await get(tenant, `/summary?from=${at(-60).toISOString()}&window_days=60`);
  t.like(stage(wide, 'positive_reply'), { people: 1 }, 'forty days after the email');
  t.is(stage((await get(tenant, `/summary?from=${at(-60).toISOString()}`)).body, 'positive_reply').people, 0);
});

test.serial(
  'edges: a moment counts at the send and until the window ends; a range has its begin and not its end',
  async (t) => {
    const { tenant, goals, campaign, contact, send, convert, settle } = await scene();
    const { campaignId, stepIds } = await campaign();
    const sentAt = at(-10);
    const cases = [
      { when: sentAt, counts: 1 },
      { when: new Date(sentAt.getTime() - 1), counts: 0 },
      { when: new Date(sentAt.getTime() + 5 * DAY_MS - 1), counts: 1 },
      { when: new Date(sentAt.getTime() + 5 * DAY_MS), counts: 0 },
    ];
    for (const { when } of cases) {
      const who = await contact();
      await send(who, { campaignId, stepId: stepIds[0]! }, sentAt);
      await convert(who, goals.signup, when);
    }
    await settle();
    const people = async (query: string) => (await get(tenant, `/summary?window_days=5&${query}`)).body;
    const edge = sentAt.toISOString();
    const all = await people(`from=${edge}`);
    t.like(all, { confirmed_sends: 4, mature_sends: 4 });
    t.is(stage(all, 'signup').people, 2);
    t.is((await people(`from=${at(-20).toISOString()}&to=${edge}`)).confirmed_sends, 0);
    t.is((await people(`from=${edge}&to=${edge}`)).confirmed_sends, 0);
    clock.set(new Date(sentAt.getTime() + 5 * DAY_MS - 1));
    t.is((await people(`from=${edge}`)).mature_sends, 0, 'the window has not closed');
    clock.set(new Date(sentAt.getTime() + 5 * DAY_MS));
    t.is((await people(`from=${edge}`)).mature_sends, 4);
  },
);

test.serial(
  'a breakdown shows sends as they were when they left, also of a deleted campaign, and who lies behind',
  async (t) => {
    const { tenant, org, goals, campaign, contact, send, convert, settle } = await scene();
    const { campaignId, stepIds } = await campaign();
    const other = await campaign();
    const [ann, bo] = [await contact(), await contact()];
    await send(ann, { campaignId, stepId: stepIds[0]! }, at(-9), {
      offer: 'Trial',
      audience_source: 'import',
      copy_hash: 'first',
    });
    await send(bo, { campaignId, stepId: stepIds[0]! }, at(-8), { offer: 'Demo', copy_hash: 'second' });
    const sendId = await send(ann, { campaignId: other.campaignId, stepId: other.stepIds[0]! }, at(-7), {
      offer: 'Trial',
      copy_hash: 'second',
    });
    await convert(ann, goals.signup, at(-6));
    await settle();
    await deleteCampaign(world.system(org), other.campaignId);
    const { body } = await get(tenant, '/breakdown?dimension=offer');
    t.deepEqual(
      body.rows.map((row: any) => [row.key, row.name, row.confirmed_sends, row.prospects, stage(row, 'signup').people]),
      [
        ['Trial', 'Trial', 2, 1, 1],
        ['Demo', 'Demo', 1, 1, 0],
      ],
    );
    const { body: campaigns } = await get(tenant, '/breakdown');
    t.deepEqual(
      campaigns.rows.map((row: any) => [row.key, row.name, row.confirmed_sends]),
      [
        [campaignId, 'Spring', 2],
        [other.campaignId, null, 1],
      ],
    );
    await world.deps.db('sent_copies').insert({
      organization_id: org,
      name: 'one',
      copy_hash: 'first',
      content: 'As it was sent\nHi {{.FirstName}}',
    });
    await world.deps.db('campaign_steps').where({ campaign_id: campaignId }).update({ subject: 'As it reads today' });
    const { body: copies } = await get(tenant, '/breakdown?dimension=copy');
    t.deepEqual(
      copies.rows.map((row: any) => [row.key, row.name, row.confirmed_sends]),
      [
        ['second', null, 2],
        ['first', 'As it was sent', 1],
      ],
    );
    const { body: sources } = await get(tenant, '/breakdown?dimension=audience_source');
    t.deepEqual(
      sources.rows.map((row: any) => [row.key, row.confirmed_sends]),
      [
        [null, 2],
        ['import', 1],
      ],
    );
    const { body: behind } = await get(tenant, '/explain?figure=signup&dimension=offer&key=Trial');
    t.is(behind.pagination.total, 1);
    t.like(behind.data[0], { id: ann.id, contact_email: ann.email, send_id: sendId });
    t.is(
      (await get(tenant, '/explain?figure=confirmed_sends&dimension=audience_source&key=')).body.pagination.total,
      2,
    );
    const list = '/explain?figure=confirmed_sends&limit=1';
    const cursor = (await get(tenant, list)).body.pagination.next_cursor;
    t.truthy(cursor);
    clock.advance(1_000);
    t.is((await get(tenant, `${list}&cursor=${cursor}`)).status, 200, 'a time that ends now goes on between two pages');
    const { body: explained } = await get(tenant, `/attributions/${ann.personId}`);
    t.like(explained.credit, { send_id: sendId, offer: 'Trial', send_available: false, campaign_name: null });
  },
);

test.serial('the last send in the window is credited; settings and ties decide at once', async (t) => {
  const { tenant, goals, campaign, contact, send, convert, settle } = await scene();
  const { campaignId, stepIds } = await campaign();
  const [ann, bo, cy] = [await contact(), await contact(), await contact()];
  const old = await send(ann, { campaignId, stepId: stepIds[0]! }, at(-40));
  await convert(ann, goals.signup, at(-10));
  const tied = [
    await send(bo, { campaignId, stepId: stepIds[0]! }, at(-5)),
    await send(bo, { campaignId, stepId: stepIds[1]! }, at(-5)),
  ].sort();
  await convert(bo, goals.signup, at(-5));
  await convert(bo, goals.signup, at(-1));
  await convert(cy, goals.signup, at(-1));
  await send(cy, { campaignId, stepId: stepIds[0]! }, at(0));
  await settle();
  const { body } = await get(tenant, '/attribution/summary');
  t.like(body, {
    customers: 3,
    attributed: 1,
    unattributed: 2,
    attributed_without_engagement: 1,
    corrected: 0,
    pending: 0,
  });
  t.like(body.acquisition_goal, { id: goals.signup, kind: 'signup' });
  t.deepEqual(body.match_methods, {
    contact: 0,
    email: 3,
    linked_identity: 0,
    website_visitor: 0,
    unknown: 0,
    none: 0,
  });
  const { body: list } = await get(tenant, '/attributions');
  t.deepEqual(
    list.data.map((row: any) => [row.person_id, row.status, row.send_id, row.acquired_at]),
    [
      [cy.personId, 'unattributed', null, at(-1).toISOString()],
      [bo.personId, 'attributed', tied[1], at(-5).toISOString()],
      [ann.personId, 'unattributed', null, at(-10).toISOString()],
    ],
  );
  t.deepEqual((await put(tenant, '/attribution/settings', { window_days: 30 })).body, {
    window_days: 30,
    company_estimates: true,
    updated_by: null,
    updated_at: null,
  });
  t.is((await entries(tenant, 'attribution_settings')).length, 0, 'nothing changed');
  t.is((await get(tenant, '/attribution/settings')).body.window_days, 30);
  const exact = await put(tenant, '/attribution/settings', { window_days: 31 });
  t.like(exact.body, { window_days: 31, company_estimates: true, updated_by: tenant.userId });
  t.is((await entries(tenant, 'attribution_settings')).length, 1);
  const explained = (await get(tenant, `/prospects/${ann.id}/attribution`)).body;
  t.like(explained, { person_id: ann.personId, pending: false, company_estimate: null });
  t.like(explained.credit, { send_id: old, send_available: true });
  t.like(explained.candidate_sends[0], { send_id: old, in_window: true });
  t.deepEqual(
    explained.touches.map((touch: any) => touch.kind),
    ['visit', 'send'],
  );
  for (const days of [0, 366]) t.is((await put(tenant, '/attribution/settings', { window_days: days })).status, 400);
});

test.serial('corrections replace the credit, are repeated without effect, and are taken back', async (t) => {
  const { tenant, goals, campaign, contact, send, convert, settle } = await scene();
  const { campaignId, stepIds } = await campaign();
  const [ann, bo] = [await contact(), await contact()];
  const first = await send(ann, { campaignId, stepId: stepIds[0]! }, at(-50));
  const last = await send(ann, { campaignId, stepId: stepIds[1]! }, at(-3));
  const foreign = await send(bo, { campaignId, stepId: stepIds[0]! }, at(-3));
  await convert(ann, goals.signup, at(-2));
  const after = await send(ann, { campaignId: (await campaign()).campaignId, stepId: newId() }, at(-1));
  await settle();
  const path = `/attributions/${ann.personId}/correction`;
  for (const sendId of [foreign, after, newId(), 'x']) {
    const { status, body } = await put(tenant, path, { send_id: sendId, reason: 'So' });
    t.is(status, 400);
    t.is(body.problems[0].path, 'body.send_id');
  }
  assertStatus(t, await put(tenant, path, { send_id: null, reason: ' ' }), 400);
  assertStatus(t, await put(tenant, path, { send_id: null, reason: 'x'.repeat(501) }), 400);
  t.is(
    (await put(tenant, `/attributions/${bo.personId}/correction`, { send_id: null, reason: 'So' })).status,
    404,
    'no customer',
  );
  for (let times = 0; times < 2; times += 1) {
    const { status, body } = await put(tenant, path, { send_id: first, reason: 'They said so' });
    t.is(status, 200);
    t.like(body.correction, { send_id: first, reason: 'They said so', is_current: true, corrected_by: tenant.userId });
  }
  t.is((await entries(tenant, 'attribution_correction')).length, 1);
  const status = async () => (await get(tenant, '/attributions')).body.data[0];
  t.like(await status(), { status: 'attributed', corrected: true, send_id: first });
  t.is((await get(tenant, '/attribution/summary')).body.corrected, 1);
  const listed = async (query: string) => (await get(tenant, `/attributions?${query}`)).body.data;
  t.deepEqual(
    (await listed('corrected=true')).map((row: { person_id: string }) => row.person_id),
    [ann.personId],
  );
  t.is((await listed('match_method=none')).length, 0);
  await put(tenant, path, { send_id: null, reason: 'By themselves' });
  t.like(await status(), { status: 'unattributed', corrected: true, send_id: null });
  for (let times = 0; times < 2; times += 1)
    t.deepEqual((await del(tenant, `${path}?reason=Wrong`)).body, { person_id: ann.personId, correction: null });
  t.like(await status(), { status: 'attributed', corrected: false, send_id: last });
  t.deepEqual(
    (await get(tenant, `/attributions/${ann.personId}`)).body.corrections.map((row: any) => [
      row.action,
      row.send_id,
      row.reason,
    ]),
    [
      ['restored', null, 'Wrong'],
      ['set', null, 'By themselves'],
      ['set', first, 'They said so'],
    ],
  );
  t.is((await entries(tenant, 'attribution_correction')).length, 3);
});

test.serial('estimates for colleagues stand apart; free mail is no company', async (t) => {
  const { tenant, org, goals, campaign, contact, send, convert, settle } = await scene();
  const { campaignId, stepIds } = await campaign();
  const [ann, bo] = [await contact('ann@acme.test'), await contact('bo@acme.test')];
  const [cy, di] = [await contact('cy@gmail.com'), await contact('di@gmail.com')];
  const sendId = await send(ann, { campaignId, stepId: stepIds[0]! }, at(-4));
  await send(cy, { campaignId, stepId: stepIds[0]! }, at(-4));
  await convert(bo, goals.signup, at(-2));
  await convert(di, goals.signup, at(-2));
  const eve = await createPerson(world, org, { email: 'eve@acme.test' });
  await createEvent(world, org, { personId: eve, goalIds: [goals.signup], at: at(-1), namedBy: 'user_id' });
  await settle();
  const { body } = await get(tenant, '/attribution/summary');
  t.like(body, { customers: 3, attributed: 0, unattributed: 3, company_estimate: { enabled: true, customers: 2 } });
  t.is(body.match_methods.none, 1, 'a person without a contact');
  const estimated = (await get(tenant, '/attributions?status=estimated')).body.data;
  t.deepEqual(
    estimated.map((row: any) => [row.person_id, row.send_id]),
    [
      [eve, sendId],
      [bo.personId, sendId],
    ],
  );
  t.is((await get(tenant, '/attributions?status=unattributed')).body.data.length, 3);
  const rows = (await get(tenant, '/attribution/breakdown')).body.rows;
  t.deepEqual(rows, [
    {
      key: campaignId,
      name: 'Spring',
      customers: 0,
      attributed_without_engagement: 0,
      corrected: 0,
      company_estimate: 2,
    },
  ]);
  t.like((await get(tenant, `/attributions/${bo.personId}`)).body, {
    credit: null,
    company_estimate: { send_id: sendId, contact_id: ann.id },
  });
  await put(tenant, '/attribution/settings', { company_estimates: false });
  t.like((await get(tenant, '/attribution/summary')).body.company_estimate, { enabled: false, customers: 0 });
  t.is((await get(tenant, '/attributions?status=estimated')).body.data.length, 0);
});

test.serial(
  'without a primary signup goal the first payment makes a customer; without either there is none',
  async (t) => {
    const { tenant, goals, campaign, contact, send, convert, settle } = await scene();
    const { campaignId, stepIds } = await campaign();
    const ann = await contact();
    await send(ann, { campaignId, stepId: stepIds[0]! }, at(-5));
    await convert(ann, goals.paid, at(-1), 900);
    await settle();
    t.is((await get(tenant, '/attribution/summary')).body.customers, 0);
    await world.deps.db('goals').where({ id: goals.signup }).update({ is_primary: false });
    t.like((await get(tenant, '/attribution/summary')).body, { customers: 1, attributed: 1 });
    t.deepEqual((await get(tenant, `/attributions/${ann.personId}`)).body.lifetime_revenue, [
      { currency: 'EUR', amount_minor: 900, conversions: 1 },
    ]);
    await world.deps.db('goals').where({ id: goals.paid }).update({ archived_at: START });
    t.like((await get(tenant, '/attribution/summary')).body, { acquisition_goal: null, customers: 0 });
    t.deepEqual((await get(tenant, '/attribution/breakdown')).body.rows, []);
    t.deepEqual((await get(tenant, '/attributions')).body.data, []);
  },
);

test.serial('bad input is refused with every problem; spend is audited once and forgotten', async (t) => {
  const { tenant, campaign } = await scene();
  const paths = async (path: string) =>
    (await get(tenant, path)).body.problems?.map(({ path: where }: { path: string }) => where).sort();
  t.deepEqual(await paths('/summary?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z&window_days=366'), [
    'query.to',
    'query.window_days',
  ]);
  t.deepEqual(await paths('/breakdown?from=2025-01-01T00:00:00Z&to=2026-01-03T00:00:00Z&dimension=x'), [
    'query.dimension',
    'query.to',
  ]);
  t.is((await get(tenant, '/summary?from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00Z')).status, 200, '366 days');
  t.deepEqual(await paths('/summary?from=2020-01-01T00:00:00Z'), ['query.to'], 'too far before now');
  assertStatus(t, await get(tenant, `/summary?campaign_id=${newId()}`), 404);
  t.deepEqual(await paths('/attributions?limit=201&status=x'), ['query.limit', 'query.status']);
  t.deepEqual(await paths('/attributions?match_method=x&corrected=no&without_engagement=1'), [
    'query.corrected',
    'query.match_method',
    'query.without_engagement',
  ]);
  const { campaignId } = await campaign();
  const path = `/campaign-spend/${campaignId}`;
  t.is((await put(tenant, path, { amount_minor: -1, currency: 'ABC' })).body.problems.length, 2);
  // The currencies of campaign costs are those of goals.
  assertStatus(t, await put(tenant, path, { amount_minor: 5, currency: 'HRK' }), 400);
  for (let times = 0; times < 2; times += 1)
    assertStatus(t, await put(tenant, path, { amount_minor: 5, currency: 'CLF' }), 200);
  t.is((await entries(tenant, 'campaign_spend')).length, 1);
  for (let times = 0; times < 2; times += 1) t.is((await del(tenant, path)).status, 204);
  t.is((await entries(tenant, 'campaign_spend')).length, 2);
});

test.serial('lists and explanations need the right to see contacts', async (t) => {
  const { tenant } = await scene();
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: PERMISSIONS.find(({ name }) => name === 'READ_ANALYTICS')!.value,
  });
  for (const [path, status] of [
    ['/summary', 200],
    ['/attribution/summary', 200],
    ['/attributions', 403],
    [`/attributions/${newId()}`, 403],
    [`/prospects/${newId()}/attribution`, 403],
    ['/explain?figure=prospects', 403],
  ] as const)
    t.is((await call(world, 'GET', `/v1/acquisition${path}`, { token: apiKey })).status, status, path);
});
