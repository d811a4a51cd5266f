import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import fc from 'fast-check';
import { DRIFT_LIMIT_MS, HOUR_MS, isAdrift, MeasuredClock } from './clock.ts';

/** A machine and a database with separate clocks, and a network between them. */
class Machines {
  trueMs = 1_800_000_000_000;
  /** Error (ms) of the machine's clock, which a person or a service may set. */
  machineAheadMs = 0;
  /** Error (ms) of the process's monotonic clock. */
  steadyAheadMs = 0;
  readonly clock = new MeasuredClock(
    () => this.trueMs + this.machineAheadMs,
    () => this.trueMs + this.steadyAheadMs,
  );

  /** Makes one measurement with the given durations (ms) of request and answer. */
  measure(requestMs: number, answerMs: number): Promise<void> {
    return this.clock.measure(async () => {
      this.trueMs += requestMs;
      const serverMs = this.trueMs;
      this.trueMs += answerMs;
      return serverMs;
    });
  }

  get errorMs(): number {
    return this.clock.now().getTime() - this.trueMs;
  }
}

/** Tolerance (ms): the clock returns whole milliseconds. */
const NEAR_MS = 1;

test('an hour of a wrong clock is taken out, to within half of the smallest round trip', async (t) => {
  const machines = new Machines();
  machines.steadyAheadMs = HOUR_MS;
  await machines.measure(90, 10);
  t.true(Math.abs(machines.errorMs - 40) <= NEAR_MS);
  const before = machines.clock.now();
  await machines.measure(4, 4);
  t.deepEqual(machines.clock.now(), before, 'time stands still until it has caught up');
  machines.trueMs += 100;
  t.true(Math.abs(machines.errorMs) <= NEAR_MS);
  await machines.measure(90, 10);
  t.true(Math.abs(machines.errorMs) <= NEAR_MS, 'a slower measurement makes it no worse');
});

test("setting the machine's clock changes no decision, and shows at once", async (t) => {
  const machines = new Machines();
  await machines.measure(1, 1);
  for (const aheadMs of [HOUR_MS, -HOUR_MS, DRIFT_LIMIT_MS + 10]) {
    machines.machineAheadMs = aheadMs;
    t.true(Math.abs(machines.errorMs) <= NEAR_MS);
    t.true(Math.abs(machines.clock.aheadMs() - aheadMs) <= NEAR_MS);
    t.true(isAdrift(machines.clock));
  }
  machines.machineAheadMs = DRIFT_LIMIT_MS - 10;
  t.false(isAdrift(machines.clock));
});

test('a machine that was suspended takes no work until the next measurement, however slow that is', async (t) => {
  const machines = new Machines();
  await machines.measure(1, 1);
  machines.steadyAheadMs -= HOUR_MS;
  t.true(isAdrift(machines.clock));
  await machines.measure(300, 300);
  t.false(isAdrift(machines.clock));
  t.true(Math.abs(machines.errorMs) <= NEAR_MS, 'a large correction is made at once');
  machines.steadyAheadMs += 2 * HOUR_MS;
  await machines.measure(300, 300);
  t.true(Math.abs(machines.errorMs) <= NEAR_MS, 'also backwards');
});

test('a measurement that fails changes nothing', async (t) => {
  const machines = new Machines();
  machines.steadyAheadMs = HOUR_MS;
  await machines.measure(2, 2);
  await t.notThrowsAsync(machines.clock.measure(() => Promise.reject(new Error('the database is away'))));
  t.true(Math.abs(machines.errorMs) <= NEAR_MS);
});

test('while no clock is set time never runs backwards, and the best measurement bounds its error', async (t) => {
  const step = fc.record({
    passes: fc.integer({ min: 0, max: 60_000 }),
    request: fc.integer({ min: 0, max: 400 }),
    answer: fc.integer({ min: 0, max: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: -400, max: 400 }), fc.array(step, { minLength: 1 }), async (ahead, steps) => {
      const machines = new Machines();
      machines.steadyAheadMs = ahead;
      let [latest, bestMs] = [machines.clock.now().getTime(), Infinity];
      for (const { passes, request, answer } of steps) {
        await machines.measure(request, answer);
        bestMs = Math.min(bestMs, request + answer);
        const now = machines.clock.now().getTime();
        t.true(now >= latest);
        latest = now;
        machines.trueMs += passes;
      }
      // Advances by more than HOLD_MS, the maximum time for which the clock stands still.
      machines.trueMs += 1_000;
      t.true(Math.abs(machines.errorMs) <= bestMs / 2 + NEAR_MS);
    }),
  );
});

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Files of domain and activities that may use another clock, each with its reason. No other file may. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'domain/connect/delivery/claim.ts': 'claims of deliveries, which another attempt may take over',
  'domain/platform/kernel/call-claim.ts': 'claims of calls, which another attempt may repeat',
  'domain/mailboxes/leases.ts': 'leases of watchers and their retries, arbitrated by PostgreSQL',
  'domain/sending/control/access-token.ts': 'the lease of a refresh of tokens',
  'domain/connect/integrations/account.ts': 'the lease of a refresh of tokens',
  'domain/connect/integrations/record.ts': 'the lease of a record, arbitrated by PostgreSQL',
  'domain/operations/instance/fleet.ts': 'signs of life of worker processes',
  'domain/operations/system/backup.ts': 'signs of life of worker processes',
  'domain/operations/system/outbox.ts': 'times of the outbox, which the relay keeps',
  'domain/operations/system/readiness.ts': 'times of the outbox, which the relay keeps',
  'domain/operations/system/reconcile.ts': 'turns of searches for missing runs, which processes take from each other',
};

const OTHER_CLOCKS =
  /\bDate\.now\(|\bnew Date\(\s*\)|\bsystemClock\b|(?<![.\w])now\(\)(?![.:])|\b(?:clock|statement|transaction)_timestamp\b|\b(?:current_(?:timestamp|date|time)|localtimestamp)\b/i;

test('what the domain and its activities decide, they decide by the injected clock', (t) => {
  const asking = ['domain', 'activities'].flatMap(sourcesOf).filter((file) => OTHER_CLOCKS.test(codeOf(file)));
  t.deepEqual(asking.sort(), Object.keys(EXCEPTIONS).sort());
});

function sourcesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => relative(ROOT, join(ROOT, folder, file)));
}

/** Returns a source without its comments, which may mention other clocks. */
function codeOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}
