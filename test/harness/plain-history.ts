import type { Client } from '@temporalio/client';

/**
 * Everything Temporal keeps of one run, as text in the clear: its history (arguments, results, failures, heartbeats of
 * failed attempts, signals, memo, search attributes, summaries) and its description, which has the heartbeats of
 * activities that are under way. Payloads travel as bytes, so that a search in their JSON form finds nothing.
 */
export async function plainRun(client: Client, workflowId: string, runId?: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const [history, { raw }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  return `${plainText(history)}\n${plainText(raw)}`;
}

/** All texts in a message of Temporal's API, names of fields and bytes (which hold payloads) included, one per line. */
export function plainText(message: unknown): string {
  const found: string[] = [];
  collect(message, found);
  return found.join('\n');
}

function collect(value: unknown, found: string[]): void {
  if (typeof value === 'string') found.push(value);
  else if (value instanceof Uint8Array) collectBytes(Buffer.from(value), found);
  else if (Array.isArray(value)) for (const item of value) collect(item, found);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      found.push(key);
      collect(item, found);
    }
}

/** A payload is JSON, in which the texts are escaped: as it is, and with its texts read. */
function collectBytes(bytes: Buffer, found: string[]): void {
  const text = bytes.toString('utf8');
  found.push(text, bytes.toString('latin1'));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string' || (typeof value === 'object' && value !== null)) collect(value, found);
  } catch {
    // Bytes that are no JSON have been taken as they are.
  }
}
