import { shortened, withNotes } from './recorded-reads.ts';

/**
 * Polls until `probe` returns something other than undefined or false. An error of the probe ends the wait.
 * @throws Error after `timeoutMs`, with the last result and the data that the probe read: rows of the test's database,
 * answers of the API
 */
export async function eventually<T>(
  probe: () => Promise<T | undefined | false>,
  timeoutMs = 60_000,
  everyMs = 50,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen: string[] = [];
    const value = await withNotes(seen, probe);
    if (value !== undefined && value !== false) return value as T;
    if (Date.now() > deadline) throw new Error(gaveUp(timeoutMs, probe, value, seen));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function gaveUp(timeoutMs: number, probe: () => unknown, value: unknown, seen: readonly string[]): string {
  const lines = seen.length > 0 ? seen.slice(-5) : ['nothing that the harness knows of'];
  return [
    `not within ${timeoutMs} ms: ${shortened(probe.toString())}`,
    `The last look gave ${String(value)}. It read:`,
    ...lines.map((line) => `- ${line}`),
  ].join('\n');
}
