import type { Client } from '@temporalio/client';

/**
 * Returns everything that Temporal stores of one workflow execution as plain text: its history and its description. The
 * history has arguments, results, failures, heartbeats of failed attempts, signals, memo, search attributes and
 * summaries. The description has the heartbeats of running activities. Payloads are bytes, so a search in their JSON
 * form would find nothing.
 */
export async function plainRun(client: Client, workflowId: string, runId?: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const [history, { raw }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  return `${plainText(history)}\n${plainText(raw)}`;
}

/**
 * Returns all text in a message of Temporal's API, one per line: strings, field names and bytes (which hold payloads).
 */
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

/**
 * Adds the text of a payload's bytes. Payloads are JSON with escaped strings, so their decoded strings are added too.
 */
function collectBytes(bytes: Buffer, found: string[]): void {
  const text = bytes.toString('utf8');
  found.push(text, bytes.toString('latin1'));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string' || (typeof value === 'object' && value !== null)) collect(value, found);
  } catch {
    // The bytes are not JSON; their text was already added above.
  }
}
