import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { connectRaw } from '../../db/connection.ts';
import { registerSubscribers } from '../../domain/platform/events/register.ts';
import { SUBSCRIBERS } from '../../domain/operations/subscribers/index.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { countStatements, sumOf } from '../harness/statement-counter.ts';
import { createWorld } from '../harness/world.ts';

/** Duration (ms) of the look. A busy machine runs fewer turns in it, never more. */
const LOOK_MS = 20_000;
/** Highest number of statements of an idle worker in that time, those that open and end transactions included. */
const MAX_STATEMENTS = 110;

/** The start has ended after so many ms with so few statements. */
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
    // The first iteration of every loop is part of the start, which takes longer on a busy machine.
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
