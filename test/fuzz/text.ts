import type { FuzzReport } from './run.ts';

/**
 * Formats the results of a run: a table of operations and statuses, the slow responses, and the faults, one line per
 * kind.
 */
export function reportText({ seed, requests, rounds, finds, slow, seen, inside, outside }: FuzzReport): string {
  const width = Math.max(...[...seen.keys()].map((name) => name.length));
  const table = [...seen].map(([operation, statuses]) => {
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}:${count}`);
    return `${operation.padEnd(width)}  ${counts.join('  ')}`;
  });
  const never = [...outside].filter(([name]) => !inside.has(name));
  const kinds = new Map<string, { count: number; request: string }>();
  for (const { operation, what, request } of finds) {
    const name = `${operation}: ${what}`;
    kinds.set(name, { count: (kinds.get(name)?.count ?? 0) + 1, request });
  }
  return [
    ...table,
    '',
    `${requests} requests in ${rounds} rounds over ${seen.size} operations, seed ${seed}`,
    `operations that never did what they are for: ${never.length}`,
    ...never.map(([name, said]) => `  ${name}: ${said}`),
    `answers over 1 s: ${slow.length}`,
    ...slow.map(({ operation, ms, request }) => `  ${ms} ms  ${operation}  ${request}`),
    `finds: ${finds.length}`,
    ...[...kinds].map(([name, { count, request }]) => `  ${count} x ${name}\n      ${request}`),
  ].join('\n');
}
