import { fullPath, idempotencyOf, type AnyRoute } from '../../api/http/route.ts';
import { newId } from '../../lib/ids.ts';
import { call, type Answer, type World } from '../harness/world.ts';
import { QUERIES, sampleBody } from './bodies.ts';

/** Request of a suite that calls all routes. */
export interface Request {
  params?: Record<string, string>;
  body?: unknown;
  token?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

/** Calls a route. Missing path parameters become ids that no row has. */
export function send(
  world: World,
  spec: AnyRoute,
  { params = {}, body, token, query = {}, headers = {} }: Request,
): Promise<Answer> {
  const filled = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => params[name] ?? newId());
  const asked = new URLSearchParams(query).toString();
  return call(world, spec.method.toUpperCase(), asked ? `${filled}?${asked}` : filled, {
    ...(token ? { token } : {}),
    ...(body === undefined ? {} : { body }),
    headers,
  });
}

/** Returns a request that is well-formed for its route, regardless of its result. */
export function wellFormed(spec: AnyRoute): Request {
  const isJson = spec.body && (spec.consumes ?? 'json') === 'json';
  const body = isJson ? sampleBody(spec) : spec.consumes === 'multipart' ? sampleFile() : undefined;
  return {
    body,
    query: QUERIES[spec.operationId] ?? {},
    headers: idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {},
  };
}

function sampleFile(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['email\nann@example.com\n'], { type: 'text/csv' }), 'people.csv');
  return form;
}

/** Runs a check for each route and reports all failures, not just the first. */
export async function each(
  t: { deepEqual(a: unknown, b: unknown): void; true(a: boolean): void },
  list: readonly AnyRoute[],
  check: (spec: AnyRoute) => Promise<string[]>,
): Promise<void> {
  t.true(list.length > 0);
  const faults: string[] = [];
  for (const spec of list) {
    const found = await check(spec).catch((error: unknown) => [String(error)]);
    for (const fault of found) faults.push(`${spec.operationId} (${spec.method.toUpperCase()} ${spec.path}): ${fault}`);
  }
  t.deepEqual(faults, []);
}
