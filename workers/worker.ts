import type { Client } from '@temporalio/client';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { SUBSCRIBERS } from '../domain/operations/subscribers/index.ts';
import { isAdrift } from '../lib/clock.ts';
import { listenHttp, type Listening } from '../lib/listen.ts';
import type { Metrics } from '../lib/metrics.ts';
import { liveness } from '../lib/iterations.ts';
import { createIntentSender, startRelay } from '../temporal/relay.ts';
import { startAccess } from './access.ts';
import { startBlobs } from './blobs.ts';
import { startFanOut } from './fanout.ts';
import { startPresenceRecorder } from './presence.ts';
import { queuesOfRoles, startQueues, type QueueParts } from './queues.ts';
import { startReactions } from './reactions.ts';
import { startReadingReview } from './reading.ts';
import { coreMetrics, installRuntime } from './runtime.ts';
import { startSync } from './sync.ts';

export interface WorkerParts extends QueueParts {
  temporal: Client;
  /** Port of /health and /metrics. If it is absent, no port is opened. */
  httpPort?: number;
}

/** Running roles of a worker process. */
export interface RunningWorker {
  http: Listening | undefined;
  /** Rejects when a role has failed and will not run again. */
  failed: Promise<never>;
  /** Stops accepting work. Resolves when the open work has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the roles of WORKER_ROLES in this process: task queues, outbox relay, fan-out of events, reactions, mailbox
 * sync.
 */
export async function startWorker({
  deps,
  temporal,
  metrics,
  aroundActivity,
  httpPort,
}: WorkerParts): Promise<RunningWorker> {
  const { config, log } = deps;
  const stops: (() => Promise<void>)[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  const queues = queuesOfRoles(config.WORKER_ROLES);
  if (queues.length > 0) {
    await installRuntime(log);
    const serving = await startQueues({ deps, metrics, aroundActivity }, queues, (error) => fail(error));
    stops.push(() => serving.stop());
  }
  if (config.WORKER_ROLES.includes('relay')) {
    const relay = await startRelay({
      db: deps.db,
      databaseUrl: config.PRIMARY_DB,
      carry: createIntentSender(temporal, config.TEMPORAL_TASK_QUEUE),
      log,
      isHeld: () => isAdrift(deps.clock),
      onParked: (parked, lately) => {
        metrics.outboxParked.set(parked);
        metrics.outboxParkedTotal.inc(lately);
      },
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
  if (config.WORKER_ROLES.includes('reactions')) {
    const reactions = await startReactions(deps, metrics, SUBSCRIBERS);
    stops.push(() => reactions.stop());
  }
  if (config.WORKER_ROLES.includes('sync')) {
    const sync = await startSync(deps, { metrics });
    stops.push(() => sync.stop());
    const access = startAccess(deps);
    stops.push(() => access.stop());
  }
  if (config.WORKER_ROLES.includes('sync') || queues.includes('mail')) {
    const review = startReadingReview(deps, metrics);
    stops.push(() => review.stop());
  }
  if (queues.includes('batch')) {
    const blobs = startBlobs(deps);
    stops.push(() => blobs.stop());
  }
  const pulse = await startPresenceRecorder(deps, metrics);
  stops.push(() => pulse.stop());
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

function serveHealth(deps: Deps, metrics: Metrics, port: number): Promise<Listening> {
  return listenHttp(
    (request, response) => {
      if (request.url === '/health') {
        const { status, body } = liveness();
        if (body.status === 'stalled')
          deps.log.error({ loops: body.loops }, 'loops have made no progress for a minute');
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(body));
      } else if (request.url === '/metrics') {
        Promise.all([metrics.registry.metrics(), coreMetrics()]).then(
          (texts) => {
            response.setHeader('Content-Type', metrics.registry.contentType);
            response.end(texts.join('\n'));
          },
          (error: unknown) => {
            // An uncaught error would end the process.
            deps.log.warn({ err: error }, 'the metrics could not be read');
            response.statusCode = 500;
            response.end();
          },
        );
      } else {
        response.statusCode = 404;
        response.end();
      }
    },
    deps.config.LISTEN_HOST,
    port,
  );
}
