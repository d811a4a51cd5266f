import test from 'ava';
import { eventually } from '../test/harness/eventually.ts';
import { startLoop, type Pause } from './loop.ts';
import { liveness, stalledLoops } from './iterations.ts';

test('a loop goes on at once, after its pause, when it is woken, and after a failure', async (t) => {
  const answers: (Pause | Error)[] = [{}, { leastMs: 1 }, new Error('once'), { mostMs: 3_600_000, gatherMs: 1 }];
  const errors: unknown[] = [];
  let turns = 0;
  const loop = startLoop({
    name: 'test',
    async iterate() {
      const answer = answers[turns++] ?? { mostMs: 3_600_000 };
      if (answer instanceof Error) throw answer;
      return answer;
    },
    failedMs: 1,
    onError: (error) => errors.push(error),
  });
  await eventually(async () => turns >= 4);
  loop.wake();
  await eventually(async () => turns >= 5);
  await loop.stop();
  t.deepEqual([turns, errors.length], [5, 1]);
});

test('a held loop does nothing until it may, and a stop does not wait for that', async (t) => {
  let held = true;
  let turns = 0;
  const options = { name: 'test', isHeld: () => held, failedMs: 1, onError: () => {} };
  const iterate = async () => {
    turns += 1;
    return { mostMs: 3_600_000 };
  };
  const stopped = startLoop({ ...options, iterate });
  await stopped.stop();
  t.is(turns, 0);
  const loop = startLoop({ ...options, iterate });
  held = false;
  await eventually(async () => turns >= 1);
  await loop.stop();
  t.is(turns, 1);
});

test.serial('an iteration that makes no progress for a minute ends liveness, a slow one does not', async (t) => {
  const { now } = performance;
  t.teardown(() => void (performance.now = now));
  let settle: (() => void) | undefined;
  let report: (() => void) | undefined;
  const loop = startLoop({
    name: 'hanging',
    iterate: (progress) =>
      new Promise((resolve) => {
        report = progress;
        settle = () => resolve({ mostMs: 3_600_000 });
      }),
    failedMs: 1,
    onError: () => {},
  });
  await eventually(async () => settle !== undefined);
  const pass = (ms: number) => {
    const at = performance.now() + ms;
    performance.now = () => at;
  };
  pass(59_000);
  t.deepEqual(stalledLoops(), []);
  report!();
  pass(59_000);
  t.deepEqual(liveness(), { status: 200, body: { status: 'ok' } });
  pass(2_000);
  t.deepEqual(liveness(), { status: 503, body: { status: 'stalled', loops: ['hanging'] } });
  settle!();
  await loop.stop();
  t.deepEqual(stalledLoops(), []);
});
