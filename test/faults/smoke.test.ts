import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runFaults } from './run.ts';

// This seed kills every kind of process, the worker twice. `npm run test:faults` is the long run.
const SEED = 124;

test('a campaign survives kill -9 of its processes: every lead ends right, none is mailed twice', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runFaults({
    seed: SEED,
    kills: 5,
    contacts: 30,
    workers: 1,
    pace: 20,
    losses: 1,
    pauseMs: 4_000,
    slow: false,
    replies: true,
    settleMs: 180_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
});
