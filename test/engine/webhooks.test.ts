import test from 'ava';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { enqueueRedelivery } from '../../domain/connect/webhooks/enqueue-redelivery.ts';
import { verifySignature } from '../../lib/signature.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { plainText } from '../harness/plain-history.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';
import { assertNowhere, randomSecret } from '../harness/secrets.ts';

let world: World;
let engine: Engine;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld({ env: { WORKER_ROLES: 'temporal,relay,fanout', WEBHOOK_RETRY_BASE_MS: '200' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});
test.beforeEach(async () => {
  receiver = await startReceiver();
});
test.afterEach.always(() => receiver.stop());

const WORKFLOW_TASK_COMPLETED = 7;
const PATIENCE_MS = 90_000;
const deliveries = (endpointId: string) =>
  world.deps.db('webhook_deliveries').where({ endpoint_id: endpointId }).orderBy('id');
const delivered = (endpointId: string, count: number) =>
  eventually(async () => (await deliveries(endpointId).where({ status: 'delivered' })).length === count, PATIENCE_MS);
const completed = (workflowId: string) =>
  eventually(
    async () => (await engine.temporal.workflow.getHandle(workflowId).describe()).status.name === 'COMPLETED',
    PATIENCE_MS,
  );
const eventIds = () => receiver.requests.map((request) => request.headers['x-service-event-id'] as string);

test.serial('events reach their endpoint once each, signed, as they are committed', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  const ids: string[] = [];
  for (let n = 1; n <= 40; n += 1) ids.push(...(await emitEvents(world.deps, organizationId, 1 + (n % 4))));
  await delivered(endpoint.id, ids.length);
  t.deepEqual(eventIds().sort(), [...ids].sort());
  for (const request of receiver.requests)
    t.true(
      verifySignature(request.headers['x-service-signature'] as string, endpoint.secret, request.raw, {
        now: new Date(),
      }),
    );
  const [sums] = (
    await world.deps.db.raw(
      'select count(*)::int as attempts, (select sum(attempt_count)::int from webhook_deliveries) as counted from webhook_attempts',
    )
  ).rows;
  t.deepEqual(sums, { attempts: ids.length, counted: ids.length });
});

test.serial('a delivery that fails has a run of its own, which ends with the attempt that succeeds', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const { organizationId } = await world.tenant();
  const url = `${receiver.url}/${randomSecret('hook')}`;
  const note = randomSecret('note');
  const endpoint = await createEndpoint(world.deps, organizationId, url);
  receiver.respond(({ index }) => ({ status: index < 3 ? 503 : 200 }));
  await emitEvents(world.deps, organizationId, 1, 'team.member_joined', { note });
  await delivered(endpoint.id, 1);
  const [row] = await deliveries(endpoint.id);
  t.is(row.attempt_count, 3);
  await completed(`webhook-delivery/${row.id}`);
  t.is(
    await engine.temporal.workflow.getHandle(`webhook-delivery/${row.id}`).result(),
    'delivered, attempt 3 of 8, status 200',
  );

  const { events } = await engine.temporal.workflow.getHandle(`webhook-delivery/${row.id}`).fetchHistory();
  t.true(events!.length <= 11, `${events!.length} events, however many attempts`);
  t.is(events!.filter(({ eventType }) => (eventType as number) === WORKFLOW_TASK_COMPLETED).length, 2);
  const history = plainText(events);
  t.true(history.includes(row.id), 'the ids are legible');
  t.is(receiver.requests[0]!.json.data.note, note);
  assertNowhere(t, history, [endpoint.secret, url, receiver.url, new URL(url).pathname, note, 'team.member_joined']);
});

test.serial('asked for again, a delivery does not wait for its schedule', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  receiver.respond(500);
  world.deps.config.WEBHOOK_RETRY_BASE_MS = 3_600_000;
  await emitEvents(world.deps, organizationId, 1);
  const row = await eventually(() => deliveries(endpoint.id).where({ status: 'failed' }).first(), PATIENCE_MS);
  const again = () => transact(world.system(organizationId), (tx) => enqueueRedelivery(world.deps, tx, row.id));
  await again();
  await eventually(() => deliveries(endpoint.id).where({ status: 'failed', attempt_count: 2 }).first(), PATIENCE_MS);
  receiver.respond(204);
  await again();
  await delivered(endpoint.id, 1);
  world.deps.config.WEBHOOK_RETRY_BASE_MS = 200;
  await completed(`webhook-delivery/${row.id}`);
  await again();
  await eventually(() => deliveries(endpoint.id).where({ status: 'delivered', attempt_count: 4 }).first(), PATIENCE_MS);
  t.deepEqual(new Set(eventIds()), new Set([row.event_id]));
  t.is(receiver.requests.length, 4);
});

test.serial(
  'an endpoint that has failed again and again is served by a batch of its own, until it is well',
  async (t) => {
    t.timeout(PATIENCE_MS * 2);
    const { organizationId } = await world.tenant();
    const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`, {
      consecutive_failures: 7,
      failing_since: new Date(),
    });
    for (let n = 0; n < 5; n += 1) await emitEvents(world.deps, organizationId, 3);
    await delivered(endpoint.id, 15);
    await completed(`webhook-endpoint/${endpoint.id}`);
    t.is((await world.deps.db('webhook_endpoints').where({ id: endpoint.id }).first()).consecutive_failures, 0);
    t.is(new Set(eventIds()).size, 15);
  },
);

test.serial('a worker that stops in the middle of a batch leaves the rest to the next one', async (t) => {
  t.timeout(PATIENCE_MS * 2);
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  receiver.respond({ status: 204, delayMs: 2_500 });
  const ids = await emitEvents(world.deps, organizationId, 60);
  await receiver.received(5, PATIENCE_MS);
  await engine.stop();
  const left = await deliveries(endpoint.id).whereNot({ status: 'delivered' });
  engine = await startEngine(world);
  await delivered(endpoint.id, 60);
  t.true(left.length > 0, 'it stopped in the middle');
  t.deepEqual([...new Set(eventIds())].sort(), [...ids].sort());
});
