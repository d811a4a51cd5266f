import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createContactImportActivities } from '../activities/contact-import.ts';
import { createEngineActivities } from '../activities/engine.ts';
import { createMailboxActivities } from '../activities/mailbox.ts';
import { createMaintenanceActivities } from '../activities/maintenance.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import { createWebhookVerifyActivities } from '../activities/webhook-verify.ts';
import type { Deps } from '../domain/kernel/context.ts';
import { createDeliveryEngine } from '../domain/delivery/engine.ts';
import { listenHttp, type Listening } from '../lib/listen.ts';
import type { Metrics } from '../lib/metrics.ts';
import { createSmtpSender } from '../lib/smtp/index.ts';
import { connectionOptions } from '../temporal/client.ts';
import { startRelay } from '../temporal/relay.ts';
import { slowQueue } from '../workflows/webhook-batch/contract.ts';
import { workflowBundle } from './bundle.ts';
import { startFanOut } from './fanout.ts';
import { installRuntime } from './runtime.ts';
import { startSync } from './sync.ts';

export interface WorkerParts {
  deps: Deps;
  temporal: Client;
  metrics: Metrics;
  /** Port for /health and /metrics; none is opened without it. */
  httpPort?: number;
}

/** A running worker process's work, whatever roles it has. */
export interface RunningWorker {
  http: Listening | undefined;
  /** Rejects when a role fails for good. */
  failed: Promise<never>;
  /** Stops taking work and waits for what is in hand. */
  stop(): Promise<void>;
}

/** Webhook receivers that hang, one worker waits for at once. */
const SLOW_ACTIVITIES = 1_000;

/** Starts the roles of WORKER_ROLES in this process: Temporal worker, outbox relay, fan-out of events, mailbox sync. */
export async function startWorker({ deps, temporal, metrics, httpPort }: WorkerParts): Promise<RunningWorker> {
  const { config, log } = deps;
  const stops: (() => Promise<void>)[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  if (config.WORKER_ROLES.includes('temporal'))
    stops.push(await startTemporalRole({ deps, metrics }, (error) => fail(error)));
  if (config.WORKER_ROLES.includes('relay')) {
    const relay = await startRelay({
      db: deps.db,
      databaseUrl: config.PRIMARY_DB,
      client: temporal,
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      log,
      onDispatched: (done, bad) => {
        metrics.outboxDispatched.inc({ result: 'ok' }, done);
        metrics.outboxDispatched.inc({ result: 'failed' }, bad);
      },
    });
    stops.push(() => relay.stop());
  }
  if (config.WORKER_ROLES.includes('fanout')) {
    const fanOut = await startFanOut(deps, metrics);
    stops.push(() => fanOut.stop());
  }
  if (config.WORKER_ROLES.includes('sync')) {
    const sync = await startSync(deps, { metrics });
    stops.push(() => sync.stop());
  }
  const http = httpPort === undefined ? undefined : await serveHealth(deps, metrics, httpPort);
  if (http) stops.push(() => http.close());
  return {
    http,
    failed,
    async stop() {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

async function startTemporalRole(
  { deps, metrics }: Omit<WorkerParts, 'httpPort' | 'temporal'>,
  onFailure: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const { config, log } = deps;
  installRuntime(log);
  const connection = await NativeConnection.connect(connectionOptions(config));
  const smtp = createSmtpSender({ allowPrivate: config.ALLOW_PRIVATE_MAIL_HOSTS });
  const deliveries = await createDeliveryEngine(deps, metrics);
  const webhooks = createWebhookActivities(deliveries);
  const common = {
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    activityTaskPollerBehavior: { type: 'autoscaling' },
    shutdownGraceTime: '10s',
    shutdownForceTime: config.SHUTDOWN_GRACE_MS,
  } as const;
  const worker = await Worker.create({
    ...common,
    taskQueue: config.TEMPORAL_TASK_QUEUE,
    workflowBundle: await workflowBundle(log),
    activities: {
      ...createEngineActivities(deps, { smtp, metrics }),
      ...createContactImportActivities(deps),
      ...createMailboxActivities(deps, { smtp }),
      ...createMaintenanceActivities(deps),
      ...createWebhookVerifyActivities(deps),
      ...webhooks,
    },
    maxConcurrentActivityTaskExecutions: config.WORKER_ACTIVITIES,
    maxCachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
  });
  // Receivers that hang take the places of this queue, never those of sending and of first attempts.
  const slow = await Worker.create({
    ...common,
    taskQueue: slowQueue(config.TEMPORAL_TASK_QUEUE),
    activities: webhooks,
    maxConcurrentActivityTaskExecutions: SLOW_ACTIVITIES,
  });
  const running = [worker, slow].map((each) => each.run());
  for (const run of running) run.catch(onFailure);
  return async () => {
    for (const each of [worker, slow]) if (each.getState() === 'RUNNING') each.shutdown();
    await Promise.allSettled(running);
    await deliveries.close();
    await smtp.close();
    await connection.close();
  };
}

function serveHealth(deps: Deps, metrics: Metrics, port: number): Promise<Listening> {
  return listenHttp(
    (request, response) => {
      if (request.url === '/health') {
        response.setHeader('Content-Type', 'application/json');
        response.end('{"status":"ok"}');
      } else if (request.url === '/metrics') {
        void metrics.registry.metrics().then((text) => {
          response.setHeader('Content-Type', metrics.registry.contentType);
          response.end(text);
        });
      } else {
        response.statusCode = 404;
        response.end();
      }
    },
    deps.config.LISTEN_HOST,
    port,
  );
}
