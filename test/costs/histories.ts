import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

/** Totals over the histories of a workflow type. */
export interface HistoryCost {
  runs: number;
  /** Number of completed workflow tasks. */
  tasks: number;
  events: number;
  /** Size (bytes) of the events, with times, durations and process names normalized to a fixed length. */
  bytes: number;
}

/** Key of a Temporal workflow execution: workflow id and run id. */
export type RunKey = `${string} ${string}`;

const WORKFLOW_TASK_COMPLETED = 7;
const { HistoryEvent } = proto.temporal.api.history.v1;

/** Reads the histories of workflows and sums them by type. */
export async function readHistories(client: Client, runs: Iterable<RunKey>): Promise<Record<string, HistoryCost>> {
  const costs: Record<string, HistoryCost> = {};
  for (const run of runs) {
    const [workflowId, runId] = run.split(' ') as [string, string];
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const type = events![0]!.workflowExecutionStartedEventAttributes!.workflowType!.name!;
    const cost = (costs[type] ??= { runs: 0, tasks: 0, events: 0, bytes: 0 });
    cost.runs += 1;
    for (const event of events!) {
      if (event.eventType === WORKFLOW_TASK_COMPLETED) cost.tasks += 1;
      cost.events += 1;
      cost.bytes += HistoryEvent.encode(HistoryEvent.fromObject(levelled(event) as object)).finish().length;
    }
  }
  return costs;
}

/** Fields whose length depends on the machine, the process or other work of the server. */
const VARYING = new Set([
  'taskId',
  'identity',
  'historySizeBytes',
  'requestId',
  'sdkMetadata',
  'meteringMetadata',
  'workerVersion',
  'stickyAttributes',
  'lastHeartbeatDetails',
  'completeTime',
  'originalScheduleTime',
  'complete_time',
  'original_schedule_time',
]);

/**
 * Returns the message with all times and durations replaced by constants, and without the fields of {@link VARYING}.
 */
function levelled(value: unknown, key = ''): unknown {
  if (value instanceof Uint8Array) return levelledPayload(value);
  if (Array.isArray(value)) return value.map((item) => levelled(item));
  if (typeof value !== 'object' || value === null) return value;
  if ('seconds' in value && 'nanos' in value) return { seconds: 1, nanos: 1 };
  // The name of a sticky queue contains the machine's name.
  if (key === 'taskQueue' && 'kind' in value && value.kind === STICKY) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (VARYING.has(name) ? [] : [[name, levelled(item, name)]])),
  );
}

const STICKY = 2;

/** Normalizes a payload; the marker of a local activity contains times in its own. */
function levelledPayload(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('utf8');
  if (!text.includes('_time"')) return bytes;
  return Buffer.from(JSON.stringify(levelled(JSON.parse(text))));
}
