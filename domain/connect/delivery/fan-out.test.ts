import test from 'ava';
import fc from 'fast-check';
import { json } from '../../../db/connection.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf, type Permission } from '../../../lib/permissions.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createMember } from '../../../test/harness/factories.ts';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { assignPositions } from './fan-out.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:30Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock, env: { WEBHOOK_ENDPOINT_PER_MINUTE: '5', WEBHOOK_EVENT_TYPE_PER_MINUTE: '8' } });
});
test.after.always(() => world?.close());

const URL = 'https://receiver.example.com/hook';
const readDeliveries = (endpointId: string) =>
  world.deps.db('webhook_deliveries').where({ endpoint_id: endpointId }).orderBy('id');

test.serial('an event goes to the endpoints that are on, verified and listening, with one body for all', async (t) => {
  const { organizationId } = await world.tenant();
  const other = await world.tenant();
  const [first, second] = [
    await createEndpoint(world.deps, organizationId, URL),
    await createEndpoint(world.deps, organizationId, URL, { event_types: ['role.created'] }),
  ];
  const deaf = [
    await createEndpoint(world.deps, organizationId, URL, { verified_at: null }),
    await createEndpoint(world.deps, organizationId, URL, { event_types: ['role.deleted'] }),
    await createEndpoint(world.deps, other.organizationId, URL),
  ];
  const emittedAt = clock.now();
  const [eventId] = await emitEvents(world.deps, organizationId, 1, 'role.created');
  clock.advance(1_000);
  t.is(await fanOut(world.deps), 2);
  for (const { id } of [first, second])
    t.like((await readDeliveries(id))[0], {
      event_id: eventId,
      event_type: 'role.created',
      status: 'pending',
      attempt_count: 0,
      max_attempts: 8,
      organization_id: organizationId,
    });
  for (const { id } of deaf) t.deepEqual(await readDeliveries(id), []);
  const payloads = await world.deps.db('webhook_payloads').where({ organization_id: organizationId });
  t.is(payloads.length, 1);
  t.deepEqual(JSON.parse(payloads[0].body), {
    id: eventId,
    event_type: 'role.created',
    organization_id: organizationId,
    created_at: new Date(emittedAt.getTime() + 1_000).toISOString(),
    data: { n: 0 },
  });
  t.is(await fanOut(world.deps), 0, 'once');
});

test.serial('a body is what was emitted, whatever characters are in it', async (t) => {
  const { organizationId } = await world.tenant();
  await createEndpoint(world.deps, organizationId, URL);
  const data = {
    text: 'a "quote", a \\ backslash, a\nline, ünïcödé 💌, </script>',
    big: 12345678901234567890123n.toString(),
    number: 0.1,
    nested: [{ deep: null }],
  };
  const id = newId();
  await world.deps
    .db('domain_events')
    .insert({ id, organization_id: organizationId, type: 'role.created', data: json(data), created_at: clock.now() });
  await fanOut(world.deps);
  const { body } = await world.deps.db('webhook_payloads').where({ event_id: id }).first();
  t.deepEqual(JSON.parse(body).data, data);
});

test.serial(
  "an application's endpoint gets the families its own scopes and the workspace's grants allow",
  async (t) => {
    const tenant = await world.tenant();
    const { organizationId, userId } = tenant;
    const colleague = await createMember(world.deps, tenant, 'Admin');
    const now = clock.now();
    const application = async (
      scopes: Permission[],
      grants: { user: string; scopes: Permission[]; revoked?: boolean }[],
      events: string[] = [],
    ) => {
      const applicationId = newId();
      await world.deps.db('oauth_applications').insert({
        id: applicationId,
        organization_id: organizationId,
        client_id: applicationId,
        name: 'App',
        redirect_uris: [],
        scopes: maskOf(scopes),
        webhook_url: URL,
        webhook_events: events,
        created_at: now,
        updated_at: now,
      });
      for (const grant of grants) {
        await world.deps.db('oauth_grants').insert({
          id: newId(),
          organization_id: organizationId,
          application_id: applicationId,
          user_id: grant.user,
          scopes: maskOf(grant.scopes),
          revoked_at: grant.revoked ? now : null,
          created_at: now,
          updated_at: now,
        });
      }
      return createEndpoint(world.deps, organizationId, URL, { application_id: applicationId, event_types: [] }).then(
        ({ id }) => id,
      );
    };
    const all: Permission[] = ['READ_CONTACTS', 'READ_AUDIT_LOGS', 'READ_UNIBOX'];
    const granted = await application(all, [{ user: userId, scopes: ['READ_CONTACTS'] }]);
    const exceeding = await application(['READ_CONTACTS'], [{ user: userId, scopes: all }]);
    const revoked = await application(all, [{ user: userId, scopes: all, revoked: true }]);
    const declared = await application(all, [{ user: userId, scopes: all }], ['role.created']);
    const firehose = await application(all, [{ user: userId, scopes: all }], ['inbox.email_received']);
    const viewer = await createMember(world.deps, tenant, 'Viewer');
    await world.deps
      .db('roles')
      .where({ organization_id: organizationId, name: 'Viewer' })
      .update({ permissions: ['view_contacts'] });
    const demoted = await application(all, [{ user: viewer.userId, scopes: all }]);
    const union = await application(all, [
      { user: userId, scopes: ['READ_CONTACTS'] },
      { user: colleague.userId, scopes: ['READ_AUDIT_LOGS'] },
    ]);
    for (const type of ['contact.created', 'role.created', 'inbox.email_received'])
      await emitEvents(world.deps, organizationId, 1, type);
    await fanOut(world.deps);
    const types = async (id: string) => (await readDeliveries(id)).map((row) => row.event_type);
    t.deepEqual(await types(granted), ['contact.created']);
    t.deepEqual(await types(demoted), ['contact.created'], 'what the granter may no longer see does not flow');
    t.deepEqual(await types(exceeding), ['contact.created']);
    t.deepEqual(await types(revoked), []);
    t.deepEqual(await types(declared), ['role.created']);
    t.deepEqual(await types(firehose), ['inbox.email_received']);
    t.deepEqual(await types(union), ['contact.created', 'role.created']);
    t.true(((await readDeliveries(granted))[0] as { application_id: string }).application_id !== null);
  },
);

test.serial('an event for an endpoint that is switched off is kept as a delivery that is not sent', async (t) => {
  const { organizationId } = await world.tenant();
  const off = await createEndpoint(world.deps, organizationId, URL, { enabled: false, consecutive_failures: 9 });
  const deaf = await createEndpoint(world.deps, organizationId, URL, { enabled: false, event_types: ['role.deleted'] });
  const unverified = await createEndpoint(world.deps, organizationId, URL, { enabled: false, verified_at: null });
  const [eventId] = await emitEvents(world.deps, organizationId, 1, 'role.created');
  await fanOut(world.deps);
  const [kept, ...more] = await readDeliveries(off.id);
  t.deepEqual(more, []);
  t.like(kept, { event_id: eventId, status: 'abandoned', batch_id: null, attempt_count: 0, next_attempt_at: null });
  t.is(kept.error_reason.code, 'connect.endpoint_off');
  for (const { id } of [deaf, unverified]) t.deepEqual(await readDeliveries(id), []);
  t.is((await world.deps.db('webhook_payloads').where({ event_id: eventId })).length, 1, 'with its body');
});

test.serial(
  'what exceeds a rate is dropped and counted per minute, over turns; the next minute starts anew',
  async (t) => {
    const { organizationId } = await world.tenant();
    const one = await createEndpoint(world.deps, organizationId, URL);
    const two = await createEndpoint(world.deps, organizationId, URL, { event_types: ['role.created'] });
    await emitEvents(world.deps, organizationId, 3, 'role.created');
    await fanOut(world.deps);
    const more = await emitEvents(world.deps, organizationId, 4, 'role.created');
    await fanOut(world.deps);
    t.is((await readDeliveries(one.id)).length, 5);
    t.is((await readDeliveries(two.id)).length, 5);
    const drops = () =>
      world.deps
        .db('webhook_throttle_drops')
        .where({ organization_id: organizationId })
        .orderBy(['reason', 'endpoint_id'])
        .select('endpoint_id', 'event_type', 'reason', 'dropped', 'last_event_id', 'minute');
    const minute = new Date(Math.floor(clock.now().getTime() / 60_000) * 60_000);
    const drop = {
      event_type: 'role.created',
      reason: 'endpoint_rate',
      dropped: 2,
      last_event_id: more.at(-1),
      minute,
    };
    t.deepEqual(await drops(), [
      { ...drop, endpoint_id: one.id },
      { ...drop, endpoint_id: two.id },
    ]);
    // The eighth event of the type is delivered to endpoints below their rate, the ninth is not.
    const three = await createEndpoint(world.deps, organizationId, URL);
    await emitEvents(world.deps, organizationId, 3, 'role.created');
    await fanOut(world.deps);
    t.is((await readDeliveries(three.id)).length, 1);
    t.deepEqual(
      (await drops()).filter((row) => row.reason === 'event_type_rate').map((row) => [row.endpoint_id, row.dropped]),
      [one, two, three].map(({ id }) => [id, 2]),
    );
    clock.advance(60_000);
    await emitEvents(world.deps, organizationId, 1, 'role.created');
    await fanOut(world.deps);
    t.is((await readDeliveries(three.id)).length, 2);
  },
);

test.serial('batches are filled one after the other; an endpoint that fails has its own', async (t) => {
  const tenants = await Promise.all(Array.from({ length: 55 }, () => world.tenant()));
  const failing = await createEndpoint(world.deps, tenants[0]!.organizationId, URL, {
    consecutive_failures: 5,
    failing_since: clock.now(),
  });
  for (const { organizationId } of tenants)
    for (let n = 0; n < 2; n += 1) await createEndpoint(world.deps, organizationId, URL);
  await world.deps.db('outbox').delete();
  const memory = { open: undefined };
  for (const { organizationId } of tenants) await emitEvents(world.deps, organizationId, 5, 'role.created');
  t.is(await fanOut(world.deps, memory), 555);
  const rows: { batch_id: string; n: string }[] = await world.deps
    .db('webhook_deliveries')
    .whereIn(
      'organization_id',
      tenants.map((tenant) => tenant.organizationId),
    )
    .groupBy('batch_id')
    .select('batch_id')
    .count({ n: '*' });
  t.deepEqual(
    rows.map(({ n }) => Number(n)).sort((a, b) => a - b),
    [5, 50, 500],
  );
  t.is(rows.find(({ n }) => Number(n) === 5)!.batch_id, failing.id);
  const intents: { kind: string; workflow_id: string }[] = await world.deps
    .db('outbox')
    .orderBy('id')
    .select('kind', 'workflow_id');
  t.deepEqual(
    intents
      .filter(({ kind }) => kind === 'start')
      .map(({ workflow_id: id }) => id.split('/')[1])
      .sort(),
    rows
      .filter(({ n }) => Number(n) > 5)
      .map((row) => row.batch_id)
      .sort(),
  );
  t.deepEqual(
    [...new Set(intents.filter(({ kind }) => kind === 'signal').map(({ workflow_id: id }) => id))],
    [`webhook-endpoint/${failing.id}`],
  );
  // Adding deliveries to an open batch stores no further intent. After a batch is closed, further deliveries get a new
  // batch with its own intent.
  await world.deps.db('outbox').delete();
  await world.deps.db('webhook_counts').delete();
  await emitEvents(world.deps, tenants[1]!.organizationId, 1, 'role.deleted');
  await fanOut(world.deps, memory);
  t.is(await world.deps.db('outbox').first(), undefined);
  await world.deps.db('webhook_batches').delete();
  await emitEvents(world.deps, tenants[1]!.organizationId, 1, 'role.deleted');
  await fanOut(world.deps, memory);
  t.is((await world.deps.db('outbox')).length, 1);

  // A batch that is half full already has a successor, so that one exists when the first batch is closed.
  await world.deps.db('outbox').delete();
  for (const { organizationId } of tenants.slice(2, 52))
    await emitEvents(world.deps, organizationId, 3, 'role.deleted');
  await fanOut(world.deps, memory);
  const [successor] = await world.deps.db('outbox').where({ kind: 'start' });
  const empty = successor.payload.args.batchId as string;
  t.is(await world.deps.db('webhook_deliveries').where({ batch_id: empty }).first(), undefined);
  await world.deps.db('webhook_batches').whereNot({ id: empty }).delete();
  await world.deps.db('outbox').delete();
  await emitEvents(world.deps, tenants[53]!.organizationId, 1, 'role.deleted');
  await fanOut(world.deps, memory);
  t.is((await world.deps.db('webhook_deliveries').where({ batch_id: empty })).length, 2);
  t.is(await world.deps.db('outbox').first(), undefined);
});

test.serial('a workspace with many events has its share of an iteration and batches of its own', async (t) => {
  const [flood, other, third] = [await world.tenant(), await world.tenant(), await world.tenant()];
  const [hers, his, theirs] = [
    await createEndpoint(world.deps, flood.organizationId, URL),
    await createEndpoint(world.deps, other.organizationId, URL),
    await createEndpoint(world.deps, third.organizationId, URL),
  ];
  await fanOut(world.deps);
  await world.deps.db('outbox').delete();
  await world.deps.db('webhook_counts').delete();
  await emitEvents(world.deps, flood.organizationId, 2_000, 'role.created');
  const late = await emitEvents(world.deps, other.organizationId, 3, 'role.created');
  await emitEvents(world.deps, third.organizationId, 1, 'role.created');
  const deps = {
    ...world.deps,
    config: { ...world.deps.config, WEBHOOK_EVENT_TYPE_PER_MINUTE: 0, WEBHOOK_ENDPOINT_PER_MINUTE: 0 },
  };
  const memory = { open: undefined };
  const first = await assignPositions(deps, memory);
  t.like(first, { positioned: 167 + 3 + 1, full: true }, 'a third of 500 for each, as far as it has events');
  const [ofFlood, ofOther, ofThird] = [
    await readDeliveries(hers.id),
    await readDeliveries(his.id),
    await readDeliveries(theirs.id),
  ];
  t.deepEqual(
    ofOther.map((row) => row.event_id),
    late,
  );
  t.is(new Set([...ofOther, ...ofThird].map((row) => row.batch_id)).size, 1);
  const own = new Set(ofFlood.map((row) => row.batch_id));
  t.false(own.has(ofOther[0].batch_id));
  const starts: { workflow_id: string; payload: { priority: { fairnessKey: string } } }[] = await world.deps
    .db('outbox')
    .where({ kind: 'start' })
    .select('workflow_id', 'payload');
  for (const { workflow_id: id, payload } of starts)
    t.is(payload.priority.fairnessKey, own.has(id.split('/')[1]!) ? flood.organizationId : 'installation');
  t.is((await assignPositions(deps, memory)).positioned, 500, 'the next one is its own');
  for (let left = 2_000 - 667; left > 0; left -= 500)
    t.like(await assignPositions(deps, memory), { positioned: Math.min(left, 500), full: left >= 500 });
  const positions = await world.deps
    .db('domain_events')
    .where({ organization_id: flood.organizationId })
    .orderBy('position')
    .pluck('id');
  t.deepEqual(positions, [...positions].sort(), 'in the order of its events');
});

test.serial(
  'a flood to many endpoints has an equal share of deliveries, and one batch until its run closes it',
  async (t) => {
    const [flood, other] = [await world.tenant(), await world.tenant()];
    for (let n = 0; n < 10; n += 1) await createEndpoint(world.deps, flood.organizationId, URL);
    const { id } = await createEndpoint(world.deps, other.organizationId, URL);
    await fanOut(world.deps);
    await world.deps.db('outbox').delete();
    const deps = {
      ...world.deps,
      config: { ...world.deps.config, WEBHOOK_EVENT_TYPE_PER_MINUTE: 0, WEBHOOK_ENDPOINT_PER_MINUTE: 0 },
    };
    const memory = { open: undefined };
    await emitEvents(world.deps, flood.organizationId, 500, 'role.created');
    await emitEvents(world.deps, other.organizationId, 1, 'role.created');
    t.like(
      await assignPositions(deps, memory),
      { positioned: 25 + 1, deliveries: 250 + 1, full: true },
      'half of 500 deliveries for each, as far as it has events',
    );
    t.is((await readDeliveries(id)).length, 1);
    const ofFlood = async (): Promise<{ batch_id: string; n: number }[]> =>
      world.deps
        .db('webhook_deliveries')
        .where({ organization_id: flood.organizationId })
        .groupBy('batch_id')
        .select('batch_id', world.deps.db.raw('count(*)::int as n'))
        .orderBy('batch_id');
    // The organization is now alone, and gets 500 deliveries per call. The workflow of its batch has not started.
    while ((await assignPositions(deps, memory)).positioned > 0) clock.advance(1_000);
    const [batch, ...others] = await ofFlood();
    t.is(batch!.n, 5_000);
    t.deepEqual(others, []);
    t.is((await world.deps.db('outbox').where('workflow_id', 'like', `%${batch!.batch_id}`)).length, 1);

    await emitEvents(world.deps, flood.organizationId, 1, 'role.deleted');
    await assignPositions(deps, memory);
    t.is((await ofFlood())[0]!.n, 5_010, 'few events too, while the batch is open');
    await world.deps.db('webhook_batches').where({ id: batch!.batch_id }).delete();
    await emitEvents(world.deps, flood.organizationId, 10, 'role.deleted');
    await assignPositions(deps, memory);
    t.deepEqual(
      (await ofFlood()).map(({ n }) => n),
      [5_010, 100],
      'closed by its run: the next ones have another one',
    );
  },
);

test.serial('a fan-out that dies before its commit leaves everything to the next', async (t) => {
  const { organizationId } = await world.tenant();
  const { id } = await createEndpoint(world.deps, organizationId, URL);
  const ids = await emitEvents(world.deps, organizationId, 2, 'role.created');
  const broken = { ...world.deps, config: { ...world.deps.config, WEBHOOK_MAX_ATTEMPTS: Number.NaN } };
  await t.throwsAsync(assignPositions(broken, { open: undefined }));
  t.deepEqual(await readDeliveries(id), []);
  await fanOut(world.deps);
  t.deepEqual(
    (await readDeliveries(id)).map((row) => row.event_id),
    ids,
  );
});

test.serial('whoever follows the positions misses nothing, however emitters and fan-outs interleave', async (t) => {
  t.timeout(240_000);
  const { db } = world.deps;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          events: fc.integer({ min: 1, max: 4 }),
          holdMs: fc.integer({ min: 0, max: 15 }),
          pauseMs: fc.integer({ min: 0, max: 8 }),
        }),
        { minLength: 3, maxLength: 25 },
      ),
      async (emitters) => {
        const { organizationId } = await world.tenant();
        const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
        let emitting = true;
        const seen: string[] = [];
        let position = 0;
        const read = async () => {
          const rows: { id: string; position: number }[] = await db('domain_events')
            .where({ organization_id: organizationId })
            .where('position', '>', position)
            .orderBy('position')
            .select('id', 'position');
          for (const row of rows) {
            seen.push(row.id);
            position = row.position;
          }
        };
        const follow = async () => {
          while (emitting) await read();
        };
        const place = async () => {
          while (emitting) await assignPositions(world.deps, { open: undefined });
        };
        const followers = [follow(), place(), place()];
        const emitted = await Promise.all(
          emitters.map(async ({ events, holdMs, pauseMs }) => {
            await pause(pauseMs);
            // The ids are created before others commit, so the order of ids differs from the order of commits.
            const rows = Array.from({ length: events }, () => ({
              id: newId(),
              organization_id: organizationId,
              type: 'role.created',
              data: '{}',
              created_at: clock.now(),
            }));
            await db.transaction(async (trx) => {
              await trx('domain_events').insert(rows);
              await pause(holdMs);
            });
            return rows.map(({ id }) => id);
          }),
        );
        emitting = false;
        await Promise.all(followers);
        await fanOut(world.deps);
        await read();
        t.deepEqual([...seen].sort(), emitted.flat().sort());
      },
    ),
    { numRuns: 15 },
  );
});

test.serial('an endpoint that is deleted in the middle of a turn does not fail the turn for others', async (t) => {
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const doomed = await createEndpoint(world.deps, tenant.organizationId, URL);
  const standing = await createEndpoint(world.deps, other.organizationId, URL);
  await emitEvents(world.deps, tenant.organizationId, 1, 'role.created');
  await emitEvents(world.deps, other.organizationId, 1, 'role.created');
  const deletion = await world.deps.db.transaction();
  await deletion('webhook_endpoints').where({ id: doomed.id }).delete();
  // The fan-out still sees the endpoint, and waits for the transaction that deletes it.
  const turn = assignPositions(world.deps, { open: undefined });
  await eventually(async () => {
    const { rows } = await world.deps.db.raw(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%webhook_endpoints%'`,
    );
    return rows.length > 0 ? true : undefined;
  });
  await deletion.commit();
  t.is((await turn).positioned, 2);
  t.is((await readDeliveries(standing.id)).length, 1);
  t.deepEqual(await readDeliveries(doomed.id), []);
});
