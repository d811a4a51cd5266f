import test from 'ava';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { retryRun } from '../../domain/operations/system/blocked-runs.ts';
import type { Clock } from '../../lib/clock.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { openRunDesk, type RunDesk } from '../harness/run-desk.ts';
import { createWorld, type World } from '../harness/world.ts';

/** Clock that can be set back, so that approvals requested in the past expire within seconds of Temporal's time. */
class OffsetClock implements Clock {
  offsetMs = 0;
  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }
}

const clock = new OffsetClock();
let world: World;
let engine: Engine;
let desk: RunDesk;
test.before(async () => {
  world = await createWorld({ clock, env: { RUN_BLOCK_AFTER_MS: '200' } });
  engine = await startEngine(world);
  desk = await openRunDesk(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

const reached = (runId: string, state: string) =>
  eventually(async () => {
    const row = await desk.row(runId);
    return row.state === state && row;
  });
const handleOf = (runId: string) => engine.temporal.workflow.getHandle(`run/${runId}`);

test.serial('from the request to an active campaign, with a person in between', async (t) => {
  const { id } = await desk.create();
  await reached(id, 'awaiting_approval');
  await eventually(async () => {
    const { typedSearchAttributes, raw } = await handleOf(id).describe();
    return JSON.stringify(typedSearchAttributes).includes('awaiting_approval') && raw;
  });
  await desk.decide(id, 'approved');
  await reached(id, 'active');
  t.is(await handleOf(id).result(), 'active');
  t.is((await desk.campaign(id)).status, 'active');
});

test.serial('a run that waits is cancelled, and its workflow ends', async (t) => {
  const { id } = await desk.create();
  await reached(id, 'awaiting_approval');
  t.is((await desk.call('POST', `/runs/${id}/cancel`)).status, 200);
  t.is(await handleOf(id).result(), 'cancelled');
});

test.serial('without a decision the run is denied when its time is over, by the clock of the database', async (t) => {
  clock.offsetMs = -30 * 60_000 + 2_500;
  const { id } = await desk.create();
  const waiting = await reached(id, 'awaiting_approval');
  await eventually(async () => Date.now() > waiting.expires_at!.getTime());
  t.is((await desk.row(id)).state, 'awaiting_approval', 'Temporal is ahead of the clock that decides');
  clock.offsetMs = 0;
  t.is(await handleOf(id).result(), 'denied');
  t.like((await desk.row(id)).error_details, { code: 'approval_expired' });
});

test.serial('a run whose workflow was lost is started again, and goes on where it was', async (t) => {
  const { id } = await desk.create();
  await reached(id, 'awaiting_approval');
  await handleOf(id).terminate('lost');
  await desk.decide(id, 'denied');
  await reached(id, 'denied');
  const other = await desk.create();
  await reached(other.id, 'awaiting_approval');
  await handleOf(other.id).terminate('lost');
  const found = await eventually(async () => {
    const families = await reconcile(world.deps);
    return families.find(({ family }) => family === 'run')!.missing === 1;
  });
  t.true(found);
  await eventually(async () => (await handleOf(other.id).describe()).status.name === 'RUNNING');
  await desk.call('POST', `/runs/${other.id}/cancel`);
  t.is(await handleOf(other.id).result(), 'cancelled');
});

test.serial('a run that keeps failing is shown as blocked, and goes on when it is retried', async (t) => {
  const { db } = world.deps;
  await db.raw(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the report cannot be stored'; end $$;
     create trigger refuse before insert on preflight_reports for each row execute function refuse()`,
  );
  const { id } = await desk.create({ intent: 'draft' });
  const blocked = await eventually(async () => {
    const row = await desk.row(id);
    return row.blocked_reason !== null && row;
  });
  t.is(blocked.state, 'preflighting');
  t.regex((await desk.call('GET', `/runs/${id}`)).body.blocked_reason, /^blocked: it kept failing/);
  await db.raw('drop trigger refuse on preflight_reports');
  t.true(await retryRun(world.deps, `run/${id}`));
  const done = await reached(id, 'completed');
  t.is(done.blocked_reason, null);
});
