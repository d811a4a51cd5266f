import { Agent, request } from 'node:http';
import { listContacts } from '../domain/audience/contacts/search.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { createTenant, type Tenant } from '../test/harness/factories.ts';
import { requestRate } from './load.ts';
import { alternate, median, percentile } from './measure.ts';
import { fillContacts } from './data.ts';
import type { BenchContext, BenchResult } from './context.ts';

const PAGE = 50;
const CONNECTIONS = 10;

/**
 * Compares the authenticated list of contacts to the same query in plain Koa and pg, and the last page to the first.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rows = context.quick ? 20_000 : 100_000;
  const rounds = context.quick ? 2 : 7;
  const seconds = context.quick ? 2 : 6;
  // Uses many requests. With fewer, the 99th percentile would only reflect a few garbage collections.
  const requests = context.quick ? 400 : 20_000;
  const { assembly, stack, log } = context;
  const tenant = await createTenant(assembly.deps, 'Bench');
  await fillContacts(assembly, tenant.organizationId, rows);
  await assembly.deps.db.raw('vacuum analyze contacts');
  const query = await listQuery(context, tenant);
  const bare = await context.helper('bare-list', { QUERIES: JSON.stringify({ contacts: [query] }) });

  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  const first = `${stack.urls.api}/v1/contacts?limit=${PAGE}`;
  const load = (url: string): Promise<number> => requestRate(url, { connections: CONNECTIONS, seconds, headers });
  for (const url of [first, `http://127.0.0.1:${bare.port}/contacts`]) await load(url);
  const rates = await alternate(
    rounds,
    { heron: () => load(first), bare: () => load(`http://127.0.0.1:${bare.port}/contacts`) },
    (name, round, rate) => log(`round ${round + 1}: ${name} ${rate.toFixed(0)} requests/s`),
  );

  const deepest = await lastPage(first, headers, rows);
  const latencies = { first: [] as number[], deepest: [] as number[] };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const block = async (url: string, into: number[], count: number): Promise<number> => {
    const values: number[] = [];
    for (let index = 0; index < count; index += 1) values.push(await once(agent, url, headers));
    into.push(...values);
    return percentile(values, 0.99);
  };
  await block(first, [], 100);
  const tails = await alternate(
    rounds,
    {
      first: () => block(first, latencies.first, Math.ceil(requests / rounds)),
      deepest: () => block(deepest, latencies.deepest, Math.ceil(requests / rounds)),
    },
    (name, round, value) => log(`round ${round + 1}: p99 of the ${name} page ${value.toFixed(2)} ms`),
  );
  agent.destroy();

  const share = median(rates.heron) / median(rates.bare);
  const [p99First, p99Deepest] = [percentile(latencies.first, 0.99), percentile(latencies.deepest, 0.99)];
  const depth = p99Deepest / p99First;
  return {
    figures: [
      {
        label: `GET /v1/contacts, ${PAGE} of ${rows} rows, with an API key`,
        value: `${median(rates.heron).toFixed(0)} requests/s`,
      },
      { label: 'Koa and pg with the same query', value: `${median(rates.bare).toFixed(0)} requests/s` },
      {
        label: 'first page, one request at a time',
        value: `p50 ${percentile(latencies.first, 0.5).toFixed(2)} ms, p99 ${p99First.toFixed(2)} ms`,
      },
      {
        label: `deepest page (after ${rows - PAGE} rows)`,
        value: `p50 ${percentile(latencies.deepest, 0.5).toFixed(2)} ms, p99 ${p99Deepest.toFixed(2)} ms`,
      },
    ],
    targets: [
      {
        what: 'GET /v1/contacts against Koa and pg alone',
        target: '>= 60 %',
        got: `${(share * 100).toFixed(0)} %`,
        met: share >= 0.6,
      },
      {
        what: 'p99 of the deepest page against the first',
        target: '<= 1.5 x',
        got: `${depth.toFixed(2)} x`,
        met: depth <= 1.5,
      },
    ],
    raw: { rows, connections: CONNECTIONS, rates, p99PerRound: tails },
  };
}

/** Captures the SQL of the first page of the list. */
async function listQuery({ assembly }: BenchContext, tenant: Tenant): Promise<{ sql: string; bindings: unknown[] }> {
  const { db } = assembly.deps;
  const seen: { sql: string; bindings: unknown[] }[] = [];
  const note = (query: { sql: string; bindings: unknown[] }): void =>
    void seen.push({ sql: query.sql, bindings: query.bindings });
  db.on('query', note);
  await listContacts(systemCtx(assembly.deps, tenant.organizationId, 'bench'), { limit: PAGE, cursor: undefined });
  db.removeListener('query', note);
  if (seen.length !== 1) throw new Error(`the list ran ${seen.length} statements; this comparison is made for one`);
  return seen[0]!;
}

/** Requests all pages and returns the URL of the last one. */
async function lastPage(first: string, headers: Record<string, string>, rows: number): Promise<string> {
  let url = first;
  for (let page = 1; page < rows / PAGE; page += 1) {
    const answer = await fetch(url, { headers });
    const { pagination } = (await answer.json()) as { pagination: { next_cursor: string | null } };
    if (!pagination.next_cursor) throw new Error(`the list ended on page ${page}`);
    url = `${first}&cursor=${encodeURIComponent(pagination.next_cursor)}`;
  }
  return url;
}

/** Sends one request over a keep-alive connection and returns its duration (ms). */
function once(agent: Agent, url: string, headers: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - startedAt)
          : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    })
      .on('error', reject)
      .end();
  });
}
