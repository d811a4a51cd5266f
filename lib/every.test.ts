import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { every } from './every.ts';

test('a turn that is due while another is under way is left out, a failure ends nothing, and a stop waits', async (t) => {
  let open = 0;
  let most = 0;
  let turns = 0;
  const errors: unknown[] = [];
  let ended = 0;
  const repeated = every(
    'test',
    1,
    async () => {
      turns += 1;
      open += 1;
      most = Math.max(most, open);
      await sleep(10);
      open -= 1;
      ended += 1;
      if (ended === 1) throw new Error('once');
    },
    (error) => errors.push(error),
  );
  while (turns < 3) await sleep(1);
  await repeated.stop();
  t.deepEqual([most, open, errors.length], [1, 0, 1]);
  const begun = turns;
  t.is(ended, begun, 'the last one too');
  // This timer fires after every earlier timer of the same length.
  await sleep(1);
  t.is(turns, begun);
});
