import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { withTimeout } from './with-timeout.ts';

const late = (): never => {
  throw new Error('late');
};

test('the result or the error of the work that ends in time', async (t) => {
  t.is(await withTimeout(Promise.resolve('done'), 10_000, late), 'done');
  await t.throwsAsync(withTimeout(Promise.reject(new Error('failed')), 10_000, late), { message: 'failed' });
});

test('the value or the error for work that takes longer; what it does afterwards is ignored', async (t) => {
  let fail = (_error: Error): void => {};
  const work = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  t.is(await withTimeout(work, 1, () => 'late'), 'late');
  await t.throwsAsync(withTimeout(work, 1, late), { message: 'late' });
  // An unhandled rejection would have been reported before this line, and would fail the test.
  fail(new Error('failed'));
  await setImmediate();
});
