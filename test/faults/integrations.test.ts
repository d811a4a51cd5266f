import test from 'ava';
import { expectClean } from './expect-clean.ts';
import { runIntegrationFaults } from './integrations.ts';

// `npm run test:faults -- --integrations` is the long run, in which Temporal dies too, automations wait and the
// customer's app fails.
test('providers and automations survive kill -9 of the worker: all arrives in order, and what is written in Heron is written once', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runIntegrationFaults({
    seed: 11,
    kills: 2,
    workers: 1,
    pauseMs: 4_000,
    rate: 2,
    appFails: 0,
    waits: false,
    settleMs: 180_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
  t.true(report.events > 10);
});
