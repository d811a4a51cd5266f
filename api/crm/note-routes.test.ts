import test from 'ava';
import { createContact, createMember } from '../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('a note is written, listed, changed and deleted, and the contact keeps the log', async (t) => {
  const tenant = await world.tenant();
  const contactId = await createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId);
  const at = `/v1/contacts/${contactId}/notes`;
  const ask = (method: string, path: string, body?: unknown, token = tenant.apiKey) =>
    call(world, method, path, { token, ...(body === undefined ? {} : { body }) });

  const first = await ask('POST', at, { content: '  Met at the fair  ' }, tenant.sessionToken);
  assertStatus(t, first, 201);
  t.like(first.body, { contact_id: contactId, content: 'Met at the fair', user_id: tenant.userId });
  const second = (await ask('POST', at, { content: 'Calls back' })).body;
  const { body: page } = await ask('GET', `${at}?limit=1`);
  t.deepEqual(
    page.data.map(({ id }: { id: string }) => id),
    [second.id],
  );
  const rest = await ask('GET', `${at}?limit=1&cursor=${page.pagination.next_cursor}`);
  t.deepEqual(
    rest.body.data.map(({ id }: { id: string }) => id),
    [first.body.id],
  );

  const changed = await ask('PATCH', `${at}/${first.body.id}`, { content: 'Met at the fair in May' });
  t.is(changed.body.content, 'Met at the fair in May');
  assertStatus(t, await ask('DELETE', `${at}/${second.id}`), 204);
  assertStatus(t, await ask('DELETE', `${at}/${second.id}`), 404);
  t.is((await ask('GET', at)).body.data.length, 1);

  const activities = (await ask('GET', `/v1/contacts/${contactId}/activities`)).body.data;
  t.deepEqual(
    activities.map(({ activity_type: type }: { activity_type: string }) => type),
    ['note_updated', 'note_added', 'note_added'],
  );
  const events = await world.deps
    .db('domain_events')
    .where({ organization_id: tenant.organizationId, type: 'crm.note_created' })
    .orderBy('id');
  t.deepEqual(
    events.map(({ data }) => [data.note_id, data.contact_id]),
    [
      [first.body.id, contactId],
      [second.id, contactId],
    ],
  );
  assertStatus(t, await ask('DELETE', `/v1/contacts/${contactId}`), 204);
  t.deepEqual(await world.deps.db('contact_notes').where({ contact_id: contactId }), []);
});

test('notes have limits, belong to their contact, and need the right to change contacts', async (t) => {
  const tenant = await world.tenant();
  const [one, other] = await Promise.all([
    createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId),
    createContact(world.deps.db, world.deps.clock.now(), tenant.organizationId),
  ]);
  const ask = (method: string, path: string, body?: unknown, token = tenant.apiKey) =>
    call(world, method, `/v1/contacts/${path}`, { token, ...(body === undefined ? {} : { body }) });
  for (const content of ['', '   ', 'x'.repeat(10_001)])
    assertStatus(t, await ask('POST', `${one}/notes`, { content }), 400);
  const { id } = (await ask('POST', `${one}/notes`, { content: 'x'.repeat(10_000) })).body;
  assertStatus(t, await ask('PATCH', `${other}/notes/${id}`, { content: 'Other' }), 404);
  const viewer = await createMember(world.deps, tenant, 'Viewer');
  assertStatus(t, await ask('GET', `${one}/notes`, undefined, viewer.sessionToken), 200);
  assertStatus(t, await ask('POST', `${one}/notes`, { content: 'No' }, viewer.sessionToken), 403);
});
