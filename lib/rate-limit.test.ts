import test from 'ava';
import fc from 'fast-check';
import { ManualClock } from '../test/harness/manual-clock.ts';
import { createRateLimiter } from './rate-limit.ts';

const START = new Date('2026-03-02T09:00:00Z');

test('a key with limit 1 that waits for its Retry-After is admitted', async (t) => {
  const clock = new ManualClock(new Date(START.getTime() + 10_000));
  const limiter = createRateLimiter(clock);
  t.is(await limiter.take('key', 1), 0);
  const waitMs = await limiter.take('key', 1);
  t.true(waitMs >= 60_000 && waitMs <= 65_000, String(waitMs));
  clock.advance(waitMs - 1);
  t.is(await limiter.take('key', 1), 1, 'and no sooner');
  clock.advance(1);
  t.is(await limiter.take('key', 1), 0);
});

test('property: whatever came before, a request after its Retry-After is admitted, and refusals use up nothing', async (t) => {
  const steps = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), requests: fc.integer({ min: 1, max: 5 }) }),
    {
      minLength: 1,
      maxLength: 30,
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      steps,
      fc.integer({ min: 0, max: 59_999 }),
      async (limit, history, offset) => {
        const clock = new ManualClock(new Date(START.getTime() + offset));
        const limiter = createRateLimiter(clock);
        const unbothered = createRateLimiter(clock);
        for (const { afterMs, requests } of history) {
          clock.advance(afterMs);
          for (let i = 0; i < requests; i += 1) {
            const waitMs = await limiter.take('key', limit);
            if (waitMs === 0) t.is(await unbothered.take('key', limit), 0);
            else t.true(waitMs <= 65_000);
          }
        }
        const waitMs = await limiter.take('key', limit);
        if (waitMs === 0) return;
        t.is(await unbothered.take('key', limit), waitMs, 'a limiter that never refused says the same');
        clock.advance(waitMs);
        t.is(await limiter.take('key', limit), 0);
      },
    ),
    { numRuns: 100 },
  );
});

test('property: no 55 seconds take in more than the limit, and a steady caller just below it is never refused', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 60 }),
      async (limit, gaps) => {
        const clock = new ManualClock(START);
        const limiter = createRateLimiter(clock);
        const admitted: number[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          if ((await limiter.take('key', limit)) === 0) admitted.push(clock.now().getTime());
        }
        for (const at of admitted) {
          const inside = admitted.filter((other) => other <= at && other > at - 55_000).length;
          t.true(inside <= limit, `${inside} in 55 s with limit ${limit}`);
        }
      },
    ),
    { numRuns: 100 },
  );
  const clock = new ManualClock(START);
  const limiter = createRateLimiter(clock);
  for (let second = 0; second < 300; second += 1) {
    t.is(await limiter.take('steady', 60), 0, `second ${second}`);
    clock.advance(1_017);
  }
});

test('keys do not share a limit; 0 is unlimited', async (t) => {
  const limiter = createRateLimiter(new ManualClock(START));
  t.is(await limiter.take('one', 1), 0);
  t.is(await limiter.take('other', 1), 0);
  t.true((await limiter.take('one', 1)) > 0);
  for (let i = 0; i < 5; i += 1) t.is(await limiter.take('free', 0), 0);
});
