import test from 'ava';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { ManualClock } from '../test/harness/manual-clock.ts';
import { silentLogger } from '../lib/log.ts';
import { testConfig } from '../test/harness/world.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { runOrGiveUp } from './blocking.ts';
import { retryLater } from './retry-later.ts';

const BLOCK_AFTER_MS = 300_000;
const refused = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
const broken = () => Promise.reject(new Error('a bug'));
const busy = () => Promise.reject(retryLater('app_busy', 'the app is busy', 5_000));

/** Creates an activity. Each attempt gets the heartbeat details of the previous attempt, as from the server. */
function createActivity() {
  const clock = new ManualClock(new Date('2026-11-02T10:00:00Z'));
  const config = testConfig('postgres://nowhere', { RUN_BLOCK_AFTER_MS: String(BLOCK_AFTER_MS) });
  const deps = { clock, config, log: silentLogger } as unknown as Deps;
  let details: unknown;
  let attempt = 0;
  return {
    clock,
    /** Runs the next attempt. Returns its result, or the delay (ms) before the next attempt. */
    async attempt(work: () => Promise<string>): Promise<unknown> {
      attempt += 1;
      const environment = new MockActivityEnvironment(
        { attempt, heartbeatDetails: details },
        { logger: new DefaultLogger('ERROR') },
      );
      environment.on('heartbeat', (given: unknown) => (details = given));
      try {
        return await environment.run(() => runOrGiveUp(deps, work, async () => 'given up'));
      } catch (error) {
        return (error as ApplicationFailure).nextRetryDelay;
      }
    },
  };
}

test('attempts that only waited do not delay the attempt after a failure', async (t) => {
  const { attempt } = createActivity();
  for (let times = 0; times < 20; times += 1) t.is(await attempt(busy), 5_000);
  t.is(await attempt(refused), 500);
});

test('the next attempt comes after as long again as the failures last, and after half a minute at most', async (t) => {
  const { attempt, clock } = createActivity();
  t.is(await attempt(refused), 500);
  clock.advance(2_000);
  t.is(await attempt(broken), 2_000);
  clock.advance(7_000);
  t.is(await attempt(refused), 9_000);
  for (let times = 0; times < 9; times += 1) {
    clock.advance(30_000);
    t.is(await attempt(refused), 30_000);
  }
  t.is(await attempt(async () => 'done'), 'done');
});

test('work that has waited, or is done, begins a new row of failures', async (t) => {
  const { attempt, clock } = createActivity();
  t.is(await attempt(broken), 500);
  clock.advance(BLOCK_AFTER_MS - 1);
  t.is(await attempt(busy), 5_000);
  clock.advance(10);
  t.is(await attempt(broken), 500, 'not given up: it had reached the app in between');
});

test('failures of the database never count, and all others do', async (t) => {
  const { attempt, clock } = createActivity();
  for (let times = 0; times < 20; times += 1) {
    await attempt(refused);
    clock.advance(60_000);
  }
  t.is(await attempt(broken), 30_000);
  clock.advance(BLOCK_AFTER_MS - 1);
  t.is(await attempt(refused), 30_000);
  clock.advance(1);
  t.is(await attempt(broken), 'given up');
});

test('a failure long after the last one is not given up', async (t) => {
  const { attempt, clock } = createActivity();
  t.is(await attempt(broken), 500);
  // The activity then waits for something else and stores no heartbeat details.
  clock.advance(3_600_000);
  t.is(await attempt(broken), 500);
});
