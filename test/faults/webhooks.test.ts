import test from 'ava';
import { runWebhookFaults } from './webhooks.ts';

// The long run, with thirty kills, is `npm run test:faults -- --webhooks`.
test('webhooks survive kill -9 of the worker: nothing is lost, only what was in flight comes again', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const { checks, folder, events } = await runWebhookFaults({
    seed: 7,
    kills: 3,
    workers: 1,
    pauseMs: 2_500,
    rate: 40,
    settleMs: 180_000,
    log: (line) => void lines.push(line),
  });
  const faults = checks.flatMap(({ name, faults: found }) => found.map((fault) => `${name}: ${fault}`));
  t.deepEqual(faults, [], `${lines.join('\n')}\ndata and logs: ${folder}`);
  t.true(events > 50);
});
