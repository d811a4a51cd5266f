import test, { type ExecutionContext } from 'ava';
import Stripe from 'stripe';
import { SIGNATURE_TOLERANCE_SECONDS } from '../../lib/signature.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import type { Tenant } from '../harness/factories.ts';
import { approve, createApplication } from '../harness/oauth.ts';
import { startReceiver, type ReceivedRequest } from '../harness/receiver.ts';
import { emitEvents } from '../harness/webhooks.ts';
import { call, createWorld, type World } from '../harness/world.ts';

const ROTATIONS = 20;
const EVENTS_PER_ROTATION = 6;

let world: World;
let engine: Engine;
test.before(async () => {
  world = await createWorld({ env: { WEBHOOK_RETRY_BASE_MS: '300', WEBHOOK_RETRY_CAP_MS: '600' } });
  engine = await startEngine(world);
});
test.after.always(async () => {
  await engine?.stop();
  await world?.close();
});

/** Verifies a request with Stripe's own library. Returns the event, or the reason of a refusal. */
function judge(
  request: ReceivedRequest,
  secret: string,
  changes: { raw?: Buffer; atMs?: number } = {},
): { event?: any; refusal?: string } {
  try {
    const header = request.headers['x-service-signature'] as string;
    return {
      event: Stripe.webhooks.constructEvent(
        changes.raw ?? request.raw,
        header,
        secret,
        SIGNATURE_TOLERANCE_SECONDS,
        undefined,
        changes.atMs ?? request.receivedAt,
      ),
    };
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

/** Returns the index of the secret that signed a request, from the oldest one; -1 if none did. */
const signedWith = (request: ReceivedRequest, secrets: readonly string[]) =>
  secrets.findIndex((secret) => judge(request, secret).event !== undefined);

interface Scene {
  tenant: Tenant;
  secrets: string[];
  /** Rotates the secret and returns the new one. */
  rotate(): Promise<string>;
}

/**
 * Emits events continuously while the secret is rotated; every third event is refused twice before it is accepted.
 */
async function throughRotations(
  t: ExecutionContext,
  { tenant, secrets, rotate }: Scene,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
): Promise<void> {
  const attempts = new Map<string, number>();
  const number = new Map<string, number>();
  receiver.respond((request) => {
    const attempt = (attempts.get(request.json.id) ?? 0) + 1;
    attempts.set(request.json.id, attempt);
    if (attempt === 1) number.set(request.json.id, number.size);
    return { status: number.get(request.json.id)! % 3 === 0 && attempt < 3 ? 503 : 200 };
  });
  receiver.clear();
  /**
   * Number of rotations that were completed before each event was committed. Only secrets from then on may sign the
   * event.
   */
  const rotatedBefore = new Map<string, number>();
  for (let round = 1; round <= ROTATIONS; round += 1) {
    const before = secrets.length - 1;
    const [ids, secret] = await Promise.all([
      emitEvents(world.deps, tenant.organizationId, EVENTS_PER_ROTATION),
      rotate(),
    ]);
    secrets.push(secret);
    for (const id of ids) rotatedBefore.set(id, before);
    // Every other round waits for the arrival of one of its events, so that rotations meet deliveries in every state.
    if (round % 2 === 0)
      await eventually(async () => receiver.requests.some((request) => ids.includes(request.json.id)), 60_000, 10);
  }
  const endpoints = world.deps.db('webhook_endpoints').where({ organization_id: tenant.organizationId }).select('id');
  await eventually(async () => {
    const [open] = await world.deps
      .db('webhook_deliveries')
      .whereIn('endpoint_id', endpoints)
      .whereNot({ status: 'delivered' })
      .count('* as n');
    const [all] = await world.deps.db('webhook_deliveries').whereIn('endpoint_id', endpoints).count('* as n');
    return Number(open!.n) === 0 && Number(all!.n) === ROTATIONS * EVENTS_PER_ROTATION;
  }, 120_000);

  t.is(new Set(secrets).size, ROTATIONS + 1);
  const used = new Map<string, number>();
  for (const request of receiver.requests) {
    const index = signedWith(request, secrets);
    const { id } = request.json;
    t.true(
      index >= rotatedBefore.get(id)!,
      `signed with secret ${index}, though secret ${rotatedBefore.get(id)} was known before the event`,
    );
    t.is(index, used.get(id) ?? index, 'a delivery keeps the secret of its first attempt until it settles');
    used.set(id, index);
    t.is(judge(request, secrets[index]!).event.id, request.headers['x-service-event-id']);
    t.is(request.json.event_type, request.headers['x-service-event']);
  }
  t.deepEqual([...used.keys()].sort(), [...rotatedBefore.keys()].sort(), 'every event came');
  t.true(receiver.requests.length >= used.size + 2 * Math.floor(used.size / 3), 'refused ones came again');
  t.true(new Set(used.values()).size >= ROTATIONS / 2, 'every other secret at least was met in use');
}

test("Stripe's verifier takes every delivery of an endpoint through 20 live rotations", async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const tenant = await world.tenant();
  const { body } = await call(world, 'POST', '/v1/webhooks', {
    token: tenant.apiKey,
    body: { url: `${receiver.url}/hook` },
  });
  t.true((await call(world, 'POST', `/v1/webhooks/${body.id}/verify`, { token: tenant.apiKey })).body.verified);
  t.is(
    judge(receiver.requests[0]!, body.secret).event.event_type,
    'webhook.test',
    'the challenge is signed like any delivery',
  );
  await throughRotations(
    t,
    {
      tenant,
      secrets: [body.secret],
      rotate: async () =>
        (await call(world, 'POST', `/v1/webhooks/${body.id}/rotate-secret`, { token: tenant.apiKey })).body.secret,
    },
    receiver,
  );
});

test('and every delivery of an application, signed with the secret all its installs share', async (t) => {
  const receiver = await startReceiver({
    respond: (request) => ({ status: 200, body: { challenge: request.json.data.challenge } }),
  });
  t.teardown(() => receiver.stop());
  const [owner, tenant] = [await world.tenant('Owner'), await world.tenant('Install')];
  const client = await createApplication(world.deps, owner.organizationId, {
    allowed_webhook_domains: ['127.0.0.1'],
    webhook_url: receiver.url,
    webhook_events: ['team.member_joined'],
  });
  const path = `/v1/oauth/applications/${client.id}`;
  const { body } = await call(world, 'GET', `${path}/webhook-secret`, { token: owner.apiKey });
  await approve(world.deps, tenant, client, { scopes: ['READ_AUDIT_LOGS'] });
  await eventually(() =>
    world.deps.db('webhook_endpoints').where({ application_id: client.id }).whereNotNull('verified_at').first(),
  );
  await throughRotations(
    t,
    {
      tenant,
      secrets: [body.webhook_secret],
      rotate: async () =>
        (await call(world, 'POST', `${path}/webhook-secret/rotate`, { token: owner.apiKey })).body.webhook_secret,
    },
    receiver,
  );
  const deliveries = await call(world, 'GET', `${path}/webhook-deliveries?limit=200`, { token: owner.apiKey });
  t.is(deliveries.body.data.length, ROTATIONS * EVENTS_PER_ROTATION);
  t.true(
    deliveries.body.data.every(
      (row: { organization_id: string; status: string }) =>
        row.organization_id === tenant.organizationId && row.status === 'delivered',
    ),
  );
});

test('it refuses what was changed, what is old, and what another secret signed', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const tenant = await world.tenant();
  const { body } = await call(world, 'POST', '/v1/webhooks', { token: tenant.apiKey, body: { url: receiver.url } });
  await call(world, 'POST', `/v1/webhooks/${body.id}/verify`, { token: tenant.apiKey });
  receiver.clear();
  await emitEvents(world.deps, tenant.organizationId, 1);
  const [request] = (await receiver.received(1)) as [ReceivedRequest];
  t.is(judge(request, body.secret).event.id, request.json.id);

  for (let at = 0; at < request.raw.length; at += 7) {
    const raw = Buffer.from(request.raw);
    raw[at]! ^= 1;
    t.regex(judge(request, body.secret, { raw }).refusal!, /No signatures found/, `byte ${at}`);
  }
  t.regex(
    judge(request, body.secret, { raw: Buffer.from(JSON.stringify(request.json, null, 1)) }).refusal!,
    /No signatures found/,
    'the raw bytes count',
  );
  const signedAt = Number(/t=(\d+)/.exec(request.headers['x-service-signature'] as string)![1]) * 1000;
  t.truthy(judge(request, body.secret, { atMs: signedAt + SIGNATURE_TOLERANCE_SECONDS * 1000 }).event);
  t.regex(
    judge(request, body.secret, { atMs: signedAt + (SIGNATURE_TOLERANCE_SECONDS + 1) * 1000 }).refusal!,
    /tolerance/,
  );
  t.regex(judge(request, `${body.secret}x`).refusal!, /No signatures found/);
});
