import test from 'ava';
import { DAY_MS } from '../../lib/clock.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver } from '../harness/receiver.ts';
import { plainWorld, skippingTests } from '../harness/skipped-time.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';

const skipping = await skippingTests(test, plainWorld);

/** Waits (s) between the attempts of a delivery: 30 s, doubled each time, at most an hour. */
const WAITS = [30, 60, 120, 240, 480, 960, 1_920];
/** Real time (ms) that a busy machine may add to a wait. */
const SLACK_MS = 25_000;

skipping(
  'a delivery that always fails is attempted eight times, 30 s doubling apart, and abandoned',
  async (t, stage) => {
    const { world, clock } = stage;
    const { db } = world.deps;
    const came: number[] = [];
    const receiver = await startReceiver({
      respond() {
        came.push(clock.now().getTime());
        return { status: 503 };
      },
    });
    t.teardown(() => receiver.stop());
    const { organizationId } = await world.tenant();
    const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
    await emitEvents(world.deps, organizationId, 1);
    const delivery = () => db('webhook_deliveries').where({ endpoint_id: endpoint.id }).first();
    await eventually(async () => (await delivery())?.status === 'failed');
    t.is(came.length, 1);
    await stage.passUntil(clock.now().getTime() + DAY_MS);
    const abandoned = await eventually(async () => {
      const row = await delivery();
      return row.status === 'abandoned' && row;
    });
    t.like(abandoned, { attempt_count: 8, max_attempts: 8, next_attempt_at: null, response_status: 503 });
    const attempts = await db('webhook_attempts').where({ delivery_id: abandoned.id }).orderBy('attempt');
    t.is(attempts.length, 8);
    t.is(came.length, 8, 'nothing comes after the last attempt, for the rest of the day');
    for (const [index, seconds] of WAITS.entries()) {
      const waitedMs = attempts[index + 1].started_at.getTime() - attempts[index].started_at.getTime();
      const about = `before attempt ${index + 2}: ${waitedMs} ms`;
      t.true(waitedMs >= seconds * 1_000 && waitedMs < seconds * 1_000 + SLACK_MS, about);
      t.true(came[index + 1]! - came[index]! >= seconds * 1_000 - 1_000, about);
    }
    t.is(
      await stage.engine.temporal.workflow.getHandle(`webhook-delivery/${abandoned.id}`).result(),
      'abandoned, attempt 8 of 8, status 503',
    );
  },
);
