import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Writes the history of a workflow execution to workflows/<family>/histories/<name>.json, without folder names and
 * machine names. Replaces a recording of that name, because no release has open workflows yet.
 * @param runId id of an execution that was continued as new; defaults to the last execution
 */
export async function saveHistory(
  client: Client,
  family: string,
  name: string,
  workflowId: string,
  runId?: string,
): Promise<void> {
  const folder = new URL(`../../workflows/${family}/histories/`, import.meta.url);
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(JSON.parse(historyToJSON(history)), null, 1)
    .replaceAll(ROOT, '')
    .replaceAll(`@${hostname()}`, '@recorder');
  writeFileSync(new URL(`${name}.json`, folder), `${text}\n`);
  console.log(`${family}/histories/${name}.json: ${history.events!.length} events`);
}
