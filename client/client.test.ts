import test from 'ava';
import { startReceiver, type ReceiverAnswer } from '../test/harness/receiver.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { allOf, createHeron, dataOf, executedOf, HeronError } from './src/index.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('bodies, parameters and answers are those of the API; lists are followed to their end', async (t) => {
  const { apiKey } = await world.tenant();
  const heron = createHeron({ baseUrl: world.url, key: apiKey });
  const made = await executedOf(
    heron.POST('/v1/contacts', { body: Array.from({ length: 7 }, (_, n) => ({ email: `c${n}@example.com` })) }),
  );
  t.is(made.length, 7);
  const all = await allOf((cursor) =>
    heron.POST('/v1/contacts/search', { params: { query: { limit: 3, ...(cursor ? { cursor } : {}) } }, body: {} }),
  );
  t.deepEqual(all.map(({ email }) => email).toSorted(), made.map(({ email }) => email).toSorted());
  const read = await dataOf(heron.GET('/v1/contacts/{id}', { params: { path: { id: made[0]!.id } } }));
  t.is(read.email, made[0]!.email);
});

test('an error says everything that Heron says', async (t) => {
  const { apiKey } = await world.tenant();
  const heron = createHeron({ baseUrl: world.url, key: () => Promise.resolve(apiKey) });
  const error = (await t.throwsAsync(
    dataOf(heron.POST('/v1/campaigns', { body: { name: '', days: 900, timezone: 'Mars' } as never })),
    { instanceOf: HeronError },
  ))!;
  t.is(error.status, 400);
  t.is(error.code, 'bad_request');
  t.true(error.problems.length >= 3);
  for (const { path } of error.problems) t.true(error.message.includes(path));
  t.truthy(error.requestId);
  const stranger = createHeron({ baseUrl: world.url, key: 'ssk_nonsense' });
  const refused = await t.throwsAsync(dataOf(stranger.GET('/v1/segments')), {
    instanceOf: HeronError,
  });
  t.is(refused?.status, 401);
});

/** Starts a server that sends the given answers in order, and creates a client for it. */
async function inTurn(answers: readonly ReceiverAnswer[], retries = 3) {
  const server = await startReceiver();
  let next = 0;
  server.respond(() => answers[Math.min(next++, answers.length - 1)]!);
  return { server, heron: createHeron({ baseUrl: server.url, key: 'k', retries, pauseMs: 1, maxPauseMs: 2_000 }) };
}

test('a write that had no answer is sent again with the same key, and done once', async (t) => {
  const { server, heron } = await inTurn([
    'reset',
    { status: 503 },
    { status: 429, headers: { 'retry-after': '0' } },
    { status: 201, body: [] },
  ]);
  t.teardown(() => server.stop());
  t.deepEqual(await dataOf(heron.POST('/v1/contacts', { body: [{ email: 'a@example.com' }] })), []);
  t.is(server.requests.length, 4);
  t.is(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  t.is(new Set(server.requests.map(({ raw }) => raw.toString())).size, 1, 'the body is the same each time');
});

test('a key without a request left waits before the next one; a longer wait than allowed is not made', async (t) => {
  const left = (count: number, seconds: number) => ({
    status: 200,
    body: { data: [], pagination: { total: 0, next_cursor: null, has_more: false } },
    headers: { ratelimit: `"requests";r=${count};t=${seconds}, "writes";r=0;t=9` },
  });
  const { server, heron } = await inTurn([left(1, 1), left(0, 2), left(0, 3600), left(5, 1)]);
  t.teardown(() => server.stop());
  const ask = (signal?: AbortSignal) => heron.GET('/v1/segments', signal ? { signal } : {});
  await ask();
  await ask();
  const impatient = new AbortController();
  const waiting = ask(impatient.signal);
  impatient.abort();
  await t.throwsAsync(waiting, { any: true });
  t.is(server.requests.length, 2, 'it was not sent yet');
  await ask();
  t.is(server.requests.length, 3, 'it was sent after the wait');
  await ask();
  t.is(server.requests.length, 4, 'an hour is not waited');
});

test('what will not pass is answered at once, and nothing is sent for ever', async (t) => {
  const refused = await inTurn([{ status: 400, body: { message: 'no', code: 'bad_request' } }]);
  t.teardown(() => refused.server.stop());
  await t.throwsAsync(dataOf(refused.heron.GET('/v1/segments')), { message: 'no' });
  t.is(refused.server.requests.length, 1);
  const away = await inTurn([{ status: 503 }], 2);
  t.teardown(() => away.server.stop());
  await t.throwsAsync(dataOf(away.heron.GET('/v1/segments')), { instanceOf: HeronError });
  t.is(away.server.requests.length, 3);
  const late = await inTurn([{ status: 429, headers: { 'retry-after': '3600' } }]);
  t.teardown(() => late.server.stop());
  await t.throwsAsync(dataOf(late.heron.GET('/v1/segments')), { instanceOf: HeronError });
  t.is(late.server.requests.length, 1, 'an hour is not waited');
});

test('a caller who gives up is not kept waiting', async (t) => {
  const { server, heron } = await inTurn([{ status: 503, headers: { 'retry-after': '1' } }]);
  t.teardown(() => server.stop());
  const leaving = new AbortController();
  const asked = heron.GET('/v1/segments', { signal: leaving.signal });
  await server.received(1);
  leaving.abort(new Error('gone'));
  await t.throwsAsync(asked, { message: 'gone' });
});
