import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { replayPage } from '../../../domain/reporting/goals/replay-page.ts';
import { cancelReplay } from '../../../domain/reporting/goals/replays.ts';
import { SUBSCRIBERS } from '../../../domain/operations/subscribers/index.ts';
import { registerSubscribers } from '../../../domain/platform/events/register.ts';
import { createContact, type Tenant } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

const NOON = new Date('2026-03-02T12:00:00Z');
const RANGE = { from: '2026-02-01T00:00:00Z', to: '2026-04-01T00:00:00Z' };
const clock = new ManualClock(NOON);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

const ask = (tenant: Tenant, method: string, path: string, body?: unknown) =>
  call(world, method, `/v1/goals${path}`, { token: tenant.apiKey, ...(body === undefined ? {} : { body }) });
const settle = () => react(world.deps, SUBSCRIBERS);
const conversions = (goalId: string) => world.deps.db('conversions').where({ goal_id: goalId }).orderBy('event_id');

const SIGNED_UP = { event_name: 'signed.up' };
const PAID = {
  event_name: 'order.paid',
  predicates: [{ path: 'plan.name', op: 'in', value: ['pro', 'team'] }],
  value_path: 'total',
  value_unit: 'major',
  currency_path: 'currency',
  default_currency: 'eur',
};

async function define(tenant: Tenant, given: Record<string, unknown> = {}) {
  const body = { name: 'A goal', kind: 'signup', definition: SIGNED_UP, ...given };
  return (await ask(tenant, 'POST', '', body)).body;
}

async function publish(tenant: Tenant, name: string, data: object = {}, occurredAt?: Date): Promise<string> {
  const contactId = await createContact(world.deps.db, NOON, tenant.organizationId);
  const { status, body } = await call(world, 'POST', '/v1/events', {
    token: tenant.apiKey,
    headers: { 'idempotency-key': newId() },
    body: { name, contact_id: contactId, data, ...(occurredAt ? { occurred_at: occurredAt.toISOString() } : {}) },
  });
  if (status !== 202) throw new Error(JSON.stringify(body));
  return body.event_id;
}

/** Processes the pages of a replay until it has ended. */
async function play(tenant: Tenant, replayId: string, limit?: number): Promise<number> {
  for (let pages = 1; ; pages += 1)
    if ((await replayPage(world.system(tenant.organizationId), replayId, limit)).kind === 'done') return pages;
}

test.serial('a stage has one primary goal; another one demotes it, also when two come at once', async (t) => {
  const tenant = await world.tenant();
  const primaries = async (kind: string) =>
    (await ask(tenant, 'GET', '')).body.data.filter(
      (goal: { kind: string; is_primary: boolean }) => goal.kind === kind && goal.is_primary,
    );
  const first = await define(tenant, { is_primary: true });
  t.like(first, { kind: 'signup', is_primary: true, revision: 1, archived_at: null });
  t.deepEqual(first.definition, {
    event_name: 'signed.up',
    predicates: [],
    value_path: null,
    value_unit: 'minor',
    currency_path: null,
    default_currency: null,
  });
  const second = await define(tenant, { is_primary: true });
  t.deepEqual(
    (await primaries('signup')).map(({ id }: { id: string }) => id),
    [second.id],
  );
  await define(tenant, { kind: 'paid', is_primary: true });
  t.is((await primaries('signup')).length, 1, 'another stage');
  for (let n = 0; n < 2; n += 1) await define(tenant, { kind: 'custom', is_primary: true });
  t.is((await primaries('custom')).length, 2, 'custom is no stage');

  for (let round = 0; round < 5; round += 1) {
    const others = await Promise.all([1, 2, 3].map(() => define(tenant)));
    const answers = await Promise.all([
      ...others.map(({ id }) => ask(tenant, 'PATCH', `/${id}`, { is_primary: true })),
      ask(tenant, 'POST', '', { name: 'New', kind: 'signup', is_primary: true, definition: SIGNED_UP }),
    ]);
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 201],
    );
    t.is((await primaries('signup')).length, 1);
  }
  const [entry] = await world.deps.db('audit_logs').where({ entity_type: 'goal', entity_id: second.id });
  t.is(entry.metadata.demoted_goal_id, first.id);
  const [{ id }] = await primaries('signup');
  assertStatus(t, await ask(tenant, 'DELETE', `/${id}`), 204);
  t.is((await primaries('signup')).length, 0);
  t.is((await ask(tenant, 'PATCH', `/${first.id}`, { is_primary: true })).body.is_primary, true);
});

test.serial(
  'a new definition is a revision; a name, the primary goal and the same definition again are none',
  async (t) => {
    const tenant = await world.tenant();
    const goal = await define(tenant, { kind: 'paid', definition: PAID });
    t.is(goal.definition.default_currency, 'EUR');
    const path = `/${goal.id}`;
    t.like((await ask(tenant, 'PATCH', path, { name: 'Paid', is_primary: true })).body, { name: 'Paid', revision: 1 });
    t.is((await ask(tenant, 'PATCH', path, { definition: PAID })).body.revision, 1);
    t.is((await ask(tenant, 'PATCH', path, { definition: { ...PAID, default_currency: 'USD' } })).body.revision, 2);
    const { body } = await ask(tenant, 'GET', path);
    t.deepEqual(
      body.revisions.map((row: any) => [row.revision, row.definition.default_currency]),
      [
        [2, 'USD'],
        [1, 'EUR'],
      ],
    );
    t.is((await ask(tenant, 'PATCH', path, { kind: 'signup' })).status, 400, 'the stage cannot change');
    assertStatus(t, await ask(tenant, 'DELETE', path), 204);
    t.is((await ask(tenant, 'DELETE', path)).status, 204, 'again');
    assertStatus(t, await ask(tenant, 'PATCH', path, { name: 'x' }), 409);
    assertStatus(t, await ask(tenant, 'POST', `${path}/replays`, RANGE), 409);
    assertStatus(t, await ask(tenant, 'POST', `${path}/replays/preview`, RANGE), 409);
    t.deepEqual((await ask(tenant, 'GET', '')).body.data, []);
    t.like((await ask(tenant, 'GET', '?include_archived=true')).body.data, [{ id: goal.id, is_primary: false }]);
    t.truthy((await ask(tenant, 'GET', path)).body.archived_at);
  },
);

test.serial('bad definitions and ranges are refused with every fault', async (t) => {
  const tenant = await world.tenant();
  const { status, body } = await ask(tenant, 'POST', '', {
    name: '',
    kind: 'visit',
    definition: {
      event_name: 'Signed Up',
      predicates: [
        { path: 'a..b', op: 'eq', value: 1 },
        { path: 'a', op: 'gt', value: '1' },
      ],
      value_path: 'total',
      value_unit: 'cents',
    },
  });
  t.is(status, 400);
  t.deepEqual(body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.definition.event_name',
    'body.definition.predicates.0.path',
    'body.definition.predicates.1.value',
    'body.definition.value_path',
    'body.definition.value_unit',
    'body.kind',
    'body.name',
  ]);
  const bad = await ask(tenant, 'POST', '/preview', { definition: { ...PAID, default_currency: 'EUX' }, days: 367 });
  t.deepEqual(bad.body.problems.map(({ path }: { path: string }) => path).sort(), [
    'body.days',
    'body.definition.default_currency',
  ]);
  const { id } = await define(tenant);
  for (const range of [
    { from: RANGE.to, to: RANGE.from },
    { from: RANGE.from, to: RANGE.from },
    { from: '2025-01-01T00:00:00Z', to: '2026-01-02T00:00:00.001Z' },
  ])
    for (const path of ['/replays', '/replays/preview'])
      t.like((await ask(tenant, 'POST', `/${id}${path}`, range)).body, { problems: [{ path: 'body.to' }] });
  const year = { from: '2025-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  t.is((await ask(tenant, 'POST', `/${id}/replays/preview`, year)).status, 200, '366 days');
  t.is((await ask(tenant, 'POST', `/${id}/replays`, {})).body.problems.length, 2);
});

test.serial('a workspace has at most 200 goals that are not archived', async (t) => {
  const tenant = await world.tenant();
  const { id } = await define(tenant);
  await world.deps.db.raw(
    `insert into goals (id, organization_id, name, kind, is_primary, revision, created_at, updated_at)
     select gen_random_uuid(), organization_id, name, kind, is_primary, 1, created_at, updated_at from goals, generate_series(1, 199) where id = ?`,
    [id],
  );
  const full = await ask(tenant, 'POST', '', { name: 'x', kind: 'paid', definition: SIGNED_UP });
  t.like(full, { status: 400, body: { problems: [{ path: 'body' }] } });
  await ask(tenant, 'DELETE', `/${id}`);
  t.is((await define(tenant)).kind, 'signup');
});

test.serial('events become conversions once, by the definition of when they were received', async (t) => {
  const tenant = await world.tenant();
  const early = await publish(tenant, 'signed.up', { plan: 'pro' });
  clock.set(new Date(NOON.getTime() + 1000));
  const goal = await define(tenant, {
    definition: { ...SIGNED_UP, predicates: [{ path: 'plan', op: 'eq', value: 'pro' }] },
  });
  const archived = await define(tenant);
  const pro = await publish(tenant, 'signed.up', { plan: 'pro' });
  const old = await publish(tenant, 'signed.up', { plan: 'pro' }, new Date('2020-01-01T00:00:00Z'));
  await publish(tenant, 'signed.up', { plan: 'free' });
  await publish(tenant, 'signed.in', { plan: 'pro' });
  clock.set(new Date(NOON.getTime() + 2000));
  await ask(tenant, 'DELETE', `/${archived.id}`);
  await ask(tenant, 'PATCH', `/${goal.id}`, {
    definition: { ...SIGNED_UP, predicates: [{ path: 'plan', op: 'eq', value: 'free' }] },
  });
  const free = await publish(tenant, 'signed.up', { plan: 'free' });
  await settle();
  const rows = await conversions(goal.id);
  t.deepEqual(
    rows.map((row) => [row.event_id, row.goal_revision]),
    [
      [pro, 1],
      [old, 1],
      [free, 2],
    ],
  );
  t.false(
    rows.some((row) => row.event_id === early),
    'before the goal',
  );
  t.deepEqual(await conversions(archived.id), []);
  const [event] = await world.deps.db('product_events').where({ id: pro });
  t.like(rows[0], { person_id: event.person_id, occurred_at: event.occurred_at, value_minor: null, currency: null });

  // Applies the events again, to simulate a crash or a manual replay.
  const emitted = () =>
    world.deps.db('domain_events').where({ organization_id: tenant.organizationId, type: 'person.changed' });
  const people = (await emitted()).flatMap((row) => row.data.person_ids);
  t.deepEqual([...people].sort(), rows.map((row) => row.person_id).sort());
  const before = (await emitted()).length;
  for (const row of await world.deps
    .db('domain_events')
    .where({ organization_id: tenant.organizationId, type: 'custom.event' }))
    await world.deps
      .db('domain_events')
      .insert({ ...row, id: newId(), position: null, data: JSON.stringify(row.data) });
  await settle();
  t.deepEqual(await conversions(goal.id), rows);
  t.is((await emitted()).length, before);
});

test.serial('values count in minor units of their currency, or not at all', async (t) => {
  const tenant = await world.tenant();
  const goal = await define(tenant, { kind: 'revenue', definition: PAID });
  const cases: [object, number | null, string | null][] = [
    [{ total: 12.34, currency: 'usd' }, 1234, 'USD'],
    [{ total: 0.07, currency: 'USD' }, 7, 'USD'],
    [{ total: 1.1, currency: 'KWD' }, 1100, 'KWD'],
    [{ total: 500, currency: 'JPY' }, 500, 'JPY'],
    [{ total: 8.5, currency: 'HUF' }, 850, 'HUF'],
    [{ total: 10 }, 1000, 'EUR'],
    [{ total: 10, currency: null }, 1000, 'EUR'],
    [{ total: 0.5, currency: 'JPY' }, null, null],
    [{ total: 12.345, currency: 'USD' }, null, null],
    [{ total: -1, currency: 'USD' }, null, null],
    [{ total: 0, currency: 'USD' }, null, null],
    [{ total: '12', currency: 'USD' }, null, null],
    [{ total: 12, currency: 'XXX' }, null, null],
    [{ total: 12, currency: 978 }, null, null],
    [{ total: 9e15, currency: 'USD' }, null, null],
    [{}, null, null],
  ];
  const ids: string[] = [];
  for (const [data] of cases) ids.push(await publish(tenant, 'order.paid', { plan: { name: 'pro' }, ...data }));
  await settle();
  const rows = await conversions(goal.id);
  const valueOf = (id: string) => {
    const row = rows.find((each) => each.event_id === id);
    return [row.value_minor, row.currency];
  };
  for (const [index, [data, ...expected]] of cases.entries())
    t.deepEqual(valueOf(ids[index]!), expected, JSON.stringify(data));

  const { body } = await ask(tenant, 'POST', '/preview', { definition: PAID, days: 1 });
  t.like(body, { scanned: 16, matched: 16, people: 16, with_value: 7 });
  t.deepEqual(body.values, [
    { currency: 'EUR', amount_minor: 2000, conversions: 2 },
    { currency: 'HUF', amount_minor: 850, conversions: 1 },
    { currency: 'JPY', amount_minor: 500, conversions: 1 },
    { currency: 'KWD', amount_minor: 1100, conversions: 1 },
    { currency: 'USD', amount_minor: 1241, conversions: 2 },
  ]);
  t.is((await ask(tenant, 'POST', '/preview', { definition: { ...PAID, event_name: 'order.sent' } })).body.matched, 0);
});

test.serial('a replay does what its preview says, shows how far it is, and is one at a time', async (t) => {
  const tenant = await world.tenant();
  for (let n = 0; n < 7; n += 1)
    await publish(tenant, 'signed.up', { n }, new Date(clock.now().getTime() - (n + 1) * DAY_MS));
  clock.set(new Date(clock.now().getTime() + 1000));
  const goal = await define(tenant);
  const pruned = await publish(tenant, 'signed.up', { n: 9 });
  await publish(tenant, 'signed.up', { n: 8 });
  await settle();
  await world.deps.db('product_events').where({ id: pruned }).delete();
  clock.set(new Date(clock.now().getTime() + 1000));
  await ask(tenant, 'PATCH', `/${goal.id}`, {
    definition: { ...SIGNED_UP, predicates: [{ path: 'n', op: 'lt', value: 5 }] },
  });
  const path = `/${goal.id}/replays`;
  const before = await conversions(goal.id);
  const { body: preview } = await ask(tenant, 'POST', `${path}/preview`, RANGE);
  t.deepEqual(preview, { scanned: 8, would_add: 5, would_remove: 1, would_keep: 0, retained_without_event: 1 });
  t.deepEqual(await conversions(goal.id), before, 'a preview writes nothing');

  const { status, body: replay } = await ask(tenant, 'POST', path, RANGE);
  t.is(status, 202);
  t.like(replay, {
    state: 'queued',
    goal_revision: 2,
    scanned: 0,
    reached: null,
    error: null,
    from: '2026-02-01T00:00:00.000Z',
  });
  t.like((await ask(tenant, 'POST', path, RANGE)).body, { code: 'conflict' });
  const [intent] = await world.deps.db('outbox').where({ workflow_id: `goal-replay/${replay.id}` });
  t.truthy(intent);

  await replayPage(world.system(tenant.organizationId), replay.id, 3);
  const halfway = (await ask(tenant, 'GET', `${path}/${replay.id}`)).body;
  t.like(halfway, { state: 'running', scanned: 3, added: 1 });
  t.truthy(halfway.reached);
  t.is(await play(tenant, replay.id, 3), 3);
  t.like((await ask(tenant, 'GET', `${path}/${replay.id}`)).body, {
    state: 'completed',
    scanned: 8,
    added: 5,
    removed: 1,
    kept: 0,
    retained_without_event: 1,
  });
  t.is((await conversions(goal.id)).length, 6);
  t.is(await play(tenant, replay.id), 1, 'one that has ended does nothing');
  t.like((await ask(tenant, 'POST', `${path}/preview`, RANGE)).body, { would_add: 0, would_remove: 0, would_keep: 5 });

  for (let n = 0; n < 21; n += 1) await play(tenant, (await ask(tenant, 'POST', path, RANGE)).body.id);
  const listed = (await ask(tenant, 'GET', path)).body.data;
  t.is(listed.length, 20);
  t.deepEqual(
    listed.map(({ id }: any) => id),
    listed
      .map(({ id }: any) => id)
      .sort()
      .reverse(),
  );
  const stranger = await world.tenant();
  assertStatus(t, await ask(stranger, 'GET', `${path}/${replay.id}`), 404);
  const other = await define(tenant);
  t.is((await ask(tenant, 'GET', `/${other.id}/replays/${replay.id}`)).status, 404, 'of another goal');
});

test.serial('a replay ends when its goal is edited or archived, or when it is cancelled', async (t) => {
  const tenant = await world.tenant();
  for (let n = 0; n < 4; n += 1) await publish(tenant, 'signed.up', { n });
  for (const change of ['edit', 'archive', 'rename', 'cancel'] as const) {
    clock.set(new Date(clock.now().getTime() + 1000));
    const goal = await define(tenant);
    const path = `/${goal.id}/replays`;
    const { id } = (await ask(tenant, 'POST', path, RANGE)).body;
    await replayPage(world.system(tenant.organizationId), id, 2);
    if (change === 'edit') await ask(tenant, 'PATCH', `/${goal.id}`, { definition: { event_name: 'signed.in' } });
    if (change === 'rename') await ask(tenant, 'PATCH', `/${goal.id}`, { name: 'Renamed', is_primary: true });
    if (change === 'archive') await ask(tenant, 'DELETE', `/${goal.id}`);
    if (change === 'cancel') {
      const stop = () => ask(tenant, 'POST', `${path}/${id}/cancel`);
      t.like((await stop()).body, { id, state: 'cancelled', added: 2 });
      t.like(await stop(), { status: 200 }, 'it is cancelled already');
      t.false(await cancelReplay(world.system(tenant.organizationId), id), 'it has ended');
    }
    await play(tenant, id);
    const { state, error, added } = (await ask(tenant, 'GET', `${path}/${id}`)).body;
    const expected = { edit: 'failed', archive: 'failed', rename: 'completed', cancel: 'cancelled' }[change];
    t.deepEqual([state, error], [expected, expected === 'failed' ? 'goal_changed' : null], change);
    t.is(added, expected === 'completed' ? 4 : 2, 'what it has done stays');
    t.is((await conversions(goal.id)).length, added);
    if (change !== 'cancel') t.is((await ask(tenant, 'POST', `${path}/${id}/cancel`)).status, 409, 'it has ended');
    if (change !== 'archive') t.is((await ask(tenant, 'POST', path, RANGE)).status, 202, 'another one may begin');
  }
});
