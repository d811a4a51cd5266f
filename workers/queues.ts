import type { Info as ActivityInfo } from '@temporalio/activity';
import { NativeConnection, Worker, type ActivityInboundCallsInterceptor, type WorkerOptions } from '@temporalio/worker';
import { createApprovalMailActivities } from '../activities/approval-mail.ts';
import { createAutomationActivities } from '../activities/automation.ts';
import { createContactImportActivities } from '../activities/contact-import.ts';
import { createEngineActivities } from '../activities/engine.ts';
import { createGoalReplayActivities } from '../activities/goal-replay.ts';
import { createIntegrationActivities } from '../activities/integrations.ts';
import { createMailboxActivities } from '../activities/mailbox.ts';
import { createMailboxOrderActivities } from '../activities/mailbox-orders.ts';
import { createMaintenanceActivities } from '../activities/maintenance.ts';
import { createPaymentActivities } from '../activities/payments.ts';
import { createRunActivities } from '../activities/run.ts';
import { createTestRunActivities } from '../activities/test-runs.ts';
import { createWarmupActivities } from '../activities/warmup.ts';
import { createWeeklyReportActivities } from '../activities/weekly-report.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import { createWebhookVerifyActivities } from '../activities/webhook-verify.ts';
import { createDeliveryEngine } from '../domain/delivery/engine.ts';
import type { Deps } from '../domain/kernel/context.ts';
import type { Config } from '../lib/config/index.ts';
import { withoutRowData } from '../lib/error-report.ts';
import type { Metrics } from '../lib/metrics.ts';
import { openWorkMayTakeMs } from '../lib/shutdown.ts';
import { inSpan } from '../lib/trace.ts';
import { createSmtpSender } from '../lib/smtp/index.ts';
import { TargetLimits } from '../lib/target-limits.ts';
import { connectionOptions } from '../temporal/client.ts';
import { dataConverter } from '../temporal/codec.ts';
import { causeOf } from '../temporal/trace-headers.ts';
import { RESOURCES, resourceQueue, type Resource } from '../workflows/queues.ts';
import { workflowBundle } from './bundle.ts';

/** A queue that a worker process can serve: that of the workflows, or that of one resource. */
export type Queue = 'workflows' | Resource;

const QUEUES: readonly Queue[] = ['workflows', ...RESOURCES];

/** The Temporal workers of this process. */
export interface RunningQueues {
  queues: readonly Queue[];
  /** Stops polling on every queue, waits for running activities (for most of SHUTDOWN_GRACE_MS), then closes what they used. */
  stop(): Promise<void>;
}

/** The queues that the roles of a process name; `temporal` stands for all of them. */
export function queuesOfRoles(roles: readonly string[]): Queue[] {
  return QUEUES.filter((queue) => roles.includes('temporal') || roles.includes(queue));
}

/** The task queue of the installation that holds a queue's work. */
export function taskQueueOf(config: Config, queue: Queue): string {
  return queue === 'workflows' ? config.TEMPORAL_TASK_QUEUE : resourceQueue(config.TEMPORAL_TASK_QUEUE, queue);
}

/**
 * Serves task queues in this process: one Temporal worker each, with slots of its own, over one connection. Only the
 * worker of the workflows loads the workflow bundle.
 * @param onFailure called when one of the workers has failed and will not run again
 */
export async function startQueues(
  { deps, metrics }: { deps: Deps; metrics: Metrics },
  queues: readonly Queue[],
  onFailure: (error: unknown) => void,
): Promise<RunningQueues> {
  const { config, log } = deps;
  const connection = await NativeConnection.connect(connectionOptions(config));
  const { activities, close } = await createActivities(deps, metrics);
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
          activity: [(activity) => ({ inbound: traced(activity.info) }), () => ({ inbound: WITHOUT_ROW_DATA })],
        },
        maxConcurrentActivityTaskExecutions: slots(config, queue),
        activityTaskPollerBehavior: { type: 'autoscaling' },
        ...versioning(config),
        shutdownGraceTime: '10s',
        shutdownForceTime: openWorkMayTakeMs(config),
        ...(queue === 'workflows'
          ? {
              workflowBundle: await workflowBundle(log),
              maxCachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
              workflowTaskPollerBehavior: { type: 'autoscaling' },
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
      await Promise.allSettled(running);
      await close();
      await connection.close();
    },
  };
}

/**
 * Worker Versioning, where WORKER_BUILD_ID asks for it. Runs move to the current build: they can last for months, so
 * no build could be removed if they stayed with theirs, and `patched` keeps their histories replayable.
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

/** Errors of database statements name rows and values; the error of an activity is kept in the history of its run. */
const WITHOUT_ROW_DATA: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      throw withoutRowData(error);
    }
  },
};

/** An activity is a span of the trace that its run was moved by. */
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

/** Activities that a worker runs at once on a queue. */
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

/** The activities of each queue. All queues of a process share one SMTP sender and one delivery engine. */
async function createActivities(
  deps: Deps,
  metrics: Metrics,
): Promise<{ activities: Record<Queue, NonNullable<WorkerOptions['activities']>>; close(): Promise<void> }> {
  const { config } = deps;
  const mail = { total: config.WORKER_MAIL_SLOTS, perTarget: config.SMTP_HOST_SESSIONS, shared: true };
  const smtp = createSmtpSender({
    allowPrivate: config.ALLOW_PRIVATE_MAIL_HOSTS,
    limits: new TargetLimits(mail),
    maxHostSessions: config.SMTP_HOST_SESSIONS,
  });
  const deliveries = await createDeliveryEngine(deps, metrics);
  const apps = { total: config.WORKER_APPS_SLOTS, perTarget: config.APP_CONNECTION_CONCURRENCY };
  const appCalls = new TargetLimits(apps);
  const engine = createEngineActivities(deps, {
    smtp,
    metrics,
    appCalls,
    copies: new TargetLimits(mail),
  });
  const tests = createTestRunActivities(deps, { metrics, appCalls });
  const automations = createAutomationActivities(deps, { metrics, appCalls });
  const imports = createContactImportActivities(deps);
  const mailboxes = createMailboxActivities(deps, { smtp });
  const orders = createMailboxOrderActivities(deps);
  const maintenance = createMaintenanceActivities(deps);
  const warmup = createWarmupActivities(deps, { smtp });
  const approvalMails = createApprovalMailActivities(deps);
  const weeklyReports = createWeeklyReportActivities(deps);
  const payments = createPaymentActivities(deps);
  const replays = createGoalReplayActivities(deps);
  const runs = createRunActivities(deps);
  const verify = createWebhookVerifyActivities(deps);
  const webhooks = createWebhookActivities(deliveries);
  const providers = {
    total: config.WORKER_INTEGRATIONS_SLOTS,
    perTarget: config.WORKER_INTEGRATIONS_SLOTS,
    shared: true,
  };
  const integrations = createIntegrationActivities(deps, { limits: new TargetLimits(providers) });
  const activities = {
    // Runs of earlier releases have tasks of every kind on this queue, so all activities are served here too.
    workflows: {
      ...engine,
      ...automations,
      ...tests,
      ...imports,
      ...mailboxes,
      ...orders,
      ...maintenance,
      ...runs,
      ...verify,
      ...webhooks,
    },
    mail: { ...warmup, ...approvalMails, ...weeklyReports, deliverSend: engine.deliverSend },
    apps: { ...automations, callApp: engine.callApp, callAppForTest: tests.callAppForTest, ...orders, ...verify },
    webhooks,
    integrations,
    batch: { runLauncher: engine.runLauncher, ...imports, ...maintenance, ...payments, ...replays, ...runs },
    interactive: mailboxes,
  };
  return {
    activities,
    async close() {
      await deliveries.close();
      await smtp.close();
    },
  };
}
