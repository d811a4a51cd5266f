import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { openIterationSeconds } from './iterations.ts';

/** Prometheus metrics of one process. Labels are kinds, never ids or addresses. */
export interface Metrics {
  registry: Registry;
  httpRequests: Histogram<'operation' | 'status'>;
  outboxDispatched: Counter<'result'>;
  outboxParked: Gauge;
  outboxParkedTotal: Counter;
  runsMissing: Gauge<'family'>;
  clockAhead: Gauge;
  sends: Counter<'result'>;
  targetBusy: Counter<'resource'>;
  inbound: Counter<'kind'>;
  mailboxesWatched: Gauge;
  oldestLookSeconds: Gauge;
  keyUsageDropped: Counter;
  eventsPositioned: Counter;
  reactionsApplied: Counter<'subscriber'>;
  reactionFailures: Counter<'subscriber' | 'outcome'>;
  reactionLagEvents: Gauge<'subscriber'>;
  reactionLagSeconds: Gauge<'subscriber'>;
  reactionsFailing: Gauge<'subscriber'>;
  reactionsWaiting: Gauge<'subscriber'>;
  reactionsParked: Gauge<'subscriber'>;
  webhookAttempts: Counter<'result'>;
  webhookDrops: Counter<'reason'>;
  webhookDuration: Histogram;
  realtimeConnections: Gauge;
  realtimeEvents: Counter;
  realtimeClosed: Counter<'code'>;
}

/**
 * Interval (ms) between two samples of the event loop's lag. Smaller lags are not visible. Each sample wakes an idle
 * process; the library's default would wake it 100 times a second.
 */
const LAG_SAMPLE_MS = 200;

/**
 * Creates the metrics of one process. Each call creates its own registry, so tests can create several in one process.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'heron_', eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  const registers = [registry];
  addLoopMetric(registers);
  return {
    registry,
    ...createApiMetrics(registers),
    ...createRunMetrics(registers),
    ...createMailMetrics(registers),
    ...createEventMetrics(registers),
    ...createWebhookMetrics(registers),
  };
}

/** Registers the metric of background loops. Its value is computed at each request. */
function addLoopMetric(registers: Registry[]): void {
  new Gauge({
    name: 'heron_loop_iteration_seconds',
    help: 'Seconds without progress in the open iteration of a background loop, by loop; at 60 /health fails',
    labelNames: ['loop'],
    registers,
    collect() {
      this.reset();
      for (const [loop, seconds] of openIterationSeconds()) this.set({ loop }, seconds);
    },
  });
}

/** Metrics of the api and realtime processes: requests, use of API keys, sockets. */
function createApiMetrics(registers: Registry[]) {
  return {
    httpRequests: new Histogram({
      name: 'heron_http_request_duration_seconds',
      help: 'Duration of API requests in seconds, by operation and status',
      labelNames: ['operation', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    keyUsageDropped: new Counter({
      name: 'heron_api_key_usage_dropped_total',
      help: 'Usage records of API keys given up because the database was away too long',
      registers,
    }),
    realtimeConnections: new Gauge({
      name: 'heron_realtime_connections',
      help: 'Signed-in sockets of the realtime gateway',
      registers,
    }),
    realtimeEvents: new Counter({ name: 'heron_realtime_events_total', help: 'Events sent to sockets', registers }),
    realtimeClosed: new Counter({
      name: 'heron_realtime_closed_total',
      help: 'Sockets the gateway closed, by close code',
      labelNames: ['code'],
      registers,
    }),
  };
}

/** Metrics of workflow intents sent to Temporal, and of workflows that are missing in Temporal. */
function createRunMetrics(registers: Registry[]) {
  return {
    outboxDispatched: new Counter({
      name: 'heron_outbox_dispatched_total',
      help: 'Workflow intents carried to Temporal, by result',
      labelNames: ['result'],
      registers,
    }),
    outboxParked: new Gauge({
      name: 'heron_outbox_parked',
      help: 'Workflow intents that Temporal did not take and that wait for an operator',
      registers,
    }),
    outboxParkedTotal: new Counter({
      name: 'heron_outbox_parked_total',
      help: 'Workflow intents parked by this process',
      registers,
    }),
    runsMissing: new Gauge({
      name: 'heron_runs_missing',
      help: 'Runs that had to be open and were not when the last look began, by family',
      labelNames: ['family'],
      registers,
    }),
    clockAhead: new Gauge({
      name: 'heron_clock_ahead_seconds',
      help: "Seconds by which this machine's clock is ahead of PostgreSQL's; negative if it is behind",
      registers,
    }),
  };
}

/** Metrics of sent and read emails, and of the limits of mail hosts. */
function createMailMetrics(registers: Registry[]) {
  return {
    sends: new Counter({
      name: 'heron_sends_total',
      help: 'Campaign emails settled, by result',
      labelNames: ['result'],
      registers,
    }),
    targetBusy: new Counter({
      name: 'heron_target_busy_total',
      help: 'Work sent away because its app or mail host had as much open as it may, by resource; it comes again',
      labelNames: ['resource'],
      registers,
    }),
    inbound: new Counter({
      name: 'heron_inbound_messages_total',
      help: 'Messages read from mailboxes, by kind',
      labelNames: ['kind'],
      registers,
    }),
    mailboxesWatched: new Gauge({ name: 'heron_mailboxes_watched', help: 'Mailboxes this process watches', registers }),
    oldestLookSeconds: new Gauge({
      name: 'heron_mailboxes_oldest_look_seconds',
      help: 'Age in seconds of the oldest reading of a mailbox in the whole installation, failing servers left out',
      registers,
    }),
  };
}

/** Metrics of the stream positions of events, and of the subscribers. */
function createEventMetrics(registers: Registry[]) {
  return {
    eventsPositioned: new Counter({
      name: 'heron_events_placed_total',
      help: 'Domain events given their position by this process',
      registers,
    }),
    reactionsApplied: new Counter({
      name: 'heron_reactions_applied_total',
      help: 'Domain events applied by this process, by subscriber',
      labelNames: ['subscriber'],
      registers,
    }),
    reactionFailures: new Counter({
      name: 'heron_reactions_failed_total',
      help: 'Attempts at a domain event that failed (failed: tried again; parked: given up on), by subscriber',
      labelNames: ['subscriber', 'outcome'],
      registers,
    }),
    reactionLagEvents: new Gauge({
      name: 'heron_reactions_lag_events',
      help: 'Domain events a subscriber has not applied yet in the whole installation, up to 10,000',
      labelNames: ['subscriber'],
      registers,
    }),
    reactionLagSeconds: new Gauge({
      name: 'heron_reactions_lag_seconds',
      help: 'Age in seconds of the oldest event a subscriber has not applied, organizations that fail or wait left out',
      labelNames: ['subscriber'],
      registers,
    }),
    reactionsFailing: new Gauge({
      name: 'heron_reactions_failing_organizations',
      help: 'Organizations whose next event has failed and is tried again, by subscriber',
      labelNames: ['subscriber'],
      registers,
    }),
    reactionsWaiting: new Gauge({
      name: 'heron_reactions_waiting_organizations',
      help: 'Organizations whose events wait for a parked one, by subscriber',
      labelNames: ['subscriber'],
      registers,
    }),
    reactionsParked: new Gauge({
      name: 'heron_reactions_parked_events',
      help: 'Domain events given up on and neither replayed nor discarded, by subscriber',
      labelNames: ['subscriber'],
      registers,
    }),
  };
}

/** Metrics of webhook deliveries. */
function createWebhookMetrics(registers: Registry[]) {
  return {
    webhookAttempts: new Counter({
      name: 'heron_webhook_attempts_total',
      help: 'Webhook delivery attempts settled, by result',
      labelNames: ['result'],
      registers,
    }),
    webhookDrops: new Counter({
      name: 'heron_webhook_drops_total',
      help: 'Webhook deliveries not made because of a rate, by reason',
      labelNames: ['reason'],
      registers,
    }),
    webhookDuration: new Histogram({
      name: 'heron_webhook_request_duration_seconds',
      help: 'Duration of webhook requests in seconds',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
      registers,
    }),
  };
}
