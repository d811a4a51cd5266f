import test from 'ava';
import { runFlowFaults } from './flows/run.ts';

// This seed kills the worker at a direct send, the API at a warmup, Temporal at a test run and PostgreSQL at a run. The long run,
// in which every process dies at every state, is `npm run test:faults -- --flows`.
const SEED = 3512;

test('flows survive kill -9 of every process and the loss of Temporal: each ends right, nothing is done twice', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const { checks, folder } = await runFlowFaults({
    seed: SEED,
    rounds: 1,
    kills: 4,
    others: { run: 3, direct: 2, test: 1, warmup: 0 },
    workers: 1,
    spreadMs: 5_000,
    expiresMs: 8_000,
    losesStore: true,
    settleMs: 150_000,
    log: (line) => void lines.push(line),
  });
  for (const { name, seen } of checks) t.log(`${name}: ${seen}`);
  const faults = checks.flatMap(({ name, faults: found }) => found.map((fault) => `${name}: ${fault}`));
  t.deepEqual(faults, [], `${lines.join('\n')}\ndata and logs: ${folder}`);
});
