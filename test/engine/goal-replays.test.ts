import test from 'ava';
import { createGoal } from '../../domain/goals/goals.ts';
import { cancelReplay, startReplay } from '../../domain/goals/replays.ts';
import { reconcile } from '../../domain/system/reconcile.ts';
import { createContact } from '../harness/factories.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { eventually, startEngine, type Engine } from '../harness/engine.ts';
import { call, createWorld, type World } from '../harness/world.ts';
import { newId } from '../../lib/ids.ts';

const FROM = new Date('2026-03-01T00:00:00Z');
const TO = new Date('2026-03-03T00:00:00Z');
/** Pages of 5,000 events take their time on a busy machine. */
const PATIENCE_MS = 120_000;
let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay', RUN_BLOCK_AFTER_MS: '500' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

/** A goal that events of before it match, every second of them; they make three pages. */
async function desk(count = 12_000) {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { db } = world.deps;
  const ctx = world.system(organizationId);
  const contactId = await createContact(db, FROM, organizationId);
  const personId = newId();
  await db('people').insert({ id: personId, organization_id: organizationId, contact_id: contactId, created_at: FROM });
  await db.raw(
    `insert into product_events (id, organization_id, contact_id, person_id, name, data, occurred_at, received_at)
     select gen_random_uuid(), ?, ?, ?, 'signed.up', jsonb_build_object('n', n % 2), ?::timestamptz + n * interval '1 second', now()
     from generate_series(1, ?::int) n`,
    [organizationId, contactId, personId, FROM, count],
  );
  const goal = await createGoal(ctx, {
    name: 'Signed up',
    kind: 'signup',
    isPrimary: true,
    definition: {
      event_name: 'signed.up',
      predicates: [{ path: 'n', op: 'eq', value: 1 }],
      value_path: null,
      value_unit: 'minor',
      currency_path: null,
      default_currency: null,
    },
  });
  const { id } = await startReplay(ctx, goal.id, { from: FROM, to: TO });
  return {
    tenant,
    ctx,
    id,
    read: () => db('goal_replays').where({ id }).first(),
    ended: () =>
      eventually(async () => {
        const row = await db('goal_replays').where({ id }).first();
        return row.finished_at !== null && row;
      }, PATIENCE_MS),
    conversions: async () => Number((await db('conversions').where({ goal_id: goal.id }).count().first())!.count),
    handle: engine.temporal.workflow.getHandle(`goal-replay/${id}`),
  };
}

test.serial(
  'a replay goes through its pages and ends, also when its connection dies in the middle of a page',
  async (t) => {
    const { db } = world.deps;
    await db.raw('create sequence deaths');
    await db.raw(`create function die() returns trigger language plpgsql as $$ begin
    if nextval('deaths') <= 2 then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$`);
    await db.raw(
      'create trigger die before update on goal_replays for each row when (new.scanned > 5000) execute function die()',
    );
    const replay = await desk();
    t.like(await replay.ended(), { state: 'completed', scanned: 12_000, added: 6_000, kept: 0, removed: 0 });
    t.is(await replay.conversions(), 6_000);
    t.is(await replay.handle.result(), 'completed');
    t.true(Number((await db.raw('select last_value from deaths')).rows[0].last_value) > 2, 'it died twice');
    await db.raw('drop function die cascade');
    const attributes = (await replay.handle.describe()).typedSearchAttributes;
    t.truthy(attributes);
  },
);

test.serial('a replay that keeps failing is shown as blocked, and goes on after its last page', async (t) => {
  const mend = await breakWrites(world, 'goal_replays', 'update', 'new.scanned > 5000');
  const replay = await desk();
  const { blocked_reason: reason, scanned } = await eventually(async () => {
    const row = await replay.read();
    return row.blocked_reason !== null && row;
  }, PATIENCE_MS);
  t.regex(reason, /^blocked: it kept failing/);
  t.notRegex(reason, /secret/);
  t.is(scanned, 5000);
  await mend();
  const { body } = await call(world, 'GET', '/v1/tasks/dlq', { token: replay.tenant.apiKey });
  t.like(body.data[0], { task_type: 'goal_replay', task_id: replay.id });
  await call(world, 'POST', `/v1/tasks/dlq/${body.data[0].id}/replay`, { token: replay.tenant.apiKey });
  t.like(await replay.ended(), { state: 'completed', scanned: 12_000, added: 6_000, blocked_reason: null });
});

test.serial('a replay whose run is lost is started again; one that is cancelled while blocked ends', async (t) => {
  const mend = await breakWrites(world, 'goal_replays', 'update', 'new.scanned > 5000');
  const [lost, cancelled] = [await desk(), await desk()];
  for (const replay of [lost, cancelled])
    await eventually(async () => (await replay.read()).blocked_reason !== null, PATIENCE_MS);
  await lost.handle.terminate('lost');
  t.true(await cancelReplay(cancelled.ctx, cancelled.id));
  t.is(await cancelled.handle.result(), 'it has ended');
  t.is((await cancelled.read()).state, 'cancelled');
  t.is(await cancelled.conversions(), 2_500, 'what it has done stays');
  await mend();
  await reconcile(world.deps);
  t.like(await lost.ended(), { state: 'completed', scanned: 12_000, added: 6_000 });
  t.is(await lost.conversions(), 6_000);
});
