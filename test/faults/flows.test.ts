import test from 'ava';
import { expectClean } from './expect-clean.ts';
import type { Card } from './flows/plan.ts';
import { runFlowFaults } from './flows/run.ts';

// Seed of this short run. `npm run test:faults -- --flows` is the long run, in which every process dies at every state.
const SEED = 299;
const CARDS: Card[] = [
  { kind: 'direct', state: 'handovers begun', victim: 'worker' },
  { kind: 'warmup', state: 'handovers begun', victim: 'worker' },
  { kind: 'order', state: 'order_steps mailbox running', victim: 'worker' },
  { kind: 'order', state: 'payments refund_due', victim: 'postgres' },
  { kind: 'renewal', state: 'domain_renewals renewing', victim: 'api' },
  { kind: 'test', state: 'test_run_steps wait running', victim: 'temporal' },
];

test('flows survive kill -9 of every process and the loss of Temporal: each ends right, nothing is done twice', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const report = await runFlowFaults({
    seed: SEED,
    rounds: 1,
    kills: CARDS.length,
    states: { cards: CARDS },
    others: { run: 3, direct: 2, test: 0, warmup: 0, order: 0, renewal: 0 },
    workers: 1,
    spreadMs: 5_000,
    expiresMs: 8_000,
    losesStore: 1,
    settleMs: 150_000,
    log: (line) => void lines.push(line),
  });
  expectClean(t, report, lines);
});
