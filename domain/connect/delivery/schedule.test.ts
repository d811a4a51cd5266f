import test from 'ava';
import { nextAttemptAt } from './schedule.ts';

const config = { WEBHOOK_RETRY_BASE_MS: 30_000, WEBHOOK_RETRY_CAP_MS: 3_600_000 };
const now = new Date('2026-03-02T08:00:00Z');
const wait = (attempt: number, earlier = 0, max = earlier + 8): number | null => {
  const next = nextAttemptAt(config, { attempt, earlier, max }, now);
  return next && (next.getTime() - now.getTime()) / 1000;
};

test('eight attempts: 30 s, doubling, and after the eighth no more', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => wait(attempt)),
    [30, 60, 120, 240, 480, 960, 1920, null],
  );
});

test('no wait is longer than an hour, however many attempts are allowed', (t) => {
  t.deepEqual(
    [7, 8, 9, 60].map((attempt) => wait(attempt, 0, 100)),
    [1920, 3600, 3600, 3600],
  );
});

test('after a redelivery the schedule starts anew', (t) => {
  t.deepEqual(
    [9, 10, 15, 16].map((attempt) => wait(attempt, 8)),
    [30, 60, 1920, null],
  );
});
