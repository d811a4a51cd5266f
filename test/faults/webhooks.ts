import type { TestAssembly } from '../harness/database.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifySignature } from '../../lib/signature.ts';
import { createTenant } from '../harness/factories.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { onInstallation, type Kept } from './installation.ts';
import type { Parts } from './parts.ts';
import { seeded, type Random } from './random.ts';
import type { Check } from './reconcile.ts';

interface WebhookFaultOptions {
  seed: number;
  /** Number of times that a worker is killed. */
  kills: number;
  workers: number;
  /** Mean time (ms) between two kills. */
  pauseMs: number;
  /** Events per second. */
  rate: number;
  /** Time (ms) after the last kill after which the test stops waiting. */
  settleMs: number;
  log: (line: string) => void;
}

interface WebhookFaultReport extends Kept {
  checks: Check[];
  kills: number;
  events: number;
  /** Number of repeated receipts of events: attempts in progress when a worker was killed, or failed attempts. */
  repeats: number;
  tookMs: number;
}

const ENDPOINTS = 6;

const SETTINGS: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  WEBHOOK_RETRY_BASE_MS: '500',
};

interface Stage {
  options: WebhookFaultOptions;
  random: Random;
  parts: Parts;
  assembly: TestAssembly;
  receiver: Receiver;
  endpoints: { id: string; organizationId: string; secret: string; path: string }[];
  emitted: Map<string, string>;
}

/**
 * Emits events continuously while workers are killed with SIGKILL, waits until all are delivered, and compares the
 * database with the receiver's record.
 */
export async function runWebhookFaults(options: WebhookFaultOptions): Promise<WebhookFaultReport> {
  const random = seeded(options.seed);
  const receiver = await startReceiver({ respond: answers(random.fork('receiver')) });
  try {
    return await onInstallation(
      { workers: options.workers, env: SETTINGS, log: options.log },
      async (parts, assembly) => {
        const stage: Stage = { options, random, parts, assembly, receiver, endpoints: [], emitted: new Map() };
        const startedAt = performance.now();
        await play(stage);
        const report = await compare(stage);
        return {
          ...report,
          kills: options.kills,
          events: stage.emitted.size,
          tookMs: performance.now() - startedAt,
        };
      },
    );
  } finally {
    await receiver.stop();
  }
}

/**
 * Returns the receiver's answers. Most requests are accepted after a short delay; some fail, so that workflows with a
 * retry schedule are killed too.
 */
function answers(random: Random): (request: { index: number }) => { status: number; delayMs: number } {
  return () => ({
    status: random.next() < 0.04 ? 503 : 204,
    delayMs: Math.round(random.next() < 0.1 ? random.between(100, 800) : random.between(1, 30)),
  });
}

async function play({
  options,
  random,
  parts,
  assembly: { deps },
  receiver,
  endpoints,
  emitted,
}: Stage): Promise<void> {
  for (let n = 0; n < ENDPOINTS; n += 1) {
    const { organizationId } = await createTenant(deps, 'Faults');
    const path = `/hook/${n}`;
    endpoints.push({ ...(await createEndpoint(deps, organizationId, receiver.url + path)), organizationId, path });
  }
  let killing = true;
  const emit = async (): Promise<void> => {
    const draws = random.fork('events');
    while (killing) {
      const count = Math.ceil(draws.between(0, 6));
      const { organizationId } = draws.pick(endpoints);
      for (const id of await emitEvents(deps, organizationId, count)) emitted.set(id, organizationId);
      await sleep((count / options.rate) * 1_000);
    }
  };
  const kill = async (): Promise<void> => {
    const draws = random.fork('kills');
    const comingBack: Promise<void>[] = [];
    for (let n = 1; n <= options.kills; n += 1) {
      await sleep(draws.between(options.pauseMs * 0.5, options.pauseMs * 1.5));
      let victim = draws.pick(parts.workers);
      while (victim.pid === undefined) {
        await sleep(50);
        victim = draws.pick(parts.workers);
      }
      await victim.kill();
      const downMs = Math.round(draws.between(50, 1_000));
      options.log(`kill ${n}: ${victim.name}, down ${downMs} ms at least; ${emitted.size} events so far`);
      comingBack.push(sleep(downMs).then(() => victim.restart()));
    }
    await Promise.all(comingBack);
    killing = false;
  };
  await Promise.all([emit(), kill()]);
  options.log(`no more kills; ${emitted.size} events were emitted`);
}

async function compare({
  options,
  parts,
  assembly: {
    deps: { db },
    temporal,
  },
  receiver,
  endpoints,
  emitted,
}: Stage): Promise<Pick<WebhookFaultReport, 'checks' | 'repeats'>> {
  const open = () =>
    db('webhook_deliveries')
      .whereNotIn('status', ['delivered', 'abandoned'])
      .count({ n: '*' })
      .first()
      .then((row) => Number(row!.n));
  const unplaced = () =>
    db('domain_events')
      .whereNull('position')
      .count({ n: '*' })
      .first()
      .then((row) => Number(row!.n));
  const running = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of temporal.workflow.list({ query: `ExecutionStatus = 'Running'` }))
      ids.push(workflowId);
    return ids;
  };
  const deadline = performance.now() + options.settleMs;
  while (performance.now() < deadline) {
    if ((await open()) === 0 && (await unplaced()) === 0 && (await running()).length === 0) break;
    await sleep(500);
  }

  const deliveries: { id: string; event_id: string; status: string; attempt_count: number; endpoint_id: string }[] =
    await db('webhook_deliveries').select('id', 'event_id', 'status', 'attempt_count', 'endpoint_id');
  const attempts: { delivery_id: string; attempt: number; response_status: number | null }[] = await db(
    'webhook_attempts',
  ).select('delivery_id', 'attempt', 'response_status');
  const bodies = new Map(
    ((await db('webhook_payloads').select('event_id', 'body')) as { event_id: string; body: string }[]).map((row) => [
      row.event_id,
      row.body,
    ]),
  );
  const receipts = new Map<string, Receiver['requests']>();
  for (const request of receiver.requests) {
    const id = request.headers['x-service-event-id'] as string;
    receipts.set(id, [...(receipts.get(id) ?? []), request]);
  }
  const recorded = new Map<string, number>();
  for (const { delivery_id: id } of attempts) recorded.set(id, (recorded.get(id) ?? 0) + 1);
  const byEvent = new Map(deliveries.map((row) => [row.event_id, row]));
  const repeats = receiver.requests.length - receipts.size;
  const unsettled = deliveries.filter(({ status }) => status !== 'delivered');
  const leftOpen = await running();
  const [intents, left] = [await db('outbox').select('workflow_id'), await unplaced()];
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));

  return {
    repeats,
    checks: [
      {
        name: 'every event has its place and its delivery',
        seen: `${emitted.size} events, ${deliveries.length} deliveries`,
        faults: [...emitted.keys()]
          .filter((id) => !byEvent.has(id))
          .map((id) => `event ${id} has none`)
          .concat(
            left > 0 ? [`${left} without a position`] : [],
            deliveries.length > emitted.size ? ['more deliveries than events'] : [],
          ),
      },
      {
        name: 'every delivery arrived',
        seen: `${receipts.size} received`,
        faults: [
          ...unsettled.map(({ id, status }) => `delivery ${id} is ${status}`),
          ...[...emitted.keys()].filter((id) => !receipts.has(id)).map((id) => `event ${id} never came`),
        ],
      },
      {
        name: 'only what was in flight or had failed came again',
        seen: `${repeats} repeats`,
        faults: [...receipts]
          .filter(([id, came]) => came.length > (byEvent.get(id)?.attempt_count ?? 0))
          .map(([id, came]) => `event ${id} came ${came.length} times in ${byEvent.get(id)?.attempt_count} attempts`),
      },
      {
        name: 'a delivery is attempted until it succeeds, and not after',
        seen: `${attempts.filter(({ response_status: status }) => status === 204).length} successes`,
        faults: [...successes(attempts)]
          .filter(([, count]) => count !== 1)
          .map(([id, count]) => `delivery ${id} succeeded ${count} times`),
      },
      {
        name: 'every attempt is on record',
        seen: `${attempts.length} attempts`,
        faults: deliveries
          .filter(({ id, attempt_count: count }) => recorded.get(id) !== count)
          .map(({ id, attempt_count: count }) => `delivery ${id}: ${count} counted, ${recorded.get(id) ?? 0} recorded`),
      },
      {
        name: 'every request was the stored body, signed',
        seen: `${receiver.requests.length} requests`,
        faults: [...receipts].flatMap(([id, came]) =>
          came
            .filter((request) => {
              const endpoint = endpointOf.get(byEvent.get(id)?.endpoint_id ?? '');
              return (
                !endpoint ||
                request.path !== endpoint.path ||
                request.raw.toString() !== bodies.get(id) ||
                !verifySignature(request.headers['x-service-signature'] as string, endpoint.secret, request.raw, {
                  now: new Date(request.receivedAt),
                })
              );
            })
            .map(() => `event ${id} came changed`),
        ),
      },
      {
        name: 'nothing is left open',
        seen: `${leftOpen.length} workflows, ${intents.length} intents`,
        faults: [...leftOpen, ...intents.map((row) => row.workflow_id as string)].map((id) => `${id} is left`),
      },
      { name: 'no process ended by itself', seen: `${parts.deaths.length} ends`, faults: parts.deaths },
    ],
  };
}

/** Successful attempts by delivery. */
function successes(attempts: readonly { delivery_id: string; response_status: number | null }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { delivery_id: id, response_status: status } of attempts)
    counts.set(id, (counts.get(id) ?? 0) + (status === 204 ? 1 : 0));
  return counts;
}
