import fc from 'fast-check';
import { fullPath, idempotencyOf, isWrite, refusesUnknownQuery, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { openApiDocument } from '../../api/http/openapi.ts';
import { newId } from '../../lib/ids.ts';
import type { World } from '../harness/world.ts';
import { createReachableWorld, prepareAttempt, type Attempt } from './attempt.ts';
import { DocumentCheck } from './document.ts';
import { disturbed, hostile, hostileText, hostileWord } from './hostile.ts';
import type { Reaching } from './ground.ts';

/** Responses that take longer (ms) are listed. */
const SLOW_MS = 1_000;
/** Number of hostile requests for each successful one. */
const PER_ROUND = 8;

interface Find {
  operation: string;
  what: string;
  /** Text of the request, shortened. */
  request: string;
}

export interface FuzzReport {
  seed: number;
  requests: number;
  rounds: number;
  finds: Find[];
  slow: { operation: string; ms: number; request: string }[];
  /** Number of responses by operation and status. */
  seen: Map<string, Map<number, number>>;
  /** Operations that completed at least one request. */
  inside: Set<string>;
  /** Responses to requests that should have succeeded but did not, by operation. */
  outside: Map<string, string>;
}

interface FuzzOptions {
  seed: number;
  /** Duration (ms) of the test. Every operation is called at least once, even if this takes longer. */
  forMs: number;
}

/**
 * Sends every operation a valid request with real ids and each kind of credential. Then sends hostile ones: wrong
 * types, characters that cannot be stored, very large numbers, deep nesting, long texts, duplicate keys. All limits are
 * off. The same seed makes the same requests, limited by the time.
 */
export async function fuzz({ seed, forMs }: FuzzOptions): Promise<FuzzReport> {
  const world = await createReachableWorld();
  const report: FuzzReport = {
    seed,
    requests: 0,
    rounds: 0,
    finds: [],
    slow: [],
    seen: new Map(),
    inside: new Set(),
    outside: new Map(),
  };
  // Unlike the published document, this one also contains the pages and MCP, so that their responses are checked too.
  const check = new DocumentCheck(openApiDocument(routes, { version: '0', serverUrl: world.url }));
  const until = Date.now() + forMs;
  try {
    for (; report.rounds === 0 || Date.now() < until; report.rounds += 1) {
      for (const [index, spec] of routes.entries()) {
        if (report.rounds > 0 && Date.now() >= until) break;
        await askOperation({ world, report, check, seed: seed + report.rounds * 1_000 + index }, spec);
      }
    }
  } finally {
    await world.close();
  }
  return report;
}

interface Round {
  world: World;
  report: FuzzReport;
  check: Pick<DocumentCheck, 'faultsOf'>;
  seed: number;
}

async function askOperation(round: Round, spec: AnyRoute): Promise<void> {
  const { report, seed } = round;
  let attempt = await prepareAttempt(round.world, spec);
  const expected = attempt.reaching.status ?? spec.success.status;
  let { status, text: said } = await send(round, spec, { ...attempt, token: await attempt.own(0) });
  // An answer 202 means that the request waits for a person's approval. It was validated as far as an agent's request
  // can be.
  if (status === expected || (spec.awaiting && status === 202)) report.inside.add(spec.operationId);
  else report.outside.set(spec.operationId, `${status} instead of ${expected}: ${said.slice(0, 300)}`);
  for (let n = 0; n < PER_ROUND; n += 1) {
    // After the request has changed or used up a record, the operation may refuse the next one.
    if (isWrite(spec) && status < 400) attempt = await prepareAttempt(round.world, spec);
    const { params, reaching, own, other } = attempt;
    const [chosen] = fc.sample(hostileChoice(reaching), { seed: seed * PER_ROUND + n, numRuns: 1 });
    const { body, text, words, inPath, inQuery, inBody, contentType } = chosen!;
    const hostileParams = Object.fromEntries(
      Object.entries(params).map(([name, id]) => [name, words[name.length % words.length] ?? id]),
    );
    const isOther = n % 4 === 3;
    ({ status } = await send(round, spec, {
      params: inPath ? hostileParams : params,
      reaching: { ...reaching, ...(inBody ? { body } : {}), ...(isOther ? { headers: {} } : {}) },
      token: await (isOther ? other(seed + n) : own(seed + n)),
      ...(text === undefined ? {} : { text }),
      ...(inQuery ? { query: queryOf(spec, words) } : {}),
      ...(contentType ? { contentType } : {}),
    }));
  }
}

function hostileChoice(reaching: Reaching) {
  return fc.record({
    body: fc.oneof({ weight: 3, arbitrary: disturbed(reaching.body ?? {}) }, { weight: 1, arbitrary: hostile }),
    text: fc.option(hostileText(reaching.body), { nil: undefined, freq: 3 }),
    words: fc.array(hostileWord, { minLength: 3, maxLength: 3 }),
    inPath: fc.nat(5).map((n) => n === 0),
    inQuery: fc.nat(1).map((n) => n === 0),
    inBody: fc.nat(4).map((n) => n > 0),
    contentType: fc.option(
      fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=utf-7', 'nonsense'),
      {
        nil: undefined,
        freq: 12,
      },
    ),
  });
}

/**
 * Returns the documented parameters of a route, each with a hostile value; also an unknown one if unknown ones are
 * ignored.
 */
function queryOf(spec: AnyRoute, words: readonly string[]): Record<string, string> {
  const names = [...Object.keys(spec.query?.shape ?? {}), ...(refusesUnknownQuery(spec) ? [] : ['nonsense'])];
  return Object.fromEntries(names.map((name, at) => [name, words[(at + name.length) % words.length]!]));
}

interface Request {
  params: Record<string, string>;
  reaching: Reaching;
  token: string | undefined;
  /** Text that is sent unchanged in place of the body. */
  text?: string;
  query?: Record<string, string>;
  contentType?: string;
}

let sources = 0;

/** Sends a request, compares its response with the document and returns the response; status 0 if there was none. */
async function send(round: Round, spec: AnyRoute, request: Request): Promise<{ status: number; text: string }> {
  const { world, report, check } = round;
  const path = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) =>
    pathSegment(request.params[name] ?? newId()),
  );
  const query = new URLSearchParams(request.query ?? request.reaching.query).toString();
  const { body, type } = encoded(spec, request);
  sources += 1;
  const headers: Record<string, string> = {
    'x-forwarded-for': `198.18.${(sources >> 8) & 255}.${sources & 255}`,
    ...(request.token ? { authorization: `Bearer ${request.token}` } : {}),
    ...(type ? { 'content-type': request.contentType ?? type } : {}),
    ...(spec.area === 'mcp' ? { accept: 'application/json, text/event-stream' } : {}),
    ...(idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {}),
    ...request.reaching.headers,
  };
  const shown = `${spec.method.toUpperCase()} ${path}${query ? `?${query}` : ''} ${String(body instanceof FormData ? 'form' : (body ?? ''))}`;
  const started = performance.now();
  let faults: string[];
  let status = 0;
  let text = '';
  try {
    const answer = await fetch(`${world.url}${path}${query ? `?${query}` : ''}`, {
      method: spec.method.toUpperCase(),
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    text = await answer.text();
    status = answer.status;
    faults = isOurs(answer.status, text)
      ? check.faultsOf(spec.operationId, { status, contentType: answer.headers.get('content-type') ?? '', text })
      : [];
    if (status >= 500 && status !== 503) faults.unshift(`${status}: ${text.slice(0, 200)}`);
  } catch (error) {
    faults = [`no answer: ${String((error as Error).cause ?? error)}`];
  }
  const ms = performance.now() - started;
  report.requests += 1;
  const counts = report.seen.get(spec.operationId) ?? new Map<number, number>();
  report.seen.set(spec.operationId, counts.set(status, (counts.get(status) ?? 0) + 1));
  const short = shown.length > 400 ? `${shown.slice(0, 400)}… (${shown.length} characters)` : shown;
  for (const what of faults) report.finds.push({ operation: spec.operationId, what, request: short });
  if (ms > SLOW_MS) report.slow.push({ operation: spec.operationId, ms: Math.round(ms), request: short });
  return { status, text };
}

/** Sends the request that an operation should complete, with the credential that has all rights. */
export async function sendAttempt(
  world: World,
  spec: AnyRoute,
  attempt: Attempt,
): Promise<{ status: number; text: string }> {
  const report: FuzzReport = {
    ...NOTHING_YET,
    seen: new Map(),
    inside: new Set(),
    outside: new Map(),
    finds: [],
    slow: [],
  };
  const check = { faultsOf: () => [] };
  return send({ world, report, check, seed: 0 }, spec, { ...attempt, token: await attempt.own(0) });
}

const NOTHING_YET = { seed: 0, requests: 0, rounds: 0 };

/** Encodes a parameter as a path segment. An empty parameter, or dots, would be a different path. */
function pathSegment(value: string): string {
  return ['', '.', '..'].includes(value) ? '%20' : encodeURIComponent(value);
}

/**
 * Returns true if the operation itself answered. An empty or hostile parameter can lead to a different path and
 * operation. A query that is too long (431) reaches no operation.
 */
function isOurs(status: number, text: string): boolean {
  return !(status === 404 && text.includes('No such endpoint')) && status !== 405 && status !== 431;
}

function encoded(spec: AnyRoute, { reaching, text }: Request): { body?: string | FormData; type?: string } {
  if (spec.method === 'get' || (!spec.body && text === undefined && reaching.body === undefined)) return {};
  if (spec.consumes === 'multipart') {
    const form = new FormData();
    const rows = text ?? 'email,first_name\nann@example.com,Ann\n';
    form.append('file', new Blob([wellFormed(rows)], { type: 'text/csv' }), 'people.csv');
    if (reaching.body !== undefined) form.append('options', asText(reaching.body));
    return { body: form };
  }
  if (spec.consumes === 'form') {
    const fields = Object.entries((reaching.body ?? {}) as object).map(
      ([name, value]) => [name, asText(value)] as [string, string],
    );
    return { body: text ?? new URLSearchParams(fields).toString(), type: 'application/x-www-form-urlencoded' };
  }
  return { body: text ?? JSON.stringify(reaching.body) ?? '', type: 'application/json' };
}

function asText(value: unknown): string {
  return wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

/** Replaces half surrogates, which UTF-8 cannot encode. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
