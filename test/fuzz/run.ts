import fc from 'fast-check';
import { fullPath, idempotencyOf, type AnyRoute } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { apiDocument } from '../../api/servers/api.ts';
import { newSecret } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { maskOf } from '../../lib/permissions.ts';
import type { WorkflowGateway } from '../../temporal/dispatch.ts';
import { createApiKey, createMember, type Tenant } from '../harness/factories.ts';
import { createAccessToken } from '../harness/oauth.ts';
import { createWorld, noWorkflows, type World } from '../harness/world.ts';
import { makeRows, parametersOf, ROWS } from '../suites/foreign-ids.ts';
import { DocumentCheck } from './document.ts';
import { disturbed, hostile, hostileText, hostileWord } from './hostile.ts';
import { makeGround, reachingRequest, type Reaching } from './reach.ts';

/** An answer that took longer than this (ms) is listed. */
const SLOW_MS = 1_000;
/** Hostile requests for each that should get inside. */
const PER_ROUND = 8;

export interface Find {
  operation: string;
  what: string;
  /** The request, shortened. */
  request: string;
}

export interface FuzzReport {
  seed: number;
  requests: number;
  rounds: number;
  finds: Find[];
  slow: { operation: string; ms: number; request: string }[];
  /** By operation, how often each status was seen. */
  seen: Map<string, Map<number, number>>;
}

export interface FuzzOptions {
  seed: number;
  /** When to stop (ms); every operation is asked once in any case. */
  forMs: number;
}

/** Mailbox checks come out well, and workers are there: the verbs behind them are what is looked at. */
const workflows: WorkflowGateway = {
  ...noWorkflows,
  execute: async () => ({ smtp: { ok: true }, imap: { ok: true } }) as never,
  health: async () => ({ latencyMs: 1, workers: 1, unserved: [] }),
};

/**
 * Asks every operation for what it does, with real ids and each kind of credential, and then for what no client should ask:
 * wrong types, characters that cannot be stored, huge numbers, deep nesting, long texts, doubled keys. All limits are
 * lifted. The same seed makes the same requests, as many as there is time for.
 */
export async function fuzz({ seed, forMs }: FuzzOptions): Promise<FuzzReport> {
  const world = await createWorld({
    workflows,
    limiter: { take: async () => 0, close: async () => {} },
    env: { TRUSTED_PROXIES: 'loopback', ORG_WEBHOOK_ENDPOINTS: '0', APP_URL: 'http://127.0.0.1:8080' },
  });
  const report: FuzzReport = { seed, requests: 0, rounds: 0, finds: [], slow: [], seen: new Map() };
  const check = new DocumentCheck(apiDocument(world.deps.config.API_PUBLIC_URL));
  const until = Date.now() + forMs;
  try {
    for (; report.rounds === 0 || Date.now() < until; report.rounds += 1) {
      for (const [index, spec] of inOrder(routes).entries()) {
        if (report.rounds > 0 && Date.now() >= until) break;
        await askOperation({ world, report, check, seed: seed + report.rounds * 1_000 + index }, spec);
      }
    }
  } finally {
    await world.close();
  }
  return report;
}

/** The setup first: it works only as long as there is no account. */
function inOrder(all: readonly AnyRoute[]): AnyRoute[] {
  return [...all].sort((a, b) => Number(b.operationId === 'auth.setup') - Number(a.operationId === 'auth.setup'));
}

interface Round {
  world: World;
  report: FuzzReport;
  check: DocumentCheck;
  seed: number;
}

async function askOperation(round: Round, spec: AnyRoute): Promise<void> {
  const { world, seed } = round;
  // Each asks from a source of its own, but mail and passwords are counted by account too.
  await world.deps.db('auth_throttles').delete();
  const first = spec.operationId === 'auth.setup' ? await reachingRequest(spec, { world } as never) : undefined;
  const tenant = first ? undefined : await world.tenant();
  const params = tenant ? await createParams(spec, world, tenant) : {};
  const ground = tenant && (await makeGround(world, tenant, params));
  const reaching = first ?? (await reachingRequest(spec, ground!));
  const token = tenant && (await ownCredential(world, spec, tenant, seed));
  await send(round, spec, { params, reaching, token });
  const others = tenant ? await otherCredentials(world, tenant, seed) : [undefined];
  for (const [n, chosen] of fc.sample(hostileChoice(reaching), { seed, numRuns: PER_ROUND }).entries()) {
    const hostileParams = Object.fromEntries(
      Object.entries(params).map(([name, id]) => [name, chosen.words[name.length % chosen.words.length] ?? id]),
    );
    await send(round, spec, {
      params: chosen.inPath ? hostileParams : params,
      reaching: { ...reaching, ...(chosen.inBody ? { body: chosen.body } : {}) },
      token: n % 4 === 3 ? others[n % others.length] : token,
      ...(chosen.text === undefined ? {} : { text: chosen.text }),
      ...(chosen.inQuery ? { query: queryOf(spec, chosen.words) } : {}),
      ...(chosen.contentType ? { contentType: chosen.contentType } : {}),
    });
  }
}

/** Ids of rows that are there; links that are mailed to a person carry a secret, which is made up here. */
async function createParams(spec: AnyRoute, world: World, tenant: Tenant): Promise<Record<string, string>> {
  const parameters = parametersOf(spec.path);
  const mailed = parameters.filter(({ prefix }) => !(prefix in ROWS));
  if (mailed.length === 0) return makeRows(spec.path, world, tenant);
  if (spec.scope !== 'public') throw new Error(`${mailed[0]!.prefix} has no factory in test/suites/foreign-ids.ts`);
  return Object.fromEntries(parameters.map(({ name }) => [name, newSecret()]));
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

/** The parameters a route documents, each with a hostile word. */
function queryOf(spec: AnyRoute, words: readonly string[]): Record<string, string> {
  const shape = (spec.query as { shape?: Record<string, unknown> } | undefined)?.shape ?? {};
  return Object.fromEntries(
    [...Object.keys(shape), 'nonsense'].map((name, at) => [name, words[(at + name.length) % words.length]!]),
  );
}

/** The credential a route is made for; where several are, another in each round. */
async function ownCredential(world: World, spec: AnyRoute, tenant: Tenant, seed: number): Promise<string | undefined> {
  if (spec.scope === 'public') return undefined;
  if (spec.scope === 'session') return tenant.sessionToken;
  const kind = seed % 3;
  if (kind === 0) return tenant.apiKey;
  return kind === 1 ? tenant.sessionToken : (await createAccessToken(world, tenant)).accessToken;
}

async function otherCredentials(world: World, tenant: Tenant, seed: number): Promise<(string | undefined)[]> {
  const { organizationId, userId } = tenant;
  const narrow = await createApiKey(world.deps, organizationId, userId, { permissions: maskOf(['READ_CONTACTS']) });
  const bound = await createApiKey(world.deps, organizationId, userId);
  await world.deps
    .db('api_keys')
    .where({ id: bound.apiKeyId })
    .update({ allowed_email_accounts: [newId()] });
  const kinds = [undefined, 'ssk_nonsense', narrow.apiKey, bound.apiKey];
  return seed % 2 ? kinds : [...kinds, (await createMember(world.deps, tenant, 'Viewer')).sessionToken];
}

interface Request {
  params: Record<string, string>;
  reaching: Reaching;
  token: string | undefined;
  /** Sent as it is instead of the body. */
  text?: string;
  query?: Record<string, string>;
  contentType?: string;
}

let sources = 0;

async function send(round: Round, spec: AnyRoute, request: Request): Promise<void> {
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
    ...(spec.area === 'operations' ? { accept: 'application/json, text/event-stream' } : {}),
    ...(idempotencyOf(spec) === 'required' ? { 'idempotency-key': newId() } : {}),
  };
  const shown = `${spec.method.toUpperCase()} ${path}${query ? `?${query}` : ''} ${String(body instanceof FormData ? 'form' : (body ?? ''))}`;
  const started = performance.now();
  let faults: string[];
  let status = 0;
  try {
    const answer = await fetch(`${world.url}${path}${query ? `?${query}` : ''}`, {
      method: spec.method.toUpperCase(),
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
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
}

/** A parameter as it stands in a path. An empty one, or dots, would name another path. */
function pathSegment(value: string): string {
  return ['', '.', '..'].includes(value) ? '%20' : encodeURIComponent(value);
}

/** An empty or hostile parameter may lead to another path: what answers there is not this operation. */
function isOurs(status: number, text: string): boolean {
  return !(status === 404 && text.includes('No such endpoint')) && status !== 405;
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

/** Half characters replaced, as UTF-8 cannot carry them. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
