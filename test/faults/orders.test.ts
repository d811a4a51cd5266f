import test from 'ava';
import { runOrderFaults } from './orders.ts';

for (const seed of [1, 2, 3])
  test.serial(
    `orders of mailboxes under faults: the books balance, and nothing happens twice (seed ${seed})`,
    async (t) => {
      t.timeout(120_000);
      const { checks } = await runOrderFaults({ seed, orders: 5 });
      for (const { name, seen } of checks) t.log(`${name}: ${seen}`);
      t.deepEqual(
        checks.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`)),
        [],
      );
    },
  );
