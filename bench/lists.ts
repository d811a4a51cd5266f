import { startApi } from '../api/servers/api.ts';
import { fullPath, type AnyRoute } from '../api/http/route.ts';
import { routes } from '../api/routes.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createTenant } from '../test/harness/factories.ts';
import type { World } from '../test/harness/world.ts';
import { makeRows } from '../test/suites/foreign-ids.ts';
import { isList, rowOf, rowsIn } from '../test/suites/lists.ts';
import { wellFormed } from '../test/suites/walk.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { requestCount } from './load.ts';
import { alternate, median } from './measure.ts';
import { cpuOf, readTree } from './process-tree.ts';

const ROWS = 25;
const CONNECTIONS = 8;
const WARM_UP = 200;
/** Share of the requests per second of processor time that plain Koa and pg answer. */
const TARGET = 0.75;

interface List {
  spec: AnyRoute;
  url: string;
  token: string;
  rows: number;
  queries: { sql: string; bindings: unknown[] }[];
}

/**
 * Compares every list of the registry with more than 20 rows to plain Koa and pg with the same statements. The figure
 * is the processor time of the server and of PostgreSQL per request.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { stack, quick, log } = context;
  const requests = quick ? 100 : 600;
  const rounds = quick ? 1 : 3;
  const lists = await fill(context);
  const bare = await context.helper('bare-list', {
    QUERIES: JSON.stringify(Object.fromEntries(lists.map(({ spec, queries }) => [spec.operationId, queries]))),
  });
  const heron = stack.processes.serve.pid;
  const load = (url: string, count: number, token: string): Promise<void> =>
    requestCount(url, { connections: CONNECTIONS, count, headers: { authorization: `Bearer ${token}` } });
  /** Returns the processor time (ms) per request of a server and of PostgreSQL. */
  const cost = async (url: string, pid: number | undefined, token = ''): Promise<number> => {
    const cpu = () =>
      cpuOf(readTree(process.pid).filter((each) => each.pid === pid || /\bpostgres/.test(each.command))) * 1_000;
    const before = cpu();
    await load(url, requests, token);
    return (cpu() - before) / requests;
  };
  const raw: Record<string, Record<'heron' | 'bare', number[]>> = {};
  for (const { spec, url, token } of lists) {
    // The first answers of a route are all checked against its schema.
    await load(url, WARM_UP, token);
    const other = `http://127.0.0.1:${bare.port}/${spec.operationId}`;
    raw[spec.operationId] = await alternate(
      rounds,
      { heron: () => cost(url, heron, token), bare: () => cost(other, bare.pid) },
      () => undefined,
    );
    log(`${spec.operationId}: ${describe(raw[spec.operationId]!)}`);
  }
  const shares = Object.values(raw).map(shareOf);
  const met = shares.filter((share) => share >= TARGET).length;
  return {
    figures: [
      ...Object.entries(raw)
        .toSorted(([, a], [, b]) => shareOf(a) - shareOf(b))
        .map(([label, values]) => ({ label, value: describe(values) })),
      { label: 'median of all lists', value: percent(median(shares)) },
    ],
    targets: [
      {
        what: `lists of more than 20 rows, against Koa and pg with the same statements (${shares.length})`,
        target: `all >= ${percent(TARGET)}`,
        got: `${met} of them`,
        met: met === shares.length,
      },
    ],
    raw,
  };
}

function shareOf({ heron, bare }: Record<'heron' | 'bare', number[]>): number {
  return median(bare) / median(heron);
}

function describe(values: Record<'heron' | 'bare', number[]>): string {
  const ms = (each: number[]) => `${median(each).toFixed(2)} ms`;
  return `${percent(shareOf(values))}: ${ms(values.heron)} against ${ms(values.bare)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

/** Fills each list in a workspace of its own, and records the statements of its answer. */
async function fill({ assembly, stack, log }: BenchContext): Promise<List[]> {
  const { deps } = assembly;
  const own = await startApi(deps, createMetrics(), { port: 0 });
  const world = {
    deps,
    url: own.url,
    tenant: (name?: string) => createTenant(deps, name),
    system: (organizationId: string) => systemCtx(deps, organizationId, 'bench'),
  } as unknown as World;
  const lists: List[] = [];
  for (const spec of routes.filter((each) => each.method === 'get' && each.scope !== 'public' && isList(each))) {
    const make = rowOf(spec);
    if (!make) continue;
    const tenant = await world.tenant();
    const parents = await makeRows(spec.path, world, tenant);
    for (let made = 0; made < ROWS; made += 1) await make({ world, tenant, parents: { ...parents } });
    const path = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => parents[name]!);
    const query = new URLSearchParams({
      ...wellFormed(spec).query,
      ...('limit' in (spec.query?.shape ?? {}) && { limit: '50' }),
    });
    const token = spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey;
    const ask = () => fetch(`${own.url}${path}?${query}`, { headers: { authorization: `Bearer ${token}` } });
    // The first request also reads the credential.
    await (await ask()).text();
    const queries: List['queries'] = [];
    const note = ({ sql, bindings }: List['queries'][number]): void => void queries.push({ sql, bindings });
    deps.db.on('query', note);
    const answer = await ask();
    const body = await answer.json();
    deps.db.removeListener('query', note);
    const rows = rowsIn({ body });
    const reads = queries.filter(
      ({ sql }) => /^\s*(?:select|with)\b/i.test(sql) && !/set_config|api_key_usage|rate_limit/i.test(sql),
    );
    if (!answer.ok || rows === undefined || rows <= 20 || reads.length === 0) {
      log(`${spec.operationId} is left out: ${answer.status}, ${rows} rows, ${reads.length} statements`);
      continue;
    }
    lists.push({ spec, url: `${stack.urls.api}${path}?${query}`, token, rows, queries: reads });
  }
  await own.close();
  return lists;
}
