import test, { type ExecutionContext } from 'ava';
import pino from 'pino';
import { createEgress } from '../../../lib/egress/index.ts';
import { verifySignature } from '../../../lib/signature.ts';
import type { Tenant } from '../../../test/harness/factories.ts';
import { startReceiver, type Receiver, type ReceiverAnswer, type Responder } from '../../../test/harness/receiver.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere, randomSecret } from '../../../test/harness/secrets.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

interface Hooked {
  tenant: Tenant;
  receiver: Receiver;
  id: string;
  secret: string;
  verify(headers?: Record<string, string>): ReturnType<typeof call>;
}

async function hooked(
  t: ExecutionContext,
  respond: number | ReceiverAnswer | Responder = 204,
  at: World = world,
): Promise<Hooked> {
  const receiver = await startReceiver({ respond });
  t.teardown(() => receiver.stop());
  const tenant = await at.tenant();
  const { body } = await call(at, 'POST', '/v1/webhooks', {
    token: tenant.apiKey,
    body: { url: `${receiver.url}/hook` },
  });
  return {
    tenant,
    receiver,
    id: body.id,
    secret: body.secret,
    verify: (headers = {}) => call(at, 'POST', `/v1/webhooks/${body.id}/verify`, { token: tenant.apiKey, headers }),
  };
}

test('the challenge is one signed request with an event of type webhook.test, and any 2xx verifies', async (t) => {
  const { tenant, receiver, id, secret, verify } = await hooked(t);
  const answer = await verify();
  assertStatus(t, answer, 200);
  t.like(answer.body, { verified: true, passed: true, challenge_echoed: false, status: 204, reason: null });
  t.truthy(answer.body.endpoint.verified_at);
  t.false(answer.body.endpoint.ownership_confirmed);
  t.is(receiver.requests.length, 1);
  const request = receiver.requests[0]!;
  t.deepEqual([request.method, request.path], ['POST', '/hook']);
  t.like(request.headers, {
    'content-type': 'application/json',
    'x-service-event': 'webhook.test',
    'user-agent': 'Webhooks/1.0',
  });
  t.true(verifySignature(request.headers['x-service-signature'] as string, secret, request.raw, { now: new Date() }));
  t.deepEqual(Object.keys(request.json), ['id', 'event_type', 'organization_id', 'created_at', 'data']);
  t.like(request.json, {
    id: request.headers['x-service-event-id'],
    event_type: 'webhook.test',
    organization_id: tenant.organizationId,
  });
  t.deepEqual(Object.keys(request.json.data), ['challenge', 'endpoint_id', 'message', 'message_code']);
  t.regex(request.json.data.challenge, /^whcg_[A-Za-z0-9_-]{43}$/);
  t.is(request.json.data.endpoint_id, id);
});

test('an echo in the body or in the header confirms the ownership; something else does not', async (t) => {
  const echoes: [string, (challenge: string) => ReceiverAnswer, boolean][] = [
    ['body', (challenge) => ({ status: 200, body: { challenge } }), true],
    ['header', (challenge) => ({ status: 202, headers: { 'X-Service-Webhook-Challenge': challenge } }), true],
    ['another challenge', (challenge) => ({ status: 200, body: { challenge: `${challenge}x` } }), false],
    ['no text', () => ({ status: 200, body: { challenge: { $ne: null } } }), false],
    ['no object', () => ({ status: 200, body: 'null' }), false],
    ['plain text', (challenge) => ({ status: 200, body: challenge }), false],
  ];
  for (const [name, respond, confirmed] of echoes) {
    const { verify } = await hooked(t, (request) => respond(request.json.data.challenge));
    const { body } = await verify();
    t.like(body, { verified: true, challenge_echoed: confirmed }, name);
    t.is(body.endpoint.ownership_confirmed, confirmed, name);
  }
});

test('what is no 2xx answer does not verify, and the answer says why', async (t) => {
  const { receiver, verify } = await hooked(t);
  const cases: [ReceiverAnswer, number, RegExp][] = [
    [{ status: 302, headers: { location: receiver.url } }, 302, /redirect.*not followed/],
    [{ status: 404 }, 404, /answered 404/],
    [{ status: 500, body: 'private detail' }, 500, /answered 500/],
    ['reset', 0, /closed/],
  ];
  for (const [respond, status, reason] of cases) {
    receiver.respond(respond);
    const answer = await verify();
    assertStatus(t, answer, 200);
    t.like(answer.body, { verified: false, passed: false, status });
    t.regex(answer.body.reason, reason);
    t.is(answer.body.endpoint.verified_at, null);
    t.is(answer.body.endpoint.last_failure_reason, answer.body.reason);
  }
  t.is(receiver.requests.length, cases.length, 'nothing was sent twice or followed');
  await receiver.stop();
  t.like((await verify()).body, { verified: false, status: 0, reason: 'The host refused the connection' });
});

test('a receiver that does not answer is waited for as long as a delivery would be', async (t) => {
  const hasty = await createWorld({ env: { WEBHOOK_TIMEOUT_MS: '300' } });
  t.teardown(() => hasty.close());
  const { verify } = await hooked(t, 'hang', hasty);
  const { body } = await verify();
  t.like(body, { verified: false, passed: false, status: 0, reason: 'The host did not answer in time' });
});

test('a later test event that fails takes nothing away, and one that passes moves nothing', async (t) => {
  const { receiver, id, verify } = await hooked(t);
  const first = (await verify()).body.endpoint.verified_at;
  const counts = { consecutive_failures: 2, failing_since: new Date() };
  await world.deps.db('webhook_endpoints').where({ id }).update(counts);
  receiver.respond(500);
  const failed = (await verify()).body;
  t.like(failed, { verified: true, passed: false, status: 500 });
  t.is(failed.endpoint.verified_at, first);
  receiver.respond(200);
  const passed = (await verify()).body;
  t.is(passed.endpoint.verified_at, first);
  t.is(passed.endpoint.consecutive_failures, 2, 'tests are not live deliveries');
  const log = await world.deps.db('audit_logs').where({ entity_id: id }).orderBy('id').pluck('action');
  t.deepEqual(log, ['create', 'verify']);
});

test('an endpoint that is moved while it is asked is not verified by the answer', async (t) => {
  const { tenant, receiver, id, verify } = await hooked(t);
  receiver.respond(async () => {
    await call(world, 'PATCH', `/v1/webhooks/${id}`, {
      token: tenant.apiKey,
      body: { url: 'http://elsewhere.example.com/' },
    });
    return { status: 200 };
  });
  t.like((await verify()).body, { passed: true, verified: false });
  t.is((await world.deps.db('webhook_endpoints').where({ id }).first('verified_at')).verified_at, null);
});

test('an endpoint that is deleted while it is asked is gone', async (t) => {
  const { tenant, receiver, id, verify } = await hooked(t);
  receiver.respond(async () => {
    await call(world, 'DELETE', `/v1/webhooks/${id}`, { token: tenant.apiKey });
    return { status: 200 };
  });
  assertStatus(t, await verify(), 404);
});

test('a challenge is signed with the newest secret; a repeated request sends none', async (t) => {
  const { tenant, receiver, id, verify } = await hooked(t);
  const { body } = await call(world, 'POST', `/v1/webhooks/${id}/rotate-secret`, { token: tenant.apiKey });
  const answer = await verify({ 'idempotency-key': 'once' });
  t.true(
    verifySignature(
      receiver.requests[0]!.headers['x-service-signature'] as string,
      body.secret,
      receiver.requests[0]!.raw,
      { now: new Date() },
    ),
  );
  t.deepEqual((await verify({ 'idempotency-key': 'once' })).body, answer.body);
  t.is(receiver.requests.length, 1);
});

test('a host that has come to lead inside is not dialled', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const strict = await createWorld({ env: { ALLOW_UNSAFE_WEBHOOK_URLS: 'false' } });
  t.teardown(() => strict.close());
  const egress = createEgress({ allowUnsafe: false, lookup: async () => ['127.0.0.1'] });
  t.teardown(() => egress.close());
  Object.assign(strict.deps, { egress });
  const tenant = await strict.tenant();
  const { id } = await createEndpoint(strict.deps, tenant.organizationId, 'https://rebound.example.com/', {
    verified_at: null,
  });
  const { status, body } = await call(strict, 'POST', `/v1/webhooks/${id}/verify`, { token: tenant.apiKey });
  t.is(status, 200);
  t.like(body, {
    verified: false,
    passed: false,
    status: 0,
    reason: 'The host resolves to an address that is not publicly routable',
  });
  t.is(receiver.requests.length, 0);
});

test('no secret, challenge or address of a receiver reaches a log line or another answer', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const loud = await createWorld({ log });
  t.teardown(() => loud.close());
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const { apiKey: token } = await loud.tenant();
  const word = randomSecret('token');
  const url = `${receiver.url}/hook?token=${word}`;
  const ask = (method: string, path: string, body?: object) =>
    call(loud, method, `/v1/webhooks${path}`, { token, ...(body ? { body } : {}) });
  const {
    body: { id, secret },
  } = await ask('POST', '', { url });
  const rotated = (await ask('POST', `/${id}/rotate-secret`)).body.secret;
  const others = [];
  others.push(await ask('POST', `/${id}/verify`));
  receiver.respond('reset');
  others.push(await ask('POST', `/${id}/verify`));
  others.push(
    await ask('PATCH', `/${id}`, { url }),
    await ask('PATCH', `/${id}`, { url: 'nonsense' }),
    await ask('GET', ''),
    await ask('GET', '/deliveries'),
  );
  others.push(await ask('DELETE', `/${id}`));
  t.deepEqual(
    others.map((answer) => answer.status),
    [200, 200, 200, 400, 200, 200, 204],
  );
  const challenge = receiver.requests[0]!.json.data.challenge;
  t.true(lines.length >= 9, 'the log was heard');
  const texts = others.map((answer) => answer.text);
  assertNowhere(t, [lines, texts], [secret, rotated, challenge]);
  assertNowhere(t, lines, [word]);
});
