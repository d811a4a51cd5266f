import { fillLists } from '../test/suites/filled-lists.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { requestCount } from './load.ts';
import { alternate, median } from './measure.ts';
import { cpuOf, readTree } from './process-tree.ts';

const CONNECTIONS = 8;
/** Requests before the measurement, so that both sides run compiled code. The first answers of a route are also all validated. */
const WARM_UP = 1_000;
/** Target: minimum ratio between the requests per second of processor time of Heron and those of plain Koa and pg. */
const TARGET = 0.75;

/**
 * Compares every list of the registry that has more than 20 rows to plain Koa and pg with the same statements. The
 * figure is the processor time per request of the server and of PostgreSQL.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const { assembly, stack, quick, log } = context;
  const requests = quick ? 100 : 600;
  const warmUp = quick ? 200 : WARM_UP;
  const rounds = quick ? 1 : 3;
  const lists = await fillLists(assembly.deps, log);
  const bare = await context.helper('bare-list', {
    QUERIES: JSON.stringify(Object.fromEntries(lists.map(({ operationId, queries }) => [operationId, queries]))),
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
  for (const { operationId, path, token } of lists) {
    const url = `${stack.urls.api}${path}`;
    const other = `http://127.0.0.1:${bare.port}/${operationId}`;
    await load(url, warmUp, token);
    await load(other, warmUp, '');
    raw[operationId] = await alternate(
      rounds,
      { heron: () => cost(url, heron, token), bare: () => cost(other, bare.pid) },
      () => undefined,
    );
    log(`${operationId}: ${describe(raw[operationId]!)}`);
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
