/**
 * Returns a field of a signal's payload as text, or `fallback`. Anybody may send a signal in the Temporal UI, with no
 * input or a wrong one; a handler that throws would stall the workflow.
 */
export function signalText(payload: unknown, field: string, fallback: string): string {
  const value =
    typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : fallback;
}
