import test from 'ava';
import fc from 'fast-check';
import { ManualClock } from '../test/harness/manual-clock.ts';
import { createRateLimiter } from './rate-limit.ts';

const START = new Date('2026-03-02T09:00:00Z');

test('a refused key passes when it has waited exactly Retry-After, and not a second earlier', async (t) => {
  for (const [limit, offset] of [
    [1, 0],
    [1, 999],
    [60, 3_500],
  ] as const) {
    const clock = new ManualClock(new Date(START.getTime() + offset));
    const limiter = createRateLimiter(clock);
    for (let left = limit - 1; left >= 0; left -= 1) {
      const { waitMs, remaining, resetMs } = await limiter.take('key', limit);
      t.deepEqual([waitMs, remaining], [0, left]);
      t.is(resetMs, 60_000 - (offset % 1_000) - (limit - 1 - left));
      clock.advance(1);
    }
    const { waitMs, remaining, resetMs } = await limiter.take('key', limit);
    t.true(waitMs > 58_000 && waitMs <= 60_000, String(waitMs));
    t.deepEqual([remaining, resetMs], [0, waitMs]);
    clock.advance(waitMs - 1);
    t.is((await limiter.take('key', limit)).waitMs, 1);
    clock.advance(1);
    t.is((await limiter.take('key', limit)).waitMs, 0);
  }
});

test('the next request passes when the oldest one leaves the window, not when all of them have left', async (t) => {
  const clock = new ManualClock(START);
  const limiter = createRateLimiter(clock);
  for (let i = 0; i < 3; i += 1) {
    t.is((await limiter.take('key', 3)).waitMs, 0);
    clock.advance(15_000);
  }
  t.like(await limiter.take('key', 3), { waitMs: 15_000, remaining: 0, resetMs: 15_000 });
  clock.advance(15_000);
  t.like(await limiter.take('key', 3), { waitMs: 0, remaining: 0, resetMs: 15_000 });
  t.like(await limiter.take('key', 3), { waitMs: 15_000 });
});

test('property: whatever came before, a request after its wait is admitted, and refusals use up nothing', async (t) => {
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
            const taken = await limiter.take('key', limit);
            if (taken.waitMs === 0) t.deepEqual(await unbothered.take('key', limit), taken);
            else t.true(taken.waitMs <= 60_000);
          }
        }
        const { waitMs } = await limiter.take('key', limit);
        if (waitMs === 0) return;
        t.is((await unbothered.take('key', limit)).waitMs, waitMs, 'a limiter that never refused says the same');
        clock.advance(waitMs - 1);
        t.is((await limiter.take('key', limit)).waitMs, 1);
        clock.advance(1);
        t.is((await limiter.take('key', limit)).waitMs, 0);
      },
    ),
    { numRuns: 100 },
  );
});

test('property: no 59 seconds take in more than the limit; what is left is what passes', async (t) => {
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
          if ((await limiter.take('key', limit)).waitMs === 0) admitted.push(clock.now().getTime());
        }
        for (const at of admitted) {
          const inside = admitted.filter((other) => other <= at && other > at - 59_000).length;
          t.true(inside <= limit, `${inside} in 59 s with limit ${limit}`);
        }
        const { waitMs, remaining } = await limiter.take('key', limit);
        for (let left = remaining; left > 0; left -= 1) t.is((await limiter.take('key', limit)).waitMs, 0);
        if (waitMs === 0) t.true((await limiter.take('key', limit)).waitMs > 0);
      },
    ),
    { numRuns: 100 },
  );
});

test('a steady caller at the limit is never refused', async (t) => {
  const clock = new ManualClock(START);
  const limiter = createRateLimiter(clock);
  for (let second = 0; second < 300; second += 1) {
    t.is((await limiter.take('steady', 60)).waitMs, 0, `second ${second}`);
    clock.advance(1_000);
  }
});

test('keys do not share a limit; 0 is unlimited', async (t) => {
  const limiter = createRateLimiter(new ManualClock(START));
  t.is((await limiter.take('one', 1)).waitMs, 0);
  t.is((await limiter.take('other', 1)).waitMs, 0);
  t.true((await limiter.take('one', 1)).waitMs > 0);
  for (let i = 0; i < 5; i += 1) t.like(await limiter.take('free', 0), { waitMs: 0, remaining: Infinity });
});
