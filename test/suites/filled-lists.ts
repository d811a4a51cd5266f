import { startApi } from '../../api/servers/api.ts';
import { fullPath } from '../../api/http/route.ts';
import { routes } from '../../api/routes.ts';
import { systemCtx } from '../../domain/platform/kernel/context.ts';
import { createMetrics } from '../../lib/metrics.ts';
import type { TestDeps } from '../harness/database.ts';
import { createTenant } from '../harness/factories.ts';
import type { World } from '../harness/world.ts';
import { makeRows } from './foreign-ids.ts';
import { isList, rowOf, rowsIn } from './lists.ts';
import { wellFormed } from './walk.ts';

const ROWS = 25;

/** List with more than 20 rows. */
interface FilledList {
  operationId: string;
  /** Path with its query; `token` is the credential. */
  path: string;
  token: string;
  /** Statements that read the list's rows. */
  queries: { sql: string; bindings: unknown[] }[];
}

/** Fills each list in a workspace of its own, and records the statements that one request executes. */
export async function fillLists(deps: TestDeps, log: (line: string) => void): Promise<FilledList[]> {
  const own = await startApi(deps, createMetrics(), { port: 0 });
  const world = {
    deps,
    url: own.url,
    tenant: (name?: string) => createTenant(deps, name),
    system: (organizationId: string) => systemCtx(deps, organizationId, 'bench'),
  } as unknown as World;
  const lists: FilledList[] = [];
  for (const spec of routes.filter((each) => each.method === 'get' && each.scope !== 'public' && isList(each))) {
    const make = rowOf(spec);
    if (!make) continue;
    const tenant = await world.tenant();
    const parents = await makeRows(spec.path, world, tenant);
    for (let made = 0; made < ROWS; made += 1) await make({ world, tenant, parents: { ...parents } });
    const query = new URLSearchParams({
      ...wellFormed(spec).query,
      ...('limit' in (spec.query?.shape ?? {}) && { limit: '50' }),
    });
    const filled = fullPath(spec).replace(/:([A-Za-z]+)/g, (_, name: string) => parents[name]!);
    const path = `${filled}?${query.toString()}`;
    const token = spec.scope === 'session' ? tenant.sessionToken : tenant.apiKey;
    const ask = () => fetch(`${own.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    // Makes a first request, which also reads the credential, so that the second executes only the list's statements.
    await (await ask()).text();
    const queries: FilledList['queries'] = [];
    const note = ({ sql, bindings }: FilledList['queries'][number]): void => void queries.push({ sql, bindings });
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
    lists.push({ operationId: spec.operationId, path, token, queries: reads });
  }
  await own.close();
  return lists;
}
