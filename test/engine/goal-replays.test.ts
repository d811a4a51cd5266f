import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { GoalDefinition } from '../../db/json-columns.ts';
import { createGoal, updateGoal } from '../../domain/goals/goals.ts';
import { cancelReplay, previewReplay, startReplay } from '../../domain/goals/replays.ts';
import { reconcile } from '../../domain/system/reconcile.ts';
import { createContact } from '../harness/factories.ts';
import { breakWrites } from '../harness/broken-writes.ts';
import { eventually, startEngine, type Engine } from '../harness/engine.ts';
import type { Tenant } from '../harness/factories.ts';
import { call, createWorld, type World } from '../harness/world.ts';
import { newId } from '../../lib/ids.ts';
import { freePort } from '../../local/servers.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';

const FROM = new Date('2026-03-01T00:00:00Z');
const TO = new Date('2026-03-03T00:00:00Z');
/** Pages of 5,000 events take their time on a busy machine. */
const PATIENCE_MS = 120_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let world: World;
let engine: Engine;
/** The engine's worker works in this process. */
let isHere = true;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay', RUN_BLOCK_AFTER_MS: '500' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await (isHere ? engine?.stop() : engine?.temporal.connection.close());
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
     select gen_random_uuid(), ?, ?, ?, 'signed.up', jsonb_build_object('n', n % 2, 'm', n % 3), ?::timestamptz + n * interval '1 second', now()
     from generate_series(1, ?::int) n`,
    [organizationId, contactId, personId, FROM, count],
  );
  const definition: GoalDefinition = {
    event_name: 'signed.up',
    predicates: [{ path: 'n', op: 'eq', value: 1 }],
    value_path: null,
    value_unit: 'minor',
    currency_path: null,
    default_currency: null,
  };
  const goal = await createGoal(ctx, { name: 'Signed up', kind: 'signup', isPrimary: true, definition });
  return { ...(await follow(tenant, goal.id)), definition };
}

/** Starts a replay of a goal. */
async function follow(tenant: Tenant, goalId: string) {
  const { db } = world.deps;
  const ctx = world.system(tenant.organizationId);
  const { id } = await startReplay(ctx, goalId, { from: FROM, to: TO });
  return {
    tenant,
    ctx,
    id,
    goalId,
    read: () => db('goal_replays').where({ id }).first(),
    ended: () =>
      eventually(async () => {
        const row = await db('goal_replays').where({ id }).first();
        return row.finished_at !== null && row;
      }, PATIENCE_MS),
    conversions: async () => Number((await db('conversions').where({ goal_id: goalId }).count().first())!.count),
    handle: engine.temporal.workflow.getHandle(`goal-replay/${id}`),
  };
}

/** A worker of the world in a process of its own, which can be killed. */
function startProcess(t: ExecutionContext, port: number): ChildProcess {
  const { config } = world.deps;
  const child = spawn(process.execPath, [...TYPESCRIPT, 'deploy/heron.ts', 'worker'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      PRIMARY_DB: world.databaseUrl,
      TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS,
      TEMPORAL_TASK_QUEUE: config.TEMPORAL_TASK_QUEUE,
      WORKER_ROLES: 'temporal,relay',
      WORKER_PORT: String(port),
    },
    stdio: 'ignore',
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
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
  await eventually(async () => {
    const { typedSearchAttributes } = await replay.handle.describe();
    return JSON.stringify(typedSearchAttributes).includes('"blocked"');
  });
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

test.serial(
  'a worker that is killed in the middle of a page: another does what the preview said, nothing twice',
  async (t) => {
    const { db } = world.deps;
    const first = await desk();
    t.like(await first.ended(), { state: 'completed', added: 6_000 });
    // From now on the worker is a process of its own.
    await engine.worker.stop();
  isHere = false;
    await updateGoal(first.ctx, first.goalId, {
      definition: { ...first.definition, predicates: [{ path: 'm', op: 'eq', value: 0 }] },
    });
    await db.raw(
      `delete from product_events where id in (select event_id from conversions where goal_id = ? order by occurred_at limit 10)`,
      [first.goalId],
    );
    const preview = await previewReplay(first.ctx, first.goalId, { from: FROM, to: TO });
    t.like(preview, { scanned: 11_990, retainedWithoutEvent: 10 });
    for (const count of [preview.wouldAdd, preview.wouldRemove, preview.wouldKeep]) t.true(count > 1_000);
    await db.raw(`create function wait_for_it() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock(4711); return new; end $$`);
    await db.raw(
      'create trigger wait_for_it before update on goal_replays for each row when (new.scanned > 5000) execute function wait_for_it()',
    );
    const replay = await follow(first.tenant, first.goalId);
    const port = await freePort();
    await db.transaction(async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(4711)');
      const killed = startProcess(t, port);
      await eventually(
        async () =>
          (await db.raw(`select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`)).rows
            .length > 0,
        PATIENCE_MS,
      );
      const { currentDetails } = await replay.handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      t.regex(currentDetails!, /^4990 events so far, up to 2026-03-01/);
      killed.kill('SIGKILL');
      await once(killed, 'exit');
    });
    t.like(await replay.read(), { state: 'running', scanned: 4_990 });
    startProcess(t, port);
    t.like(await replay.ended(), {
      state: 'completed',
      scanned: preview.scanned,
      added: preview.wouldAdd,
      removed: preview.wouldRemove,
      kept: preview.wouldKeep,
      retained_without_event: preview.retainedWithoutEvent,
    });
    t.is(await replay.conversions(), preview.wouldAdd + preview.wouldKeep + preview.retainedWithoutEvent);
    t.is(await replay.handle.result(), 'completed');
    await db.raw('drop function wait_for_it cascade');
  },
);
