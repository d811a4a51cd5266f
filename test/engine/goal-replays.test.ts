import test from 'ava';
import { cancelReplay } from '../../domain/reporting/goals/replays.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { breakWrites, QUOTED } from '../harness/broken-writes.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { openReplayDesk } from '../harness/goal-replays.ts';
import { assertStatus, call, createWorld, type World } from '../harness/world.ts';
import { assertNowhere } from '../harness/secrets.ts';

/** Timeout (ms). It is long because pages of 5,000 events are slow on a busy machine. */
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

const desk = () => openReplayDesk(world, engine.temporal);

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

test.serial('an event that keeps failing does not hold up the replay', async (t) => {
  const mend = await breakWrites(world, 'conversions', 'insert', `new.occurred_at = '2026-03-01T00:00:07Z'`);
  const replay = await openReplayDesk(world, engine.temporal, 60);
  t.like(await replay.ended(), { state: 'completed', scanned: 60, added: 29, blocked_reason: null });
  t.is(await replay.handle.result(), 'completed');
  await mend();
  const path = `/v1/goals/${replay.goalId}/replays/${replay.id}`;
  const { passed_over: passedOver } = (await call(world, 'GET', path, { token: replay.tenant.apiKey })).body;
  t.is(passedOver.length, 1);
  const { body } = await call(world, 'GET', '/v1/tasks/dlq', { token: replay.tenant.apiKey });
  t.deepEqual([body.data.length, body.data[0].payload.event_id], [1, passedOver[0]]);
  const again = await call(world, 'POST', `/v1/tasks/dlq/${body.data[0].id}/replay`, { token: replay.tenant.apiKey });
  assertStatus(t, again, 200);
  await eventually(async () => (await replay.conversions()) === 30, PATIENCE_MS);
});

test.serial('a replay that keeps failing is shown as blocked, and goes on after its last page', async (t) => {
  const mend = await breakWrites(world, 'goal_replays', 'update', 'new.scanned > 5000');
  const replay = await desk();
  const { blocked_reason: reason, scanned } = await eventually(async () => {
    const row = await replay.read();
    return row.blocked_reason !== null && row;
  }, PATIENCE_MS);
  t.is(reason.code, 'run.kept_failing');
  assertNowhere(t, reason, [QUOTED]);
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
