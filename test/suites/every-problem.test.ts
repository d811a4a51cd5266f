import test from 'ava';
import { z } from 'zod';
import { fullPath, idempotencyOf, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { newId } from '../../lib/ids.ts';
import { createReachableWorld, prepareAttempt, type Attempt } from '../fuzz/attempt.ts';
import { bodySchema, wholeSample } from './bodies.ts';
import { call, type Answer, type World } from '../harness/world.ts';

let world: World;
test.before(async () => {
  world = await createReachableWorld();
});
test.after.always(() => world?.close());

type Body = Record<string, unknown>;
/** Field value that the schema accepts and the domain function refuses, with the path in the refusal. */
interface Fault {
  field: string;
  value: unknown;
  paths: string[];
}

/** Number of concurrent operations, which mostly wait for answers. */
const LANES = 3;

const withObject = routes.filter((spec) => spec.body instanceof z.ZodObject && (spec.consumes ?? 'json') === 'json');

/**
 * Values that many schemas accept but most domain functions refuse: ids that no row has, invalid names, times and
 * numbers out of range.
 */
const SUSPECTS: readonly unknown[] = [
  'Mars/Nowhere',
  newId(),
  'password',
  'http://nobody.invalid:1/x',
  '1999-01-01T00:00:00Z',
  '2999-01-01T00:00:00Z',
  900,
  2_000_000_000,
  [newId()],
  ['nonsense'],
  { nonsense: 'x' },
  [[{ start: 5, end: 1 }]],
];

/** Fields that an operation ignores if another field is set, as its description says. */
const IGNORED = new Set([
  'contacts.update.add_categories',
  'integrations.connect.config',
  'integrations.createEventSubscription.config',
]);

const pathsOf = ({ status, body }: Answer): string[] =>
  status < 400 || status >= 500 ? [] : (body?.problems ?? []).map(({ path }: { path: string }) => path);

async function send(spec: AnyRoute, { params, own }: Attempt, body: Body) {
  const token = await own(0);
  const path = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => params[name] ?? newId());
  return call(world, spec.method.toUpperCase(), path, {
    body,
    headers: idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {},
    ...(token ? { token } : {}),
  });
}

/** Returns for each field the first suspect value that the schema accepts and the domain function refuses. */
async function faultsOf(spec: AnyRoute): Promise<Fault[]> {
  const found: Fault[] = [];
  let attempt = await prepareAttempt(world, spec);
  const fields = Object.keys((spec.body as z.ZodObject).shape);
  for (const field of fields.filter((name) => !IGNORED.has(`${spec.operationId}.${name}`))) {
    const { properties } = bodySchema(spec);
    for (const value of [...SUSPECTS, wholeSample(properties![field]!)]) {
      const body = { ...(attempt.reaching.body as Body), [field]: value };
      if (!spec.body!.safeParse(body).success) continue;
      const answer = await send(spec, attempt, body);
      // A sign-in or sign-up uses up its input, so each further request needs a new one.
      if (answer.status < 300 && spec.scope === 'public') attempt = await prepareAttempt(world, spec);
      const paths = pathsOf(answer).filter((path) => path === `body.${field}` || path.startsWith(`body.${field}.`));
      if (paths.length === 0) continue;
      found.push({ field, value, paths });
      break;
    }
  }
  return found;
}

test('faults of the schema and faults that the verb finds are named in one answer, on every route', async (t) => {
  t.timeout(240_000);
  const missing: string[] = [];
  const covered: string[] = [];
  const check = async (spec: AnyRoute): Promise<void> => {
    const faults = await faultsOf(spec);
    if (faults.length === 0) return;
    covered.push(`${spec.operationId}: ${faults.map(({ field }) => field).join(', ')}`);
    const attempt = await prepareAttempt(world, spec);
    const all = Object.fromEntries(faults.map(({ field, value }) => [field, value]));
    const body = { ...(attempt.reaching.body as Body), ...all };
    const expected = faults.flatMap(({ paths }) => paths);
    const cases: [string, Body, string[]][] = [
      ['together', body, expected],
      ['with an unknown field', { ...body, no_such_field: 1 }, [...expected, 'body.no_such_field']],
    ];
    for (const [what, sent, paths] of cases) {
      const answer = await send(spec, attempt, sent);
      const named = new Set(pathsOf(answer));
      const lost = paths.filter((path) => !named.has(path));
      if (lost.length > 0) missing.push(`${spec.operationId} ${what}: ${answer.status} without ${lost.join(', ')}`);
    }
  };
  // Runs routes that affect other workspaces (public and operator routes) one at a time. Each other operation uses its
  // own workspace.
  const alone = withObject.filter((spec) => spec.scope === 'public' || spec.platformAdmin);
  for (const spec of alone) await check(spec);
  const rest = withObject.filter((spec) => !alone.includes(spec));
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let spec = rest.shift(); spec; spec = rest.shift()) await check(spec);
    }),
  );
  t.log(covered.toSorted().join('\n'));
  t.deepEqual(missing, []);
});
