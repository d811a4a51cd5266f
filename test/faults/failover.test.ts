import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runFailover } from './failover.ts';

test('a database that vanishes without a word stops no worker: all emails in flight are settled, none twice', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runFailover({
    emails: 20,
    awayMs: 40_000,
    settleMs: 60_000,
    log: (line) => void lines.push(line),
  });
  t.log(`settled ${Math.round(report.settledMs)} ms after the first new connection`);
  expectClean(t, report, lines);
});
