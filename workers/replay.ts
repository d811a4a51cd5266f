import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { Config } from '../lib/config/index.ts';
import type { Logger } from '../lib/log.ts';
import { dataConverter } from '../temporal/codec.ts';
import { RESOURCES, resourceQueue } from '../workflows/queues.ts';
import * as workflows from '../workflows/index.ts';
import { installRuntime } from './runtime.ts';

/** Workflow execution whose history the build cannot replay. It would be stuck after the release. */
interface ReplayFailure {
  workflowId: string;
  runId: string;
  reason: string;
}

interface ReplayReport {
  /** Number of replayed histories by workflow type. */
  replayed: Record<string, number>;
  failures: ReplayFailure[];
}

interface ReplayOptions {
  /** Workflow bundle of the build to be released. */
  bundle: { codePath: string };
  /** Executions that closed within this time (ms) before now are replayed too. */
  recentMs: number;
  /** Maximum number of executions per workflow type, open ones first. */
  perType: number;
  /** Called with the workflow id of each replayed history. */
  onReplayed?: (workflowId: string) => void;
}

/**
 * Replays histories of this installation's workflows with a workflow bundle. A failure means that the new code decides
 * differently from the code that recorded the history, so that the change needs `patched`.
 * @throws Error when Temporal does not answer
 */
export async function replayNamespace(
  client: Client,
  config: Config,
  log: Logger,
  { bundle, recentMs, perType, onReplayed }: ReplayOptions,
): Promise<ReplayReport> {
  await installRuntime(log);
  const report: ReplayReport = { replayed: {}, failures: [] };
  const types = Object.keys(workflows);
  const typeOf = new Map<string, string>();
  async function* histories(): AsyncIterable<{ workflowId: string; history: History }> {
    for (const type of types) {
      for await (const { workflowId, runId } of chosenRuns(client, config, type, recentMs, perType)) {
        const history = await fetchHistory(client, workflowId, runId);
        typeOf.set(workflowId, type);
        if (history) yield { workflowId, history };
      }
    }
  }
  const results = Worker.runReplayHistories(
    { workflowBundle: bundle, replayName: 'heron-replay', ...dataConverter(config) },
    histories(),
  );
  for await (const { workflowId, runId, error } of results) {
    const type = typeOf.get(workflowId) ?? 'unknown';
    report.replayed[type] = (report.replayed[type] ?? 0) + 1;
    if (error) report.failures.push({ workflowId, runId, reason: error.message.split('\n', 1)[0]! });
    onReplayed?.(workflowId);
  }
  return report;
}

/** Yields open executions of a workflow type, then the most recently closed ones, at most `perType` in total. */
async function* chosenRuns(
  client: Client,
  config: Config,
  type: string,
  recentMs: number,
  perType: number,
): AsyncIterable<{ workflowId: string; runId: string }> {
  const base = config.TEMPORAL_TASK_QUEUE;
  const queues = [base, ...RESOURCES.map((resource) => resourceQueue(base, resource))];
  const since = new Date(Date.now() - recentMs).toISOString();
  const mine = `WorkflowType = '${type}' AND TaskQueue IN (${queues.map((queue) => `'${queue}'`).join(', ')})`;
  let left = perType;
  for (const which of [`ExecutionStatus = 'Running'`, `ExecutionStatus != 'Running' AND CloseTime > '${since}'`]) {
    if (left <= 0) return;
    for await (const { workflowId, runId } of client.workflow.list({ query: `${mine} AND ${which}` })) {
      yield { workflowId, runId };
      left -= 1;
      if (left <= 0) return;
    }
  }
}

/** Fetches a workflow's history; undefined if it was removed in the meantime. Retries while Temporal is busy. */
async function fetchHistory(client: Client, workflowId: string, runId: string): Promise<History | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.workflow.getHandle(workflowId, runId).fetchHistory();
    } catch (error) {
      if ((error as Error).name === 'WorkflowNotFoundError') return undefined;
      if (attempt === 5) throw error;
      await sleep(attempt * 500);
    }
  }
}
