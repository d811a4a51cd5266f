import type { ExecutionContext } from 'ava';
import type { Check } from './reconcile.ts';

/**
 * Fails with the findings of the checks as the message, because a summary shows only the message; the log is above it.
 */
export function expectClean(
  t: ExecutionContext,
  { checks, folder }: { checks: readonly Check[]; folder?: string | undefined },
  log: readonly string[],
): void {
  for (const { name, seen } of checks) t.log(`${name}: ${seen}`);
  const faults = checks.flatMap(({ name, faults: found }) => found.map((fault) => `${name}: ${fault}`));
  if (faults.length > 0) t.log(`${log.join('\n')}\ndata and logs: ${folder}`);
  t.deepEqual(faults, [], faults.join('\n'));
}
