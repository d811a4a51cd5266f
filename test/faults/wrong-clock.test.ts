import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runWrongClock } from './wrong-clock.ts';

test('a worker whose clock is an hour ahead for ten seconds stores no moment an hour ahead, and goes on', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runWrongClock({
    seed: 7,
    contacts: 50,
    aheadMs: 10_000,
    settleMs: 150_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
});
