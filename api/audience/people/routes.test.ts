import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { createGoal } from '../../../test/harness/acquisition.ts';
import { createApiKey, createContact, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Named {
  email?: string;
  contact_id?: string;
  user_id?: string;
  anonymous_id?: string;
}

async function publish(tenant: Tenant, named: Named): Promise<string> {
  const { body, text } = await call(world, 'POST', '/v1/events', {
    token: tenant.apiKey,
    headers: { 'idempotency-key': newId() },
    body: { name: 'signed.up', ...named },
  });
  if (!body.person_id) throw new Error(text);
  return body.person_id;
}
const get = (tenant: Tenant, path: string) => call(world, 'GET', `/v1${path}`, { token: tenant.apiKey });
const resolve = (tenant: Tenant, id: string, action: string) =>
  call(world, 'POST', `/v1/identity-conflicts/${id}/resolve`, { token: tenant.apiKey, body: { action } });
const contact = (tenant: Tenant, email: string) =>
  createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId, { email });
const conflicts = async (tenant: Tenant, status?: string) =>
  (await get(tenant, `/identity-conflicts${status ? `?status=${status}` : ''}`)).body.data;
const audits = (tenant: Tenant, entity_id: string) =>
  world.deps.db('audit_logs').where({ organization_id: tenant.organizationId, entity_id }).pluck('action');

/** Stores a conversion for the last event of a person. */
async function convert(tenant: Tenant, personId: string): Promise<void> {
  const { db, clock } = world.deps;
  const stamp = { organization_id: tenant.organizationId, created_at: clock.now() };
  const goal = await createGoal(world, tenant.organizationId, 'custom', { is_primary: false });
  const event = await db('product_events').where({ person_id: personId }).orderBy('id', 'desc').first();
  await db('conversions').insert({
    ...stamp,
    id: newId(),
    goal_id: goal,
    goal_revision: 1,
    event_id: event.id,
    person_id: personId,
    occurred_at: event.occurred_at,
  });
}

test('people without a contact are listed, newest first, with what is known of them', async (t) => {
  const tenant = await world.tenant();
  const people: string[] = [];
  for (const n of [1, 2, 3]) people.unshift(await publish(tenant, { email: `p${n}@example.org`, user_id: `u${n}` }));
  await publish(tenant, { email: 'p3@example.org', anonymous_id: 'a3' });
  await convert(tenant, people[0]!);
  await publish(tenant, { contact_id: await contact(tenant, 'ada@example.org') });
  const first = (await get(tenant, '/people?limit=2')).body;
  const second = (await get(tenant, `/people?limit=2&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(
    [...first.data, ...second.data].map(({ id }: { id: string }) => id),
    people,
  );
  t.is(second.pagination.next_cursor, null);
  const [newest] = first.data;
  t.like(newest, { contact_id: null, identifier_count: 3, event_count: 2, conversion_count: 1 });
  t.deepEqual(
    newest.identifiers.map(({ kind, value }: { kind: string; value: string }) => `${kind} ${value}`),
    ['email p3@example.org', 'user_id u3', 'anonymous_id a3'],
  );
  t.truthy(newest.first_event_at);
  t.deepEqual((await get(tenant, `/people/${newest.id}`)).body, newest);
  for (const id of [newId(), 'x']) t.is((await get(tenant, `/people/${id}`)).status, 404);
});

test('a person without a contact is erased with all that is of it; one with a contact goes with the contact', async (t) => {
  const tenant = await world.tenant();
  const eve = await publish(tenant, { email: 'eve@example.org', user_id: 'u1' });
  await publish(tenant, { email: 'bob@example.org', anonymous_id: 'a1' });
  await publish(tenant, { email: 'eve@example.org', anonymous_id: 'a1' });
  await convert(tenant, eve);
  t.is((await conflicts(tenant)).length, 1);
  const remove = (id: string) => call(world, 'DELETE', `/v1/people/${id}`, { token: tenant.apiKey });
  assertStatus(t, await remove(eve), 204);
  for (const table of ['product_events', 'person_identifiers', 'conversions'])
    t.deepEqual(await world.deps.db(table).where({ person_id: eve }), [], table);
  t.deepEqual(await conflicts(tenant, 'all'), []);
  assertStatus(t, await remove(eve), 404);
  t.deepEqual(await audits(tenant, eve), ['delete']);

  const ada = await contact(tenant, 'ada@example.org');
  const person = await publish(tenant, { contact_id: ada });
  t.is((await get(tenant, `/people/${person}`)).body.contact_id, ada);
  const refused = await remove(person);
  assertStatus(t, refused, 409);
  t.is(refused.body.code, 'person_has_contact');
  await call(world, 'DELETE', `/v1/contacts/${ada}`, { token: tenant.apiKey });
  assertStatus(t, await get(tenant, `/people/${person}`), 404);
  t.deepEqual(await world.deps.db('product_events').where({ person_id: person }), []);
});

test('a merge folds the other person, once, and what it was in conflict about', async (t) => {
  const tenant = await world.tenant();
  const ada = await contact(tenant, 'ada@example.org');
  const other = await publish(tenant, { contact_id: ada, user_id: 'u1', anonymous_id: 'a1' });
  const claimer = await publish(tenant, { email: 'eve@example.org', anonymous_id: 'a1' });
  await publish(tenant, { email: 'eve@example.org', user_id: 'u1' });
  const third = await publish(tenant, { email: 'joe@example.org', user_id: 'u9', anonymous_id: 'a1' });
  await convert(tenant, other);
  const [ofThird, byUser, byBrowser] = await conflicts(tenant);
  t.like(byBrowser, {
    person_id: claimer,
    other_person_id: other,
    kind: 'anonymous_id',
    value: 'a1',
    status: 'open',
    contact_id: null,
    other_contact_id: ada,
  });
  t.like(ofThird, { person_id: third, other_person_id: other });
  t.is(byUser.kind, 'user_id');

  const merged = await resolve(tenant, byBrowser.id, 'merge');
  assertStatus(t, merged, 200);
  t.like(merged.body, {
    id: byBrowser.id,
    person_id: claimer,
    other_person_id: other,
    status: 'merged',
    contact_id: ada,
  });
  t.truthy(merged.body.resolved_at);
  const whole = (await get(tenant, `/people/${claimer}`)).body;
  t.like(whole, { contact_id: ada, identifier_count: 4, event_count: 3, conversion_count: 1 });
  assertStatus(t, await get(tenant, `/people/${other}`), 404);
  t.deepEqual(
    (await world.deps.db('product_events').where({ person_id: claimer })).map((row) => row.contact_id),
    [ada, ada, ada],
  );
  t.like(await conflicts(tenant), [
    { id: ofThird.id, person_id: third, other_person_id: claimer, other_contact_id: ada },
  ]);
  t.deepEqual(
    (await conflicts(tenant, 'all')).map(({ status }: { status: string }) => status),
    ['open', 'merged', 'merged'],
  );
  t.deepEqual(await audits(tenant, byBrowser.id), ['merge']);
  for (const action of ['merge', 'dismiss']) {
    const again = await resolve(tenant, byBrowser.id, action);
    assertStatus(t, again, 409);
    t.is(again.body.code, 'conflict');
  }
  const events = await world.deps
    .db('domain_events')
    .where({ organization_id: tenant.organizationId, type: 'person.changed' });
  t.deepEqual(
    events.map(({ data }) => data.person_ids.sort()),
    [[claimer, other].sort()],
  );
});

test('people who both have contacts are kept apart; what was dismissed is not raised again', async (t) => {
  const tenant = await world.tenant();
  const [ada, bob] = [await contact(tenant, 'ada@example.org'), await contact(tenant, 'bob@example.org')];
  await publish(tenant, { contact_id: ada, user_id: 'u1' });
  const person = await publish(tenant, { contact_id: bob, user_id: 'u1' });
  const [conflict] = await conflicts(tenant);
  t.like(conflict, { person_id: person, contact_id: bob, other_contact_id: ada });
  const refused = await resolve(tenant, conflict.id, 'merge');
  assertStatus(t, refused, 409);
  t.is(refused.body.code, 'identity_merge_contacts');
  t.is((await resolve(tenant, conflict.id, 'dismiss')).body.status, 'dismissed');
  assertStatus(t, await resolve(tenant, conflict.id, 'dismiss'), 409);
  const reopen = () => call(world, 'POST', `/v1/identity-conflicts/${conflict.id}/reopen`, { token: tenant.apiKey });
  t.like((await reopen()).body, { status: 'open', resolved_at: null, resolved_by: null });
  assertStatus(t, await reopen(), 409);
  t.is((await resolve(tenant, conflict.id, 'dismiss')).body.status, 'dismissed');
  await publish(tenant, { contact_id: bob, user_id: 'u1' });
  t.deepEqual(await conflicts(tenant), []);
  t.deepEqual(await conflicts(tenant, 'dismissed'), await conflicts(tenant, 'all'));
  t.is((await conflicts(tenant, 'all')).length, 1);
  const { body } = await get(tenant, '/identity-conflicts?status=all&limit=1');
  t.is(body.pagination.next_cursor, null);
  assertStatus(t, await get(tenant, '/identity-conflicts?status=merged'), 400);
  assertStatus(t, await resolve(tenant, conflict.id, 'other'), 400);
  for (const id of [newId(), 'x']) t.is((await resolve(tenant, id, 'merge')).status, 404);
});

test('reading and deciding need their scopes', async (t) => {
  const tenant = await world.tenant();
  const eve = await publish(tenant, { email: 'eve@example.org', user_id: 'u1' });
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['READ_CONTACTS']),
  });
  const reads = { ...tenant, apiKey };
  assertStatus(t, await get(reads, '/people'), 200);
  assertStatus(t, await get(reads, '/identity-conflicts'), 403);
  assertStatus(t, await call(world, 'DELETE', `/v1/people/${eve}`, { token: apiKey }), 403);
  assertStatus(t, await resolve(reads, newId(), 'merge'), 403);
});
