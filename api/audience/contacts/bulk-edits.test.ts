import test from 'ava';
import { DAY_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { completeVerifications } from '../../../domain/audience/verification/complete.ts';
import { verifyDueAddresses } from '../../../domain/audience/verification/verify-due.ts';
import { assertStatus, call, createWorld, noRecords, type World } from '../../../test/harness/world.ts';

let world: World;
const clock = new ManualClock(new Date('2030-03-01T10:00:00Z'));
test.before(async () => {
  world = await createWorld({ clock, dns: noRecords });
});
test.after.always(() => world?.close());

/** Creates a workspace with three contacts, and functions that call the API. */
async function open() {
  const { apiKey: token, organizationId } = await world.tenant();
  const ask = (method: string, path: string, body?: unknown) => call(world, method, `/v1${path}`, { token, body });
  const people: { id: string; email: string }[] = (
    await ask(
      'POST',
      '/contacts',
      ['a', 'b', 'c'].map((name) => ({ email: `${name}@example.com` })),
    )
  ).body;
  const edit = (action: object, selected: object = { contacts: people.map(({ id }) => id) }) =>
    ask('POST', '/contacts/bulk-edits', { ...selected, action });
  const undo = (id: string) => ask('POST', `/contacts/bulk-edits/${id}/undo`);
  return { organizationId, ask, people, edit, undo, db: world.deps.db };
}

test('an undone edit leaves those as they were whom it has not changed', async (t) => {
  const { ask, people, edit, undo, organizationId, db } = await open();
  const { id: tag } = (await ask('POST', '/categories', { title: 'VIP' })).body;
  await ask('PATCH', `/contacts/${people[0]!.id}`, { add_categories: [tag] });
  const members = async () =>
    (await ask('POST', '/contacts/search', { category_ids: [tag] })).body.data.map((one: { id: string }) => one.id);
  const added = await edit({ type: 'add_category', category_id: tag });
  assertStatus(t, added, 200);
  t.like(added.body, { action: 'add_category', target_id: tag, selected: 3, changed: 2, undone_at: null });
  t.is((await members()).length, 3);
  t.truthy((await undo(added.body.id)).body.undone_at);
  t.deepEqual(await members(), [people[0]!.id]);
  t.is((await undo(added.body.id)).status, 409, 'once');

  const removed = await edit({ type: 'remove_category', category_id: tag });
  t.is(removed.body.changed, 1);
  t.deepEqual(await members(), []);
  assertStatus(t, await undo(removed.body.id), 200);
  t.deepEqual(await members(), [people[0]!.id]);
  const rows = await db('domain_events').where({ organization_id: organizationId, type: 'contact.updated' });
  t.deepEqual(rows.map(({ data }) => data.metadata?.count).filter(Boolean), [2, 2, 1, 1]);
  const log = await db('audit_logs').where({ organization_id: organizationId, entity_type: 'contact' });
  t.true(log.some(({ metadata }) => metadata?.undone_bulk_edit_id === removed.body.id));
});

test('leads are added and removed by their filter, and both is undone', async (t) => {
  const { ask, people, edit, undo } = await open();
  const { id: campaign } = (await ask('POST', '/campaigns', { name: 'Spring' })).body;
  const leads = async () => (await ask('GET', `/campaigns/${campaign}/leads`)).body.data.length;
  const all = { all: true, filters: { query: 'example.com' }, exclude: [people[2]!.id] };
  const added = await edit({ type: 'add_to_campaign', campaign_id: campaign }, all);
  t.like(added.body, { selected: 2, changed: 2 });
  t.is(await leads(), 2);
  const again = await edit({ type: 'add_to_campaign', campaign_id: campaign });
  t.like(again.body, { selected: 3, changed: 1 });
  await undo(again.body.id);
  t.is(await leads(), 2);
  const removed = await edit(
    { type: 'remove_from_campaign', campaign_id: campaign },
    { all: true, filters: { campaign_ids: [campaign], lead_status: 'pending' } },
  );
  t.is(removed.body.changed, 2);
  t.is(await leads(), 0);
  await undo(removed.body.id);
  t.is(await leads(), 2);
  await ask('DELETE', `/campaigns/${campaign}`);
  const gone = await undo(added.body.id);
  assertStatus(t, gone, 200);
});

test('an undone suppression subscribes those again whom it had unsubscribed', async (t) => {
  const { ask, people, edit, undo } = await open();
  await ask('POST', '/suppressions', { entries: [{ value: people[0]!.email }], reason: 'before' });
  await ask('PATCH', `/contacts/${people[1]!.id}`, { subscribed: false });
  const done = await edit({ type: 'suppress', reason: 'partner' });
  t.like(done.body, { selected: 3, changed: 2, target_id: null });
  const listed = async () =>
    (await ask('GET', '/suppressions')).body.data.map((one: { email: string; reason: string }) => [
      one.email,
      one.reason,
    ]);
  t.deepEqual((await listed()).toSorted(), [
    ['a@example.com', 'before'],
    ['b@example.com', 'partner'],
    ['c@example.com', 'partner'],
  ]);
  await undo(done.body.id);
  t.deepEqual(await listed(), [['a@example.com', 'before']]);
  const subscribed = await Promise.all(
    people.map(async ({ id }) => (await ask('GET', `/contacts/${id}`)).body.subscribed),
  );
  t.deepEqual(subscribed, [false, false, true], 'an opt-out of before stays');
});

test('a planned verification is taken back, and an edit of yesterday is not undone', async (t) => {
  const { ask, people, edit, undo, organizationId, db } = await open();
  const planned = () => db('contact_verifications').where({ organization_id: organizationId });
  const asked = await edit({ type: 'verify' });
  t.is(asked.body.changed, 3);
  t.is((await edit({ type: 'verify' })).body.changed, 0);
  await undo(asked.body.id);
  t.deepEqual(await planned(), []);

  const late = await edit({ type: 'verify' });
  await ask('DELETE', `/contacts/${people[0]!.id}`);
  t.is((await db('bulk_edit_contacts').where({ contact_id: people[0]!.id })).length, 0, 'nothing is left of them');
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  t.is((await undo(late.body.id)).status, 409);
  t.is((await undo(newId())).status, 404);
  const unknown = await edit({ type: 'add_category', category_id: newId() });
  t.deepEqual([unknown.status, unknown.body.problems[0].path], [400, 'body.action.category_id']);
});

test('addresses are verified in the background, with progress and an end', async (t) => {
  const { ask, people, organizationId, db } = await open();
  const asked = await ask('POST', '/contacts/verification', {
    action: 'verify',
    all: true,
    filters: { query: 'example.com' },
    exclude: [people[2]!.id],
  });
  assertStatus(t, asked, 200);
  t.like(asked.body, { action: 'verify', selected: 2, changed: 2, pending: 2, affected: 2, queued: true });
  t.is(asked.body.completed_at, null);
  const progress = async () => (await ask('GET', `/contacts/bulk-edits/${asked.body.id}`)).body;
  t.like(await progress(), { pending: 2, completed_at: null });
  await db('contact_verifications').where({ contact_id: people[0]!.id }).delete();
  await completeVerifications(world.deps);
  t.like(await progress(), { pending: 1, completed_at: null });
  await verifyDueAddresses(world.deps);
  const done = await progress();
  t.is(done.pending, 0);
  t.truthy(done.completed_at);
  const ends = async () =>
    (await db('domain_events').where({ organization_id: organizationId, type: 'bulk_operation.completed' })).map(
      ({ data }) => data,
    );
  const operation = 'contact_verification';
  t.like(await ends(), [{ operation, operation_id: asked.body.id, status: 'completed', selected: 2 }]);

  const again = await ask('POST', '/contacts/verification', { action: 'verify', contacts: [people[1]!.id] });
  t.like(again.body, { changed: 1, queued: true }, 'also an address with a verdict');
  assertStatus(t, await ask('POST', `/contacts/bulk-edits/${again.body.id}/undo`), 200);
  t.like((await ends())[1], { operation_id: again.body.id, status: 'cancelled' });
  t.is((await ask('GET', `/contacts/bulk-edits/${newId()}`)).status, 404);
});

test('a person marks addresses, cancels their checks, and an undone mark restores both', async (t) => {
  const { ask, people, undo, organizationId, db } = await open();
  const [first, second, third] = people.map(({ id }) => id);
  await db('contacts').where({ id: first! }).update({
    verification_status: 'risky',
    verification_reason: 'role_address',
    verification_checked_at: clock.now(),
  });
  await ask('POST', '/contacts/verification', { action: 'verify', contacts: [second] });
  const mark = (action: string, contacts: unknown[]) => ask('POST', '/contacts/verification', { action, contacts });
  const verdicts = async () =>
    (await db('contacts').where({ organization_id: organizationId }).orderBy('email')).map((row) => [
      row.verification_status,
      row.verification_reason,
    ]);
  const planned = () => db('contact_verifications').where({ organization_id: organizationId }).pluck('contact_id');
  const marked = await mark('mark_undeliverable', [first, second]);
  t.like(marked.body, { action: 'mark_undeliverable', changed: 2, pending: 0, queued: false });
  t.truthy(marked.body.completed_at);
  const undeliverable = ['invalid', 'marked_undeliverable'];
  t.deepEqual(await verdicts(), [undeliverable, undeliverable, ['unknown', '']]);
  t.deepEqual(await planned(), []);
  t.is((await mark('mark_undeliverable', [first, second, third])).body.changed, 1, 'those that had it stay');
  clock.set(new Date(clock.now().getTime() + 1000));
  t.is((await mark('mark_deliverable', [third])).body.changed, 1);
  await undo(marked.body.id);
  t.deepEqual(await verdicts(), [
    ['risky', 'role_address'],
    ['unknown', ''],
    ['valid', 'marked_deliverable'],
  ]);
  t.deepEqual(await planned(), [second]);
  const found = await ask('POST', '/contacts/search', {
    verification_status: 'Catch-All',
    verification_provider: 'ZeroBounce',
  });
  t.deepEqual(
    found.body.data.map(({ id }: { id: string }) => id),
    [first],
  );
});

test('verifications and verdicts are refused with codes of their own', async (t) => {
  const { ask, people } = await open();
  const code = async (path: string, body: object) => {
    const answer = await ask('POST', path, body);
    return [answer.status, answer.body.code, answer.body.problems?.map(({ path: at }: { path: string }) => at)];
  };
  const contacts = [people[0]!.id];
  t.deepEqual(await code('/contacts/verification', { action: 'dance', contacts }), [
    400,
    'invalid_action',
    ['body.action'],
  ]);
  t.deepEqual(await code('/contacts/verification', { action: 'verify', contacts: [newId()] }), [
    400,
    'no_contacts',
    ['body'],
  ]);
  const nobody = { action: 'verify', all: true, filters: { query: 'nobody' } };
  t.is((await code('/contacts/verification', nobody))[1], 'no_contacts');
  const status = [400, 'unknown_verification_status', ['body.verification_status']];
  t.deepEqual(await code('/contacts/search', { verification_status: 'dancing' }), status);
  t.deepEqual(
    await code('/contacts/search', { verification_status: 'abuse', verification_provider: 'hunter' }),
    status,
  );
  const provider = [400, 'unknown_verification_provider', ['body.verification_provider']];
  t.deepEqual(await code('/contacts/search', { verification_status: 'ok', verification_provider: 'dancer' }), provider);
  t.is((await code('/contacts/search', { verification_provider: 'hunter' }))[1], 'unknown_verification_status');
  const stated = [{ email: 'd@example.com' }, { email: 'e@example.com', verification_status: 'dancing' }];
  t.deepEqual(await code('/contacts', stated), [400, 'unknown_verification_status', ['body.1.verification_status']]);
  const held = [
    { email: 'd@example.com', verification_status: 'undeliverable', verification_provider: 'kickbox' },
    { email: 'a@example.com', verification_status: 'ok' },
  ];
  const stored = await ask('POST', '/contacts', held);
  t.deepEqual(
    stored.body.map((one: Record<string, string>) => [one.verification_status, one.verification_reason]),
    [
      ['invalid', 'stated'],
      ['valid', 'stated'],
    ],
  );
  const other = await ask('POST', '/contacts', [{ email: 'a@example.com', verification_status: 'invalid' }]);
  t.is(other.body[0].verification_status, 'valid', 'the first verdict stays');
});

test('a selection is counted, and an export is narrowed to it', async (t) => {
  const { ask, people } = await open();
  const count = async (body: object) => (await ask('POST', '/contacts/count', body)).body.count;
  t.is(await count({ all: true, filters: { query: 'example' }, exclude: [people[0]!.id] }), 2);
  t.is(await count({ contacts: [people[0]!.id] }), 1);
  t.is(await count({ all: true, filters: { query: 'nobody' } }), 0);
  const chosen = await ask('POST', '/lead-database/export', { selection: { contacts: [people[1]!.id] } });
  assertStatus(t, chosen, 200);
  t.deepEqual(chosen.text.match(/\w@example\.com/g), ['b@example.com']);
  const rest = { all: true, filters: { query: 'example' }, exclude: [people[1]!.id] };
  const others = await ask('POST', '/lead-database/export', { selection: rest });
  t.deepEqual(others.text.match(/\w@example\.com/g)?.toSorted(), ['a@example.com', 'c@example.com']);
});
