import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import test, { type ExecutionContext } from 'ava';
import { updateGoal } from '../../domain/reporting/goals/goals.ts';
import { replayPage } from '../../domain/reporting/goals/replay-page.ts';
import { previewReplay } from '../../domain/reporting/goals/replays.ts';
import { freePort } from '../../local/servers.ts';
import { TYPESCRIPT } from '../../local/typescript.ts';
import { createTemporalClient } from '../../temporal/client.ts';
import { openReplayDesk, REPLAYED, startFollowedReplay } from '../harness/goal-replays.ts';
import { createWorld, type World } from '../harness/world.ts';
import { awaitLockWaits } from '../harness/statements.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Timeout (ms) for Temporal to notice a dead worker and for another worker to start, on a busy machine. */
const PATIENCE_MS = 110_000;
let world: World;
let temporal: Client;
test.before(async () => {
  world = await createWorld();
  temporal = createTemporalClient(world.deps.config);
});
test.after.always(async () => {
  await temporal?.connection.close();
  await world?.close();
});

/** Starts a worker for the test's database in a separate process that can be killed. */
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

test('a worker that is killed in the middle of a page: another does what the preview said, nothing twice', async (t) => {
  t.timeout(2 * PATIENCE_MS);
  const { db } = world.deps;
  const first = await openReplayDesk(world, temporal);
  while ((await replayPage(first.ctx, first.id)).kind === 'more');
  t.like(await first.read(), { state: 'completed', added: 6_000 });
  await updateGoal(first.ctx, first.goalId, {
    definition: { ...first.definition, predicates: [{ path: 'm', op: 'eq', value: 0 }] },
  });
  await db.raw(
    `delete from product_events where id in (select event_id from conversions where goal_id = ? order by occurred_at limit 10)`,
    [first.goalId],
  );
  const preview = await previewReplay(first.ctx, first.goalId, REPLAYED);
  t.like(preview, { scanned: 11_990, retainedWithoutEvent: 10 });
  for (const count of [preview.wouldAdd, preview.wouldRemove, preview.wouldKeep]) t.true(count > 1_000);
  await db.raw(`create function wait_for_it() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock(4711); return new; end $$`);
  await db.raw(
    'create trigger wait_for_it before update on goal_replays for each row when (new.scanned > 5000) execute function wait_for_it()',
  );
  const replay = await startFollowedReplay(world, temporal, first.tenant, first.goalId);
  const port = await freePort();
  await db.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(4711)');
    const killed = startProcess(t, port);
    await awaitLockWaits(db, { like: '%goal_replays%' });
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
});
