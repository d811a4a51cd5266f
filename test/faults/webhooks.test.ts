import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runWebhookFaults } from './webhooks.ts';

// The long run, with thirty kills, is `npm run test:faults -- --webhooks`.
test('webhooks survive kill -9 of the worker: nothing is lost, only what was in flight comes again', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runWebhookFaults({
    seed: 7,
    kills: 3,
    workers: 1,
    pauseMs: 2_500,
    rate: 40,
    settleMs: 180_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
  t.true(report.events > 50);
});
