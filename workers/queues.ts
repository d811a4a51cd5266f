import type { Info as ActivityInfo } from '@temporalio/activity';
import { NativeConnection, Worker, type ActivityInboundCallsInterceptor, type WorkerOptions } from '@temporalio/worker';
import { HEARTBEAT_MS } from '../activities/heartbeat.ts';
import { retryLater } from '../activities/retry-later.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { isAdrift } from '../lib/clock.ts';
import type { Config } from '../lib/config/index.ts';
import { withoutRowData } from '../lib/error-report.ts';
import type { Metrics } from '../lib/metrics.ts';
import { openWorkTimeoutMs } from '../lib/shutdown.ts';
import { inSpan } from '../lib/trace.ts';
import { connectionOptions } from '../temporal/client.ts';
import { dataConverter } from '../temporal/codec.ts';
import { causeOf } from '../temporal/trace-headers.ts';
import { RESOURCES, resourceQueue, type Queue } from '../workflows/queues.ts';
import { createActivities } from './activities.ts';
import { workflowBundle } from './bundle.ts';

const QUEUES: readonly Queue[] = ['workflows', ...RESOURCES];

/**
 * Time limit (ms) of one activation of a workflow. An activation takes milliseconds, so only an endless loop reaches
 * the limit. The SDK's default of 5 s also expires while the machine is suspended, and an interrupted promise callback
 * makes Node exit while async hooks are in use. The SDK's type lacks this option.
 */
const ACTIVATION_MS = 600_000;

/** Dependencies for serving task queues. */
export interface QueueParts {
  deps: Deps;
  metrics: Metrics;
  /** Interceptor around every activity, including local ones. It is called before Heron's own interceptors. */
  aroundActivity?: ActivityInboundCallsInterceptor | undefined;
}

/** Temporal workers of this process. */
interface RunningQueues {
  queues: readonly Queue[];
  /**
   * Stops polling all queues, waits for running activities (for most of SHUTDOWN_GRACE_MS), then closes their
   * resources.
   */
  stop(): Promise<void>;
}

/** Returns the queues named by the roles of a process. The role `temporal` stands for all queues. */
export function queuesOfRoles(roles: readonly string[]): Queue[] {
  return QUEUES.filter((queue) => roles.includes('temporal') || roles.includes(queue));
}

/** Returns the name of the installation's Temporal task queue for a queue. */
export function taskQueueOf(config: Config, queue: Queue): string {
  return queue === 'workflows' ? config.TEMPORAL_TASK_QUEUE : resourceQueue(config.TEMPORAL_TASK_QUEUE, queue);
}

/**
 * Serves task queues in this process over one connection: one Temporal worker per queue, with its own slots. Only the
 * `workflows` worker loads the workflow bundle.
 * @param onFailure called when a worker has failed and will not run again
 */
export async function startQueues(
  { deps, metrics, aroundActivity }: QueueParts,
  queues: readonly Queue[],
  onFailure: (error: unknown) => void,
): Promise<RunningQueues> {
  const { config, log } = deps;
  const connection = await NativeConnection.connect(connectionOptions(config));
  const { activities, drain, close } = await createActivities(deps, metrics);
  const workers: Worker[] = [];
  for (const queue of queues) {
    workers.push(
      await Worker.create({
        connection,
        namespace: config.TEMPORAL_NAMESPACE,
        ...dataConverter(config),
        taskQueue: taskQueueOf(config, queue),
        activities: activities[queue],
        interceptors: {
          activity: [
            ...(aroundActivity ? [() => ({ inbound: aroundActivity })] : []),
            () => ({ inbound: whileClockIsRight(deps) }),
            (activity) => ({ inbound: traced(activity.info) }),
            () => ({ inbound: WITHOUT_ROW_DATA }),
          ],
        },
        maxConcurrentActivityTaskExecutions: slots(config, queue),
        // Without these options the SDK sends heartbeats at 80 % of their timeout, and a worker that stalls for two
        // seconds counts as dead.
        maxHeartbeatThrottleInterval: HEARTBEAT_MS,
        defaultHeartbeatThrottleInterval: HEARTBEAT_MS,
        ...versioning(config),
        shutdownGraceTime: '10s',
        shutdownForceTime: openWorkTimeoutMs(config),
        ...(queue === 'workflows'
          ? {
              workflowBundle: await workflowBundle(log),
              maxCachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
              isolateExecutionTimeout: ACTIVATION_MS,
            }
          : {}),
      }),
    );
  }
  const running = workers.map((worker) => worker.run());
  for (const run of running) run.catch(onFailure);
  return {
    queues,
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      drain();
      await Promise.allSettled(running);
      await close();
      await connection.close();
    },
  };
}

/**
 * Returns the options of Worker Versioning, if WORKER_BUILD_ID is set. Open workflows move to the current build. They
 * can last for months, so a build that kept its workflows could not be removed. `patched` keeps their histories
 * replayable.
 */
function versioning(config: Config): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (!config.WORKER_BUILD_ID) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: config.TEMPORAL_TASK_QUEUE, buildId: config.WORKER_BUILD_ID },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

/**
 * Removes row data from errors of database statements, because Temporal stores the error of an activity in the
 * workflow's history.
 */
const WITHOUT_ROW_DATA: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      throw withoutRowData(error);
    }
  },
};

/** Delay (ms) before an activity that was refused because of a wrong clock is retried, possibly by another worker. */
const ADRIFT_RETRY_MS = 2_000;

/** Refuses activities while the machine's clock is wrong. */
function whileClockIsRight({ clock }: Deps): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      if (isAdrift(clock)) throw retryLater('clock_adrift', "the worker's clock is wrong", ADRIFT_RETRY_MS);
      return next(input);
    },
  };
}

/** Records an activity as a span of the trace of its cause. */
function traced({
  activityType,
  workflowExecution,
  workflowType,
  attempt,
}: ActivityInfo): ActivityInboundCallsInterceptor {
  return {
    execute: (input, next) =>
      inSpan(
        `activity ${activityType}`,
        {
          parent: causeOf(input.headers),
          attributes: {
            'heron.workflow_id': workflowExecution?.workflowId ?? '',
            'heron.workflow_type': workflowType ?? '',
            'heron.attempt': attempt,
          },
        },
        () => next(input),
      ),
  };
}

/** Returns the number of activities that a worker runs concurrently on a queue. */
function slots(config: Config, queue: Queue): number {
  switch (queue) {
    case 'workflows':
      return config.WORKER_ACTIVITIES;
    case 'mail':
      return config.WORKER_MAIL_SLOTS;
    case 'apps':
      return config.WORKER_APPS_SLOTS;
    case 'webhooks':
      return config.WORKER_WEBHOOKS_SLOTS;
    case 'integrations':
      return config.WORKER_INTEGRATIONS_SLOTS;
    case 'batch':
      return config.WORKER_BATCH_SLOTS;
    case 'interactive':
      return config.WORKER_INTERACTIVE_SLOTS;
  }
}
