import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/common';
import type { Db } from '../db/connection.ts';
import type { Config } from '../lib/config/index.ts';
import { AppError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { RESOURCES, resourceQueue } from '../workflows/queues.ts';
import { dataConverter } from './codec.ts';
import { searchAttributes } from './attributes.ts';
import { readPresence, PRESENCE_MS, type Served } from './presence.ts';
import { TRACE_HEADERS } from './trace-headers.ts';
import { startSpec, type Intent, type StartSpec, type WorkflowGateway } from './dispatch.ts';
import { message } from '../messages/index.ts';

/** Returns the connection settings of client and worker from the TEMPORAL_* settings. */
export function connectionOptions(config: Config): { address: string; tls?: object | boolean; apiKey?: string } {
  const mutual =
    config.TEMPORAL_TLS_CERT && config.TEMPORAL_TLS_KEY
      ? { clientCertPair: { crt: Buffer.from(config.TEMPORAL_TLS_CERT), key: Buffer.from(config.TEMPORAL_TLS_KEY) } }
      : undefined;
  const tls = mutual ?? (config.TEMPORAL_TLS || config.TEMPORAL_API_KEY !== undefined);
  return {
    address: config.TEMPORAL_ADDRESS,
    ...(tls ? { tls } : {}),
    ...(config.TEMPORAL_API_KEY ? { apiKey: config.TEMPORAL_API_KEY } : {}),
  };
}

/**
 * Creates a client that connects on first use, so that a process can start while Temporal is unreachable, and report
 * this in its readiness.
 */
export function createTemporalClient(config: Config): Client {
  const connection = Connection.lazy(connectionOptions(config));
  return new Client({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: { workflow: [TRACE_HEADERS] },
    ...dataConverter(config),
  });
}

const REUSE = {
  always: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  afterFailure: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
  never: WorkflowIdReusePolicy.REJECT_DUPLICATE,
};
const CONFLICT = { join: WorkflowIdConflictPolicy.USE_EXISTING, refuse: WorkflowIdConflictPolicy.FAIL };

/** Returns the client's options for a start. `taskQueue` is the name of the installation's own queue. */
export function startOptions(spec: StartSpec, workflowId: string, taskQueue: string) {
  return {
    taskQueue: spec.queue ? resourceQueue(taskQueue, spec.queue) : taskQueue,
    workflowId,
    args: [spec.args],
    staticSummary: spec.summary,
    typedSearchAttributes: searchAttributes({ ...spec.searchAttributes, Kind: spec.kind }),
    workflowIdReusePolicy: REUSE[spec.reuse ?? 'always'],
    workflowIdConflictPolicy: CONFLICT[spec.conflict ?? 'join'],
    ...(spec.priority ? { priority: spec.priority } : {}),
    ...(spec.memo ? { memo: { ...spec.memo } } : {}),
  };
}

/**
 * Dispatches one intent to Temporal. A repeated dispatch is harmless: ids are deterministic, an open workflow is not
 * started again, and a signal only wakes a workflow.
 */
export async function dispatchIntent(client: Client, taskQueue: string, intent: Intent): Promise<void> {
  switch (intent.kind) {
    case 'start':
      try {
        await client.workflow.start(
          intent.payload.workflowType,
          startOptions(intent.payload, intent.workflowId, taskQueue),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      return;
    case 'signal':
      return dispatchSignal(client, taskQueue, intent);
    case 'cancel':
      try {
        await client.workflow.getHandle(intent.workflowId).cancel();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
  }
}

async function dispatchSignal(
  client: Client,
  taskQueue: string,
  { workflowId, payload }: Extract<Intent, { kind: 'signal' }>,
): Promise<void> {
  const signalArgs = payload.payload === undefined ? [] : [payload.payload];
  try {
    if (payload.workflowType === undefined)
      return await client.workflow.getHandle(workflowId).signal(payload.signal, ...signalArgs);
    await client.workflow.signalWithStart(payload.workflowType, {
      ...startOptions({ ...payload, conflict: 'join' }, workflowId, taskQueue),
      signal: payload.signal,
      signalArgs,
    });
  } catch (error) {
    // No workflow is open, and this intent must not start one.
    if (payload.workflowType === undefined && error instanceof WorkflowNotFoundError) return;
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    throw error;
  }
}

/** Time (ms) within which Temporal must answer a request of a health check. */
const ANSWER_MS = 3_000;
/** gRPC code INVALID_ARGUMENT, the server's answer to a query on an unknown search attribute. */
const INVALID_ARGUMENT = 3;

/**
 * Returns the ids of an installation's open workflows whose workflow tasks keep failing, see {@link WorkflowGateway}.
 */
export async function findFailingRuns(client: Client, taskQueue: string, limit: number): Promise<string[]> {
  const { namespace } = client.options;
  try {
    const { executions } = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace,
        pageSize: limit,
        query: `TemporalReportedProblems IS NOT NULL AND ExecutionStatus = 'Running' AND TaskQueue IN (${queuesOf(taskQueue)})`,
      }),
    );
    return (executions ?? []).map(({ execution }) => execution!.workflowId!);
  } catch (error) {
    if ((error as { code?: number }).code === INVALID_ARGUMENT) return [];
    throw error;
  }
}

/** Returns the task queues of an installation as a list for a visibility query, Temporal's search for workflows. */
function queuesOf(taskQueue: string): string {
  const queues = [taskQueue, ...RESOURCES.map((resource) => resourceQueue(taskQueue, resource))];
  return queues.map((queue) => `'${queue}'`).join(', ');
}

/**
 * Queues that a worker must serve before a caller can wait for a workflow's result: `workflows` for the workflow and
 * `interactive` for its activities.
 */
const WAITED_FOR: readonly Served[] = ['workflows', 'interactive'];
/** Maximum number of workflows in a page of results from visibility. */
const LIST_PAGE = 1_000;

/** Creates the gateway for domain functions (domain/platform/kernel/context.ts). */
export function createWorkflowGateway(client: Client, config: Config, log: Logger, db: Db): WorkflowGateway {
  /** Rejects once no running worker serves the required queues. Never resolves. */
  const untilUnserved = async (signal: AbortSignal): Promise<never> => {
    for (;;) {
      await sleep(PRESENCE_MS, undefined, { signal });
      const { unserved } = await readPresence(db).catch(() => ({ unserved: [] }));
      const lacking = WAITED_FOR.filter((queue) => unserved.some((each) => each === queue));
      if (lacking.length > 0) throw new Error(`no worker serves ${lacking.join(', ')}`);
    }
  };
  return {
    async execute(contract, args, timeoutMs) {
      const spec = startSpec(contract, args);
      const waiting = new AbortController();
      try {
        const answer = client.connection.withDeadline(Date.now() + timeoutMs, () =>
          client.connection.withAbortSignal(waiting.signal, () =>
            client.workflow.execute(contract.type, {
              ...startOptions(spec, contract.id(args), config.TEMPORAL_TASK_QUEUE),
              workflowExecutionTimeout: timeoutMs,
            }),
          ),
        );
        return await Promise.race([answer, untilUnserved(waiting.signal)]);
      } catch (error) {
        if (error instanceof WorkflowFailedError)
          log.warn({ err: error.cause, workflow: contract.type }, 'workflow failed');
        throw new AppError('service_unavailable', message('workers.silent'), {
          fix: message('workers.silent.fix'),
          cause: error,
        });
      } finally {
        waiting.abort();
      }
    },
    async *openRuns(contract, { from, to }) {
      const taskQueue = contract.queue
        ? resourceQueue(config.TEMPORAL_TASK_QUEUE, contract.queue)
        : config.TEMPORAL_TASK_QUEUE;
      let nextPageToken: Uint8Array | undefined;
      do {
        const page = await client.workflowService.listWorkflowExecutions({
          namespace: config.TEMPORAL_NAMESPACE,
          pageSize: LIST_PAGE,
          query: `WorkflowId BETWEEN '${from}' AND '${to}' AND WorkflowType = '${contract.type}' AND TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`,
          ...(nextPageToken ? { nextPageToken } : {}),
        });
        yield (page.executions ?? []).map(({ execution }) => execution!.workflowId!);
        nextPageToken = page.nextPageToken ?? undefined;
      } while (nextPageToken && nextPageToken.length > 0);
    },
    async endRunsOf(organizationId, reason) {
      const queues = queuesOf(config.TEMPORAL_TASK_QUEUE);
      let ended = 0;
      for await (const { workflowId, runId } of client.workflow.list({
        query: `OrganizationId = '${organizationId}' AND TaskQueue IN (${queues}) AND ExecutionStatus = 'Running'`,
        pageSize: LIST_PAGE,
      })) {
        try {
          await client.workflow.getHandle(workflowId, runId).terminate(reason);
          ended += 1;
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }
      return ended;
    },
    async isOpen(workflowId) {
      try {
        return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
    failingRuns: (limit) => findFailingRuns(client, config.TEMPORAL_TASK_QUEUE, limit),
    async health() {
      const started = Date.now();
      await client.connection.withDeadline(Date.now() + ANSWER_MS, () =>
        client.workflowService.describeNamespace({ namespace: config.TEMPORAL_NAMESPACE }),
      );
      return { latencyMs: Date.now() - started, ...(await readPresence(db)) };
    },
  };
}
