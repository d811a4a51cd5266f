import test from 'ava';
import type { Clock } from '../../lib/clock.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { openRunDesk } from '../harness/run-desk.ts';
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
let engine: Engine | undefined;
test.before(async () => {
  // No worker of this installation serves the queue that checks and launches runs.
  world = await createWorld({ clock, env: { WORKER_ROLES: 'workflows,relay' } });
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

test('runs that wait, and whose workflows are started again, end in time without a slot of the worker that checks and launches', async (t) => {
  const desk = await openRunDesk(world);
  clock.offsetMs = 8_000 - world.deps.config.APPROVAL_EXPIRES_MS;
  const runs = [];
  for (let n = 0; n < 3; n += 1) runs.push(await desk.step(await desk.create()));
  clock.offsetMs = 0;
  engine = await startEngine(world);
  for (const { id } of runs) {
    await eventually(async () => (await desk.row(id)).state === 'denied');
    t.is(await engine.temporal.workflow.getHandle(`run/${id}`).result(), 'denied');
    t.like((await desk.row(id)).error_details, { code: 'approval_expired' });
  }
});
