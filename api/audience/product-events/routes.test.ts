import test from 'ava';
import { createWaitingLead } from '../../../test/harness/standing-leads.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createApiKey, createContact, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const publish = (tenant: Tenant, body: unknown, key: string = newId()) =>
  call(world, 'POST', '/v1/events', { token: tenant.apiKey, body, headers: { 'idempotency-key': key } });
const list = (tenant: Tenant, query: Record<string, string>) =>
  call(world, 'GET', `/v1/events?${new URLSearchParams(query).toString()}`, { token: tenant.apiKey });

/** Creates a contact that waits for order.paid. */
async function waitingContact(tenant: Tenant) {
  const now = world.deps.clock.now();
  const { organizationId } = tenant;
  const email = `ada-${newId()}@example.org`;
  const contactId = await createContact(world.deps.db, now, organizationId, { email });
  const openedAt = new Date(now.getTime() - 60_000);
  return { ...(await createWaitingLead(world.deps, organizationId, contactId, { openedAt })), contactId, email };
}

test('an event is accepted, resumes the waiting run, and a replay repeats the answer and resumes nothing', async (t) => {
  const tenant = await world.tenant();
  const ada = await waitingContact(tenant);
  const body = { name: 'order.paid', email: ada.email, user_id: 'user_1042', data: { total: 12.5 } };
  const first = await publish(tenant, body, 'paid-1');
  assertStatus(t, first, 202);
  t.like(first.body, { contact_id: ada.contactId, name: 'order.paid', matched_waits: 1 });
  t.deepEqual(first.body.matched_runs, [
    {
      run_id: ada.runId,
      campaign_id: ada.campaignId,
      step_id: ada.stepId,
      contact_id: ada.contactId,
      state: 'resumed',
      mode: 'live',
    },
  ]);
  const again = await publish(tenant, body, 'paid-1');
  t.deepEqual(again.body, first.body);
  t.is(again.headers.get('idempotent-replayed'), 'true');
  t.is((await world.deps.db('product_events').where({ contact_id: ada.contactId })).length, 1);
  t.is(
    (await world.deps.db('outbox').where({ workflow_id: `enrollment/${ada.campaignId}/${ada.contactId}` })).length,
    1,
  );
  assertStatus(t, await publish(tenant, { ...body, data: {} }, 'paid-1'), 409);
  t.is((await publish(tenant, { ...body, email: ada.email.toUpperCase() }, 'paid-2')).body.matched_waits, 0);

  const stored = await call(world, 'GET', `/v1/events/${first.body.event_id}`, { token: tenant.apiKey });
  t.like(stored.body, {
    id: first.body.event_id,
    contact_id: ada.contactId,
    name: 'order.paid',
    data: { total: 12.5 },
    received_at: first.body.received_at,
  });
  t.is(stored.body.occurred_at, first.body.received_at);
});

test('the same request sent at the same time is one event', async (t) => {
  const tenant = await world.tenant();
  const ada = await waitingContact(tenant);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => publish(tenant, { name: 'order.paid', contact_id: ada.contactId }, 'same')),
  );
  t.is(new Set(answers.map((answer) => answer.text)).size, 1);
  t.is((await world.deps.db('product_events').where({ contact_id: ada.contactId })).length, 1);
});

test('an event of the future and a number that would change are refused; a clock may be somewhat ahead', async (t) => {
  const tenant = await world.tenant();
  const { contactId } = await waitingContact(tenant);
  const report = (fields: object) => publish(tenant, { name: 'order.paid', contact_id: contactId, ...fields });
  const ahead = (minutes: number) => new Date(world.deps.clock.now().getTime() + minutes * 60_000).toISOString();
  for (const occurred_at of ['2099-01-01T00:00:00Z', ahead(70)])
    t.deepEqual((await report({ occurred_at })).body.problems, [
      {
        path: 'body.occurred_at',
        message: 'must be at most one hour in the future',
        code: 'audience.event_ahead',
        values: {},
      },
    ]);
  for (const occurred_at of ['1970-01-01T00:00:00Z', ahead(-1), ahead(50)])
    assertStatus(t, await report({ occurred_at }), 202);
  const big = await report({ data: { order: 7615917337495251231n.toString() } });
  assertStatus(t, big, 202);
  const refused = await report({ data: { order: 7615917337495251000 } });
  assertStatus(t, refused, 400);
  t.is(refused.body.problems[0].path, 'body.data.order');
});

test('every fault is listed; the key is required; an unknown contact has a code of its own', async (t) => {
  const tenant = await world.tenant();
  const paths = (answer: { body: { problems: { path: string }[] } }) =>
    answer.body.problems.map((problem) => problem.path).sort();
  const bad = await publish(tenant, {
    name: 'Order Paid',
    email: 'nobody',
    occurred_at: 'yesterday',
    data: [],
    more: 1,
  });
  t.deepEqual(paths(bad), ['body.data', 'body.email', 'body.more', 'body.name', 'body.occurred_at']);
  for (const body of [{ name: 'a' }, { name: 'a', email: 'a@example.org', contact_id: newId() }]) {
    t.deepEqual(paths(await publish(tenant, body)), ['body.contact_id', 'body.email']);
  }
  for (const name of ['', 'a..b', '.a', 'a.', 'a b', 'Ä', 'x'.repeat(121)])
    t.is((await publish(tenant, { name, contact_id: newId() })).status, 400, name);
  assertStatus(t, await publish(tenant, { name: 'a', contact_id: newId(), data: { text: 'x'.repeat(70_000) } }), 400);
  for (const body of [
    { name: 'a_b-c.1', contact_id: newId() },
    { name: 'x'.repeat(120), email: 'unknown@example.org' },
  ]) {
    const answer = await publish(tenant, body);
    assertStatus(t, answer, 404);
    t.is(answer.body.code, 'event_contact_not_found');
  }
  const keyless = await call(world, 'POST', '/v1/events', {
    token: tenant.apiKey,
    body: { name: 'a', contact_id: newId() },
  });
  assertStatus(t, keyless, 400);
});

test('an event of nobody who is a contact is kept for a person, when it says more than an email', async (t) => {
  const tenant = await world.tenant();
  const body = { name: 'signed.up', email: 'Eve@Example.org' };
  t.is((await publish(tenant, body)).body.code, 'event_contact_not_found');
  const bad = await publish(tenant, { ...body, user_id: ' ', anonymous_id: 'x'.repeat(256) });
  t.deepEqual(bad.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.anonymous_id',
    'body.user_id',
  ]);
  assertStatus(t, await publish(tenant, { ...body, user_id: 'u\0' }), 400);
  const kept = await publish(tenant, { ...body, user_id: 'u1', anonymous_id: 'a1' });
  assertStatus(t, kept, 202);
  t.like(kept.body, { contact_id: null, matched_waits: 0 });
  const { data } = (await list(tenant, { email: 'eve@example.org' })).body;
  t.like(data, [{ id: kept.body.event_id, contact_id: null, person_id: kept.body.person_id }]);
  const emitted = await world.deps.db('domain_events').where({ organization_id: tenant.organizationId }).first();
  t.like(emitted, { type: 'custom.event', data: { event_id: kept.body.event_id, contact_id: null } });
});

test('events are listed latest first, filtered, and paged without gaps', async (t) => {
  const tenant = await world.tenant();
  const now = world.deps.clock.now();
  const [ada, bob] = [
    await createContact(world.deps.db, now, tenant.organizationId, { email: 'ada@example.org' }),
    await createContact(world.deps.db, now, tenant.organizationId, { email: 'bob@example.org' }),
  ];
  // Several events in the same millisecond, ordered by id.
  const rows = Array.from({ length: 12 }, (_, n) => ({
    id: newId(),
    organization_id: tenant.organizationId,
    contact_id: n % 3 === 0 ? bob : ada,
    name: n % 2 === 0 ? 'order.paid' : 'signed.up',
    data: JSON.stringify({ n }),
    occurred_at: now,
    received_at: new Date(now.getTime() - 60_000 + Math.floor(n / 4) * 1000),
  }));
  await world.deps.db('product_events').insert(rows);
  const seen: number[] = [];
  let cursor = '';
  do {
    const page = await list(tenant, { limit: '5', ...(cursor ? { cursor } : {}) });
    seen.push(...page.body.data.map((event: { data: { n: number } }) => event.data.n));
    cursor = page.body.pagination.next_cursor ?? '';
  } while (cursor);
  t.deepEqual(seen, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  const numbers = async (query: Record<string, string>) =>
    (await list(tenant, query)).body.data.map((event: { data: { n: number } }) => event.data.n);
  t.deepEqual(await numbers({ name: 'signed.up' }), [11, 9, 7, 5, 3, 1]);
  t.deepEqual(await numbers({ email: 'Bob@example.org' }), [9, 6, 3, 0]);
  t.deepEqual(await numbers({ contact_id: bob, name: 'order.paid' }), [6, 0]);
  t.deepEqual(await numbers({ since: rows[7]!.received_at.toISOString() }), [11, 10, 9, 8]);
  t.deepEqual(await numbers({ email: 'nobody@example.org' }), []);

  const { next_cursor: foreign } = (await list(tenant, { limit: '2', name: 'order.paid' })).body.pagination;
  assertStatus(t, await list(tenant, { limit: '2', name: 'signed.up', cursor: foreign }), 400);
  for (const [name, value] of [
    ['limit', '0'],
    ['limit', '201'],
    ['since', 'x'],
    ['contact_id', 'x'],
    ['cursor', 'x'],
  ] as const) {
    t.is((await list(tenant, { [name]: value })).status, 400, name);
  }
});

test('events of others are unknown, and keys need the scope', async (t) => {
  const [mine, other] = [await world.tenant(), await world.tenant()];
  const ada = await waitingContact(other);
  const { body } = await publish(other, { name: 'order.paid', contact_id: ada.contactId });
  for (const id of [body.event_id, newId(), 'x']) {
    const answer = await call(world, 'GET', `/v1/events/${id}`, { token: mine.apiKey });
    assertStatus(t, answer, 404);
    t.is(answer.body.code, 'event_not_found');
  }
  t.is((await publish(mine, { name: 'order.paid', contact_id: ada.contactId })).body.code, 'event_contact_not_found');
  t.deepEqual((await list(mine, {})).body.data, []);
  const reader = await createApiKey(world.deps, mine.organizationId, mine.userId, {
    permissions: maskOf(['READ_CAMPAIGNS']),
  });
  assertStatus(t, await publish({ ...mine, apiKey: reader.apiKey }, { name: 'a', contact_id: newId() }), 403);
});
