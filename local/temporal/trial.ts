import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { TemporalCli } from './cli.ts';
import { startTemporalServer } from './server.ts';

const ANSWER_MS = 10_000;

/**
 * Starts a server on a state file and stops it again. The server must return its namespace and search attributes, list
 * the open workflows, and describe the first one with its history. The file may be changed, so pass a copy.
 * @throws Error when the server does not start on it, or does not answer
 */
export async function tryStateFile(cli: TemporalCli, dbFile: string): Promise<void> {
  const server = await startTemporalServer({
    cli,
    dbFile,
    headless: true,
    logFile: join(dirname(dbFile), 'temporal.log'),
  });
  try {
    const connection = await Connection.connect({ address: server.address });
    try {
      const client = new Client({ connection });
      await connection.withDeadline(Date.now() + ANSWER_MS, async () => {
        for await (const { workflowId, runId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
          const handle = client.workflow.getHandle(workflowId, runId);
          await handle.describe();
          await handle.fetchHistory();
          break;
        }
      });
    } finally {
      await connection.close();
    }
  } finally {
    await server.stop();
  }
}
