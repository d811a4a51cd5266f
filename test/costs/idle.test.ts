import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { countStatements, sumOf } from '../harness/statement-counter.ts';
import { createWorld } from '../harness/world.ts';

/** Duration (ms) of the measurement. On a busy machine the loops run fewer iterations in this time, never more. */
const LOOK_MS = 20_000;
/** Highest number of statements of an idle worker in that time, including those that begin and end transactions. */
const MAX_STATEMENTS = 110;

/** The worker's start counts as finished after this many ms with at most `MAX_SETTLED` statements. */
const SETTLED_MS = 2_000;
const MAX_SETTLED = 20;
const PATIENCE_MS = 60_000;

test('a worker without work asks PostgreSQL for little, and for nothing in quick succession', async (t) => {
  t.timeout(120_000);
  const world = await createWorld();
  const pool = connectRaw({ url: world.databaseUrl, name: 'heron-worker', prepared: true });
  const deps = { ...world.deps, db: pool };
  await registerSubscribers(deps, SUBSCRIBERS);
  const counter = countStatements(pool);
  const engine = await startEngine({ ...world, deps });
  try {
    // The first iteration of every loop belongs to the start, which takes longer on a busy machine.
    await eventually(async () => {
      counter.take();
      await sleep(SETTLED_MS);
      return sumOf(counter.take()) <= MAX_SETTLED;
    }, PATIENCE_MS);
    await sleep(LOOK_MS);
    const counts = counter.take();
    const total = sumOf(counts);
    t.true(total > 0, 'the loops run');
    t.true(total <= MAX_STATEMENTS, `${total} statements in ${LOOK_MS} ms: ${JSON.stringify(counts, null, 1)}`);
  } finally {
    counter.stop();
    await engine.stop();
    await pool.destroy();
    await world.close();
  }
});
