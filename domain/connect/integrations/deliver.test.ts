import test from 'ava';
import { startN8n, type N8nDouble } from '../../../test/doubles/index.ts';
import { newId } from '../../../lib/ids.ts';
import { cutConnectionOnce } from '../../../test/harness/cut-connection.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { message } from '../../../messages/index.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { connect, deliverNow } from '../../../test/harness/integrations.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { awaitLockWaits } from '../../../test/harness/statements.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { deleteContact } from '../../audience/contacts/remove.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { SUBSCRIBERS } from '../../operations/subscribers/index.ts';
import { recordReauth } from './account.ts';
import { openCall } from './call.ts';
import { claimDeliveries, leaseMs } from './claim.ts';
import { dropOverdue, MAX_WAITING } from './drop-overdue.ts';
import { enqueueProviderAction } from './enqueue.ts';
import { failureReason } from './failure.ts';
import { Refused, Unavailable } from './providers/provider.ts';
import { replayTask } from '../../operations/dead-letters/dead-letters.ts';
import { findProvider } from './registry.ts';
import { retryDelivery } from './retry.ts';
import { settleDelivery, type Outcome } from './settle.ts';
import { createSubscription } from './subscriptions.ts';
import { render } from '../../../messages/render.ts';

const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
let world: World;
let n8n: N8nDouble;
test.before(async () => {
  n8n = await startN8n();
  world = await createWorld({ clock, env: { INTEGRATION_RETRY_BASE_MS: '30000' } });
});
test.after.always(async () => {
  await world?.close();
  await n8n?.close();
});

async function desk() {
  const tenant = await world.tenant();
  const { organizationId: org } = tenant;
  const { id } = await connect(world, tenant, 'n8n', { webhook_url: n8n.hookUrl });
  const contacts = await Promise.all(
    ['ada', 'bob'].map((name) => createContact(world.deps.db, clock.now(), org, { email: `${name}@lead.test` })),
  );
  const add = (contact: number | string, n: number, source: Record<string, string> | null = null) =>
    transact(world.system(org), (tx) =>
      enqueueProviderAction(tx, {
        connectionId: id,
        action: 'n8n.send_webhook',
        config: {},
        contactId: typeof contact === 'string' ? contact : contacts[contact]!,
        data: { n },
        source,
      }),
    );
  const waiting = async () => (await world.deps.db('integration_deliveries').where({ connection_id: id })).length;
  n8n.clear();
  return { org, id, contacts, add, waiting, turn: () => deliverNow(world, org, id) };
}

/** Returns the numbers in the deliveries about a contact that n8n received, in order of arrival. */
const arrived = (contactId: string): number[] =>
  n8n.heard
    .map(({ raw }) => JSON.parse(raw))
    .filter(({ contact }) => contact?.id === contactId)
    .map(({ data }) => data.n);

test.serial('a delivery about a contact that is being deleted waits for the deletion, and fails nothing', async (t) => {
  const { contacts, add, waiting } = await desk();
  const { db } = world.deps;
  let adding: Promise<unknown> | undefined;
  await db.transaction(async (trx) => {
    await trx('contacts').where({ id: contacts[0]! }).delete();
    adding = add(0, 1);
    await awaitLockWaits(db, { like: '%integration_lanes%' });
  });
  await t.notThrowsAsync(adding!);
  t.is(await waiting(), 0);
  await add(1, 2);
  t.is(await waiting(), 1);
});

test.serial(
  'a provider that is away loses nothing, keeps the order of each contact, and is asked less and less',
  async (t) => {
    const { org, contacts, add, turn, waiting } = await desk();
    n8n.failAll({ kind: 'broken' });
    for (let n = 0; n < 6; n += 1) await add(n % 2, n, n === 5 ? { kind: 'test', id: 'last' } : null);
    for (let round = 0; round < 10; round += 1) {
      t.is((await turn()).kind, 'wait');
      clock.set(new Date(clock.now().getTime() + 60_000));
    }
    t.is(await waiting(), 6);
    t.true(n8n.heard.length < 25, `${n8n.heard.length} requests`);
    n8n.failAll(undefined);
    n8n.clear();
    for (let round = 0; round < 20 && (await waiting()) > 0; round += 1) {
      clock.set(new Date(clock.now().getTime() + 4 * 3_600_000));
      await turn();
    }
    t.is(await waiting(), 0);
    t.deepEqual(arrived(contacts[0]!), [0, 2, 4]);
    t.deepEqual(arrived(contacts[1]!), [1, 3, 5]);
    const [settled, ...others] = await world.deps
      .db('domain_events')
      .where({ organization_id: org, type: 'integration.action_settled' });
    t.deepEqual(others, []);
    t.like(settled.data, { ok: true, error: null, source: { kind: 'test', id: 'last' } });
  },
);

/** Returns all permutations of a list. */
const orders = <T>(list: readonly T[]): T[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((one, at) => orders(list.toSpliced(at, 1)).map((rest) => [one, ...rest]));

test.serial('a provider that asks to wait is not asked meanwhile, whatever comes of the calls beside', async (t) => {
  const { org, id, add } = await desk();
  const { db } = world.deps;
  const ctx = world.system(org);
  const lanes = await Promise.all(
    Array.from({ length: 5 }, (_, n) => createContact(db, clock.now(), org, { email: `lane${n}@lead.test` })),
  );
  const away = { kind: 'unavailable', said: message('egress.timeout') } as const;
  const outcomes: Outcome[] = [{ kind: 'limited', retryAfterMs: 600_000 }, { kind: 'done' }, away, away, away];
  const seen = new Set<string>();
  for (const order of orders(outcomes)) {
    const name = order.map(({ kind }) => kind).join();
    if (seen.has(name)) continue;
    seen.add(name);
    await db('integration_deliveries').where({ connection_id: id }).delete();
    await db('integration_lanes').where({ connection_id: id }).delete();
    await db('integration_pace').where({ connection_id: id }).update({ failures: 0, paused_until: null, tokens: 20 });
    for (const contact of lanes) await add(contact, 0);
    const claimed = await claimDeliveries(ctx, id, { capacity: 20, perSecond: 10 }, 5);
    if (claimed.kind !== 'claimed') return t.fail(claimed.kind);
    for (const [n, outcome] of order.entries())
      await settleDelivery(ctx, claimed.deliveries[n]!, claimed.lease, outcome);
    const { paused_until: until } = await db('integration_pace').where({ connection_id: id }).first();
    t.is(until.getTime(), clock.now().getTime() + 600_000, name);
  }
  t.is(seen.size, 20);
});

test.serial('what a worker had that died is delivered when its lease ends, before what came later', async (t) => {
  const { org, id, contacts, add, turn, waiting } = await desk();
  await add(0, 0);
  await add(0, 1);
  const rate = { capacity: 20, perSecond: 10 };
  const claimed = await claimDeliveries(world.system(org), id, rate, 8);
  t.is(claimed.kind === 'claimed' && claimed.deliveries.length, 1, 'one of a lane at a time');
  t.is((await turn()).kind, 'wait', 'nobody else has it meanwhile');
  t.deepEqual(arrived(contacts[0]!), []);
  const requests = world.deps.config.INTEGRATION_TIMEOUT_MS * 5;
  clock.set(new Date(clock.now().getTime() + requests));
  t.is((await turn()).kind, 'wait', 'a worker that waits for a slow provider is not taken for dead');
  clock.set(new Date(clock.now().getTime() + leaseMs(world.deps.config) - requests));
  t.is((await turn()).kind, 'done');
  t.deepEqual(arrived(contacts[0]!), [0, 1]);
  t.is(await waiting(), 0);
});

test.serial('nothing is delivered for a workspace whose deletion is scheduled until it is kept', async (t) => {
  const { org, contacts, add, turn, waiting } = await desk();
  await add(0, 0);
  const organization = world.deps.db('organizations').where({ id: org });
  await organization.clone().update({ deletion_scheduled_for: clock.now() });
  t.like(await turn(), { kind: 'wait', why: 'the deletion of the workspace is scheduled' });
  t.is(await waiting(), 1);
  await organization.clone().update({ deletion_scheduled_for: null });
  t.is((await turn()).kind, 'done');
  t.deepEqual(arrived(contacts[0]!), [0]);
});

test.serial('a refusal of credentials that were replaced meanwhile says nothing of the new ones', async (t) => {
  const { org, id } = await desk();
  const ctx = world.system(org);
  const row = () => world.deps.db('integration_connections').where({ id }).first();
  const before = await row();
  await world.deps.db('integration_connections').where({ id }).increment('sealed_version');
  t.false(await recordReauth(ctx, before, message('connect.reconnect')));
  t.is((await row()).status, 'connected');
  t.true(await recordReauth(ctx, await row(), message('connect.reconnect')));
  t.like(await row(), { status: 'reauth_required', last_error: message('connect.reconnect') });
  t.true(await recordReauth(ctx, await row(), message('connect.reconnect')));
});

test.serial(
  'what waits for an account that has to be connected again has an end, in days and in number, and is told',
  async (t) => {
    const { org, id, add } = await desk();
    const { db } = world.deps;
    const connection = () => db('integration_connections').where({ id }).first();
    const days = (count: number) => clock.set(new Date(clock.now().getTime() + count * DAY_MS));
    const told = async () => {
      const [letter, ...others] = await db('dead_letters').where({ organization_id: org });
      t.deepEqual(others, []);
      return letter;
    };
    await add(0, 0, { kind: 'test', id: 'first' });
    days(31);
    await add(0, 1);
    t.is(await dropOverdue(world.deps), 0, 'nothing is dropped while the account is connected');
    await recordReauth(world.system(org), await connection(), message('connect.reconnect'));
    t.is(await dropOverdue(world.deps), 1);
    t.like(await told(), {
      task_type: 'integration_backlog',
      task_id: id,
      payload: { connection_id: id, dropped: '1' },
    });
    const [settled] = await db('domain_events').where({ organization_id: org, type: 'integration.action_settled' });
    t.like(settled.data, { ok: false, source: { kind: 'test', id: 'first' } });
    t.is(settled.data.error.code, 'connect.dropped');

    await db.raw(
      `insert into integration_deliveries (id, organization_id, connection_id, lane_id, action, config, data, occurred_at, state, created_at)
       select gen_random_uuid(), ?, ?, ?, 'n8n.send_webhook', '{}', '{}', ?, 'pending', ? from generate_series(1, ?)`,
      [org, id, id, clock.now(), clock.now(), MAX_WAITING + 1_200],
    );
    t.is(await dropOverdue(world.deps), 1_201, 'the oldest, with the one before them');
    t.is(await dropOverdue(world.deps), 0);
    const letter = await told();
    t.is(letter.payload.dropped, '1202');
    t.regex(render(letter.last_error), /: 1,202 actions dropped: the account has to be connected again/);
    const log = await db('integration_runs')
      .where({ connection_id: id, status: 'error' })
      .orderBy('id')
      .pluck('detail');
    t.deepEqual(
      log.map((detail) => detail.values.dropped),
      [1, 1_000, 201],
    );
    await replayTask(world.system(org), letter.id);
    t.is((await told()).status, 'replayed');
  },
);

test.serial('a delivery that was given up and is tried again comes before what was added after it', async (t) => {
  const { org, contacts, add, turn, waiting } = await desk();
  const given = await add(0, 0);
  await world.deps
    .db('integration_deliveries')
    .where({ id: given })
    .update({ state: 'failed', failed_at: clock.now() });
  await add(0, 1);
  await transact(world.system(org), (tx) => retryDelivery(tx, given));
  t.is((await turn()).kind, 'done');
  t.deepEqual(arrived(contacts[0]!), [0, 1]);
  t.is(await waiting(), 0);
});

test.serial('that a delivery was made is stored once the database is back, and it is not made again', async (t) => {
  const { contacts, add, turn, waiting } = await desk();
  await add(0, 1);
  await add(1, 2);
  const cut = await cutConnectionOnce(world.deps.db, { table: 'integration_deliveries', before: 'delete' });
  t.is((await turn()).kind, 'done');
  t.is(await waiting(), 0);
  t.deepEqual(contacts.map(arrived), [[1], [2]]);
  await cut.remove();
});

test.serial('a connection in capitals is the same, and has one run of its deliveries', async (t) => {
  const { org, id, contacts } = await desk();
  await transact(world.system(org), (tx) =>
    enqueueProviderAction(tx, {
      connectionId: id.toUpperCase(),
      action: 'n8n.send_webhook',
      config: {},
      contactId: contacts[0]!,
      data: {},
      source: null,
    }),
  );
  const runs = await world.deps.db('outbox').where('workflow_id', 'like', `%${id.toUpperCase()}%`);
  t.deepEqual(runs, []);
  t.is((await world.deps.db('outbox').where('workflow_id', 'like', `%${id}%`)).length, 1);
});

test.serial('a mapping that names what every object inherits holds up no delivery', async (t) => {
  const { org, id, contacts, add, turn, waiting } = await desk();
  for (const [position, [external_field, key]] of [
    ['a', 'constructor'],
    ['b', '__proto__'],
    ['c', 'toString'],
    ['plan', 'plan'],
  ].entries())
    await world.deps.db('integration_field_mappings').insert({
      id: newId(),
      organization_id: org,
      connection_id: id,
      direction: 'push',
      object_name: 'contact',
      source_field: `custom.${key}`,
      external_field,
      transform: 'uppercase',
      static_value: '',
      position,
      created_at: clock.now(),
    });
  await world.deps
    .db('contacts')
    .where({ id: contacts[0]! })
    .update({ custom_fields: { plan: 'pro' } });
  await add(0, 7);
  t.is((await turn()).kind, 'done');
  t.deepEqual(arrived(contacts[0]!), [7]);
  t.is(await waiting(), 0);
});

test.serial('that a contact was deleted is delivered, without it', async (t) => {
  const { org, contacts, id, turn } = await desk();
  await registerSubscribers(world.deps, SUBSCRIBERS);
  await createSubscription(world.system(org), id, { event_type: 'contact.deleted', action: 'n8n.send_webhook' });
  await deleteContact(world.system(org), contacts[0]!);
  await turn();
  t.deepEqual(
    n8n.heard.map(({ raw }) => JSON.parse(raw).contact),
    [null],
  );
});

test('what people read of a failure was made to be read: other errors may quote secrets and addresses', (t) => {
  const provider = findProvider('n8n')!;
  const ctx = world.system(newId());
  for (const status of [404, 503]) {
    const said = message('connect.provider_status', { provider: 'n8n', status });
    for (const error of [new Unavailable(said), new Refused(said, status)])
      t.deepEqual(failureReason(ctx, error, provider), said);
  }
  for (const quoting of [new TypeError('https://n8n.test/webhook/s3cret of ada@lead.test'), 'ada@lead.test'])
    t.deepEqual(failureReason(ctx, quoting, provider), message('connect.provider_unreadable', { provider: 'n8n' }));
});

test('what a provider says of a refusal is kept without the addresses in it', async (t) => {
  const answer = {
    status: 400,
    headers: {},
    truncated: false,
    body: Buffer.from('{"message":"<ada@lead.test> exists, as ada+1@lead.test"}'),
  };
  const { deps } = world;
  const egress = { request: async () => answer } as unknown as typeof deps.egress;
  const call = openCall({ ...deps, egress }, findProvider('close')!, { config: { api_key: 'k'.repeat(20) } });
  const refused = await t.throwsAsync(call.request({ method: 'POST', path: '/contact', json: {} }), {
    instanceOf: Refused,
  });
  t.is(refused.message, 'Close answered 400: <[address]> exists, as [address]');
});

test.serial('a connection of a provider that this build does not know waits for one that does', async (t) => {
  const { id, add, turn, waiting } = await desk();
  await add(0, 0);
  await world.deps.db('integration_connections').where({ id }).update({ provider: 'of-tomorrow' });
  const { kind, wakeAt } = (await turn()) as { kind: string; wakeAt: number };
  t.is(kind, 'wait');
  t.true(wakeAt > clock.now().getTime());
  t.is(await waiting(), 1);
  await world.deps.db('integration_connections').where({ id }).update({ provider: 'n8n' });
  t.is((await turn()).kind, 'done');
  t.is(await waiting(), 0);
});
