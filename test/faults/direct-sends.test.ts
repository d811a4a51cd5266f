import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runDirectFaults } from './direct-sends.ts';

test('direct sends survive kill -9 of the worker: each ends, none leaves twice, the books balance', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runDirectFaults({
    seed: 7,
    emails: 30,
    kills: 2,
    settleMs: 120_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
});
