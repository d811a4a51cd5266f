import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { within } from './within.ts';

const late = (): never => {
  throw new Error('late');
};
const fails = async (ms: number): Promise<never> => {
  await sleep(ms);
  throw new Error('failed');
};

test('the result or the error of the work that ends in time', async (t) => {
  t.is(await within(sleep(1, 'done'), 10_000, late), 'done');
  await t.throwsAsync(within(fails(1), 10_000, late), { message: 'failed' });
});

test('the value or the error for work that takes longer; what it does afterwards is ignored', async (t) => {
  t.is(await within(fails(5), 1, () => 'late'), 'late');
  await t.throwsAsync(within(fails(5), 1, late), { message: 'late' });
  await sleep(20);
});
