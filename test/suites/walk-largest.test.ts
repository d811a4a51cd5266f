import test from 'ava';
import { fullPath, idempotencyOf, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { QUESTION_MS } from '../../domain/platform/kernel/question.ts';
import { newId } from '../../lib/ids.ts';
import { createReachableWorld, prepareAttempt, type Attempt } from '../fuzz/attempt.ts';
import type { RawDb } from '../harness/database.ts';
import { countStatements, sumOf, type StatementCounter } from '../harness/statement-counter.ts';
import { call, type Answer, type World } from '../harness/world.ts';
import { createLargeWorkspace, type LargeWorkspace } from './large-workspace.ts';
import { Largest, type LargeInput } from './largest.ts';
import { each } from './walk.ts';

/** Maximum size (bytes) of a body, for a route that states none. */
const DEFAULT_BODY = 1024 * 1024;
/** Maximum number of requests for the same parts, each smaller than the one before. */
const REQUESTS = 6;
/**
 * Time (ms) after which PostgreSQL ends a statement in this test; the route then answers 503. The default of the
 * setting is much longer.
 */
const STATEMENT_MS = 10_000;
/** Maximum time (ms) for which a request holds a connection of the pool, by the kind of its route. */
const HELD_MS = { question: 2 * QUESTION_MS, other: 30_000 };
/** Maximum number of statements of a request. Bulk writes execute some for each campaign that they name. */
const STATEMENTS = 1_000;
/** Number of statements of routes that call a provider once per row, with statements before and after each call. */
const ONE_BY_ONE: Readonly<Record<string, number>> = { 'integrations.pushContacts': 500 * 20 };

let world: World;
let large: LargeWorkspace;
let counter: StatementCounter;
let holds: { take(): number };
test.before(async () => {
  world = await createReachableWorld();
  large = await createLargeWorkspace(world);
  counter = countStatements(world.deps.db);
  holds = watchHolds(world.deps.db);
});
test.after.always(() => world?.close());

const partsOf = (spec: AnyRoute) => new Largest({}).shapes(spec);
const walked = routes.filter(
  (spec) => spec.scope !== 'public' && spec.consumes !== 'multipart' && partsOf(spec).some(({ length }) => length > 0),
);

/** Limits the statements of a pool's connections, and returns the longest time (ms) for which one was held. */
function watchHolds({ client }: RawDb): { take(): number } {
  let longest = 0;
  const since = new Map<object, number>();
  const limited = new WeakSet<object>();
  client.pool.on('acquireSuccess', (_event: number, connection: { query(text: string): Promise<unknown> }) => {
    since.set(connection, Date.now());
    if (limited.has(connection)) return;
    limited.add(connection);
    void connection.query(`set statement_timeout = ${STATEMENT_MS}`);
  });
  client.pool.on('release', (connection: object) => {
    longest = Math.max(longest, Date.now() - (since.get(connection) ?? Date.now()));
  });
  return {
    take() {
      const taken = longest;
      longest = 0;
      return taken;
    },
  };
}

/** Sends a request with the first credential that the route accepts. */
async function send(spec: AnyRoute, { params, own, reaching }: Attempt, input: LargeInput): Promise<Answer> {
  const token = await own(0);
  const path = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => params[name] ?? newId());
  const query = new URLSearchParams(input.query).toString();
  return call(world, spec.method.toUpperCase(), query ? `${path}?${query}` : path, {
    ...(input.body === undefined ? {} : { body: input.body }),
    headers: { ...reaching.headers, ...(idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {}) },
    ...(token ? { token } : {}),
  });
}

function limitOf({ bodyLimit }: AnyRoute): number {
  return (typeof bodyLimit === 'function' ? bodyLimit(world.deps.config) : bodyLimit) ?? DEFAULT_BODY;
}

/** Returns the faults of the answer to a large request. */
function faultsOf(spec: AnyRoute, { status, body, text }: Answer): string[] {
  const statements = sumOf(counter.take());
  const held = holds.take();
  const most = spec.isQuestion ? HELD_MS.question : HELD_MS.other;
  return [
    // Some routes declare a 503 as an expected error, for example without an AI provider.
    ...(status >= 500 && !spec.errors?.includes(body?.code) ? [`${status} ${text.slice(0, 200)}`] : []),
    ...(statements > (ONE_BY_ONE[spec.operationId] ?? STATEMENTS) ? [`${statements} statements`] : []),
    ...(held > most ? [`a connection was held for ${held} ms`] : []),
  ];
}

/**
 * Sends the largest input of some parts of a route's input, and then smaller ones while the answer reports problems
 * with some parts.
 * @returns the parts that were accepted together, and faults
 */
async function askLargest(
  spec: AnyRoute,
  attempt: Attempt,
  makes: Largest,
  parts: readonly string[],
): Promise<{ accepted: ReadonlySet<string>; faults: string[] }> {
  const sizes = new Map(parts.map((part) => [part, 0]));
  const { body, query = {} } = attempt.reaching;
  const faults: string[] = [];
  for (let n = 0; n < REQUESTS; n += 1) {
    const input = makes.input(spec, sizes, { body, query }, limitOf(spec));
    counter.take();
    holds.take();
    const answer = await send(spec, attempt, input);
    const used = [...sizes].map(([part, size]) => `${part}:${size}`).join(' ');
    faults.push(...faultsOf(spec, answer).map((fault) => `${used}: ${fault}`));
    if (answer.status < 400) return { accepted: new Set(makes.grown(sizes)), faults };
    const problems: { path: string }[] = answer.body?.problems ?? [];
    const named = parts.filter((part) => problems.some(({ path }) => path === part || path.startsWith(`${part}.`)));
    if (named.length === 0) break;
    for (const part of named) sizes.set(part, sizes.get(part)! + 1);
  }
  return { accepted: new Set(), faults };
}

test('no route answers 5xx, sends many statements or holds a connection for long with the largest input that it allows', async (t) => {
  t.timeout(1_200_000);
  const asked: string[] = [];
  await each(t, walked, async (spec) => {
    const attempt = await prepareAttempt(world, spec, large.tenant);
    if (spec.path.startsWith('/campaigns/:id') && spec.method === 'get') attempt.params.id = large.ids.campaign![0]!;
    const faults: string[] = [];
    const makes = new Largest(large.ids);
    for (const [number, parts] of partsOf(spec).entries()) {
      if (number > 0) attempt.reaching.body = {};
      const together = await askLargest(spec, attempt, makes, parts);
      faults.push(...together.faults);
      if (together.accepted.size > 0) asked.push(spec.operationId);
      // Some lists exclude each other, so each list that was not accepted is sent alone.
      for (const part of parts.filter((one) => !together.accepted.has(one) && makes.isList(spec, one))) {
        const alone = await askLargest(spec, attempt, makes, [part]);
        faults.push(...alone.faults);
        if (alone.accepted.size > 0) asked.push(spec.operationId);
      }
    }
    return faults;
  });
  const questions = walked.filter(({ isQuestion }) => isQuestion).map(({ operationId }) => operationId);
  t.deepEqual(
    questions.filter((operationId) => !asked.includes(operationId)),
    [],
    'every search and report accepts some large input',
  );
});
