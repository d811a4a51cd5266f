import test from 'ava';
import { runDirectFaults } from './direct-sends.ts';

test('direct sends survive kill -9 of the worker: each ends, none leaves twice, the books balance', async (t) => {
  t.timeout(300_000);
  const lines: string[] = [];
  const { checks, folder } = await runDirectFaults({
    seed: 7,
    emails: 30,
    kills: 2,
    settleMs: 120_000,
    log: (line) => void lines.push(line),
  });
  for (const { name, seen } of checks) t.log(`${name}: ${seen}`);
  const faults = checks.flatMap(({ name, faults: found }) => found.map((fault) => `${name}: ${fault}`));
  t.deepEqual(faults, [], `${lines.join('\n')}\ndata and logs: ${folder}`);
});
