/**
 * Returns a field of a signal's payload as text, or `fallback`. A signal sent in the Temporal UI may have no payload or
 * a wrong one, and a handler that throws would stall the workflow.
 */
export function signalText(payload: unknown, field: string, fallback: string): string {
  const value =
    typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : fallback;
}
