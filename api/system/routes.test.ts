import test from 'ava';
import { call, createWorld, type World } from '../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('health answers without a credential', async (t) => {
  const answer = await call(world, 'GET', '/health');
  t.is(answer.status, 200);
  t.deepEqual(answer.body, { status: 'ok' });
  t.truthy(answer.headers.get('x-request-id'));
});

test('readiness tells the truth when Temporal is away', async (t) => {
  const { apiKey } = await world.tenant();
  const answer = await call(world, 'GET', '/v1/system/readiness', { token: apiKey });
  t.is(answer.status, 200);
  t.false(answer.body.ready);
  const byName = Object.fromEntries(
    answer.body.checks.map((check: { name: string; ok: boolean }) => [check.name, check.ok]),
  );
  t.deepEqual(byName, {
    database: true,
    workflow_service: false,
    workers: false,
    scheduler: true,
    parked_intents: true,
    runs: true,
    event_intake: true,
    event_stream: true,
    reactions: true,
    parked_events: true,
  });
});

test('an unknown path is a 404 in the envelope', async (t) => {
  const answer = await call(world, 'GET', '/v1/nothing');
  t.is(answer.status, 404);
  t.is(answer.body.code, 'not_found');
  t.is(answer.body.request_id, answer.headers.get('x-request-id'));
});

test('the OpenAPI document and its page are served', async (t) => {
  const document = await call(world, 'GET', '/openapi.json');
  t.is(document.body.openapi, '3.1.0');
  t.is(document.body.paths['/v1/system/readiness'].get['x-scope'], 'any');
  const page = await call(world, 'GET', '/docs');
  t.is(page.status, 200);
  t.regex(page.text, /system\/readiness/);
});
