import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { FairQueue, ShareUsedUp, type Claim } from './fair-queue.ts';

const WAIT_MS = 60_000;

/** Creates a queue that records the admitted claims in order. */
function noting(options: { total: number; share: number; waitMs?: number }) {
  const queue = new FairQueue({ waitMs: WAIT_MS, ...options });
  const admitted: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string, claim: Claim) => {
    // Ignores the refusal of a claim that is still waiting when its test ends.
    const leave = await Promise.resolve(queue.enter(claim)).catch((error: unknown) => {
      if (!(error instanceof ShareUsedUp)) throw error;
    });
    if (!leave) return;
    admitted.push(name);
    leaves.set(name, leave);
  };
  return {
    queue,
    admitted,
    enter,
    /** Gives back a part of the capacity, and waits until the next claim is admitted. */
    async leave(name: string) {
      leaves.get(name)!();
      await setImmediate();
    },
  };
}

test('a tenant holds no more than its share, so that another finds a free part', async (t) => {
  const { queue, admitted, enter, leave } = noting({ total: 4, share: 3 });
  for (let n = 1; n <= 10; n += 1) void enter(`flood ${n}`, { tenant: 'flood' });
  await enter('other 1', { tenant: 'other' });
  t.deepEqual(admitted, ['flood 1', 'flood 2', 'flood 3', 'other 1']);
  void enter('other 2', { tenant: 'other' });
  await leave('flood 1');
  t.is(admitted.at(-1), 'other 2', 'a free part goes to the tenant that holds the fewest, not to the first in line');
  await leave('flood 2');
  t.is(admitted.at(-1), 'flood 4');
  t.is(queue.waiting, 6);
});

test('work of the installation has no share; a group of a tenant has a smaller one', async (t) => {
  const { admitted, enter, leave } = noting({ total: 6, share: 4 });
  const group = { name: 'questions', share: 1 };
  void enter('question 1', { tenant: 'flood', group });
  void enter('question 2', { tenant: 'flood', group });
  await enter('read', { tenant: 'flood' });
  for (let n = 1; n <= 4; n += 1) await enter(`engine ${n}`, {});
  t.deepEqual(admitted, ['question 1', 'read', 'engine 1', 'engine 2', 'engine 3', 'engine 4']);
  await leave('engine 1');
  t.is(admitted.length, 6, 'the second question waits for the first');
  await leave('question 1');
  t.is(admitted.at(-1), 'question 2');
});

test('who holds a part and needs another to finish goes before everybody, beyond its share; a stop before its own tenant', async (t) => {
  const { admitted, enter, leave } = noting({ total: 3, share: 2 });
  for (const name of ['a', 'b', 'c']) void enter(name, { tenant: 'busy' });
  await enter('other', { tenant: 'other' });
  void enter('engine', {});
  void enter('nested', { tenant: 'busy', precedence: 'nested' });
  void enter('stop', { tenant: 'busy', precedence: 'urgent' });
  await leave('other');
  t.is(admitted.at(-1), 'nested');
  await leave('nested');
  t.is(admitted.at(-1), 'engine');
  await leave('engine');
  t.is(admitted.at(-1), 'stop', 'beyond the share of its tenant');
  await leave('stop');
  await leave('a');
  t.is(admitted.at(-1), 'c');
});

test('who waits too long is refused, and leaves no gap; a part is given back once', async (t) => {
  const { queue, admitted, enter, leave } = noting({ total: 1, share: 1, waitMs: 1 });
  await enter('a', { tenant: 'busy' });
  await t.throwsAsync(async () => queue.enter({ tenant: 'busy' }), { instanceOf: ShareUsedUp });
  t.is(queue.waiting, 0);
  await leave('a');
  await leave('a');
  await enter('b', { tenant: 'busy' });
  t.deepEqual(admitted, ['a', 'b']);
  await t.throwsAsync(async () => queue.enter({ tenant: 'other' }), { instanceOf: ShareUsedUp });
});
