import pg from 'pg';
import test from 'ava';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { transact } from '../domain/platform/kernel/transact.ts';
import { advanceRun, preflightRun } from '../domain/campaigns/runs/preflight.ts';
import { HOUR_MS, MeasuredClock } from '../lib/clock.ts';
import { eventually } from '../test/harness/eventually.ts';
import { openRunDesk } from '../test/harness/run-desk.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { connect, SERVER_MS } from './connection.ts';
import { measureRegularly } from './measure-clock.ts';

/**
 * Tolerance (ms) of the clock. It is far below the errors of the test's clocks (hours), and far above the delays of a
 * busy machine.
 */
const NEAR_MS = 60_000;

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

/** Creates a clock for a machine and a process whose own clocks are ahead by `aheadMs`. */
const clockAhead = (aheadMs: () => number) => {
  const now = () => Date.now() + aheadMs();
  return new MeasuredClock(now, now);
};

const isNear = (clock: MeasuredClock) => Math.abs(clock.now().getTime() - Date.now()) < NEAR_MS;

test('a process whose clock is an hour ahead decides by the clock of PostgreSQL', async (t) => {
  const clock = clockAhead(() => HOUR_MS);
  const db = connect({ url: world.databaseUrl, max: 1, prepared: true, clock });
  t.teardown(() => db.destroy());
  const desk = await openRunDesk(world);
  const ctx = systemCtx({ ...world.deps, clock, db }, desk.tenant.organizationId, 'test');
  const { id } = await desk.create();
  const { expires_at: expiresAt } = await preflightRun(ctx, id);
  const { APPROVAL_EXPIRES_MS: openMs } = world.deps.config;
  t.true(Math.abs(expiresAt!.getTime() - Date.now() - openMs) < NEAR_MS);
  t.is((await advanceRun(ctx, id)).state, 'awaiting_approval', 'by its own clock the half hour was over');
  const expire = (table: string, where: object) =>
    world.deps
      .db(table)
      .where(where)
      .update({ expires_at: new Date(Date.now() - NEAR_MS) });
  await expire('runs', { id });
  await expire('approvals', { id: (await desk.row(id)).approval_id });
  t.like(await advanceRun(ctx, id), { state: 'denied' });
});

test.serial('the clock costs a statement per connection, and none per transaction', async (t) => {
  const clock = clockAhead(() => -HOUR_MS);
  const db = connect({ url: world.databaseUrl, max: 1, clock });
  const tenant = await world.tenant();
  const ctx = systemCtx({ ...world.deps, clock, db }, tenant.organizationId, 'test');
  const { query } = pg.Client.prototype;
  const sent: string[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...[config, ...rest]: any[]) {
    sent.push((config as { text?: string }).text ?? (config as string));
    return (query as (...all: unknown[]) => unknown).call(this, config, ...rest);
  } as typeof query;
  t.teardown(async () => {
    pg.Client.prototype.query = query;
    await db.destroy();
  });
  for (let n = 0; n < 5; n += 1) {
    const now = await transact(ctx, async (tx) => {
      await tx.org.sql('select 1 where :org::uuid is not null');
      return tx.now;
    });
    t.true(Math.abs(now.getTime() - Date.now()) < NEAR_MS);
  }
  const begun = sent.findIndex((text) => /^begin/i.test(text));
  t.is(sent.slice(0, begun).filter((text) => text === SERVER_MS).length, 1, 'before the first transaction');
  t.is(sent.slice(begun).length, 5 * 3, sent.join('\n'));
});

test('a machine whose clock is set or that was suspended says so once, and is measured again', async (t) => {
  let [machineAheadMs, steadyAheadMs] = [0, 0];
  const clock = new MeasuredClock(
    () => Date.now() + machineAheadMs,
    () => Date.now() + steadyAheadMs,
  );
  const logged: string[] = [];
  const note = (level: string) => (about: { aheadMs: number }) =>
    void logged.push(`${level} ${Math.round(about.aheadMs / HOUR_MS)}`);
  const log = { info: note('info'), warn: note('warn'), error: note('error') } as never;
  const measuring = measureRegularly(clock, world.deps.db, log, 20);
  t.teardown(() => measuring.stop());
  machineAheadMs = HOUR_MS;
  await eventually(async () => logged.length === 1);
  t.true(isNear(clock));
  machineAheadMs = 0;
  await eventually(async () => logged.length === 2);
  steadyAheadMs = -3 * HOUR_MS;
  await eventually(async () => isNear(clock));
  t.deepEqual(logged, ['error 1', 'info 0']);
});
