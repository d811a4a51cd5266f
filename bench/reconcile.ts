import { setTimeout as sleep } from 'node:timers/promises';
import { across } from '../db/across.ts';
import { FAMILIES } from '../activities/index.ts';
import { reconcile, reconciledFamilies, type FamilyReport } from '../domain/operations/system/reconcile.ts';
import { ZERO_UUID } from '../lib/ids.ts';
import { silentLogger } from '../lib/log.ts';
import { createWorkflowGateway } from '../temporal/client.ts';
import type { WorkflowGateway } from '../temporal/dispatch.ts';
import { createIntentSender, startRelay } from '../temporal/relay.ts';
import type { RawDb } from '../test/harness/database.ts';
import { timed } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

/** Number of deliveries in a webhook batch, and in the batch of a busy endpoint. */
const BATCH = 100;
/** Number of workflow starts per second in the part that uses Temporal. */
const RATE = 50;

/**
 * Measures the search for missing workflows among very many rows: if all workflows are open, if all are missing, and
 * the rate of starts.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rows = context.quick ? 5_000 : 100_000;
  const { assembly, stack, log } = context;
  const { db, config } = assembly.deps;
  // Stops the worker, whose own sweep and relay would start workflows too.
  await stack.processes.worker.stop();
  await fill(db, rows);
  log(`${rows} rows of each family are there`);
  const plans = await explainPages(db);
  const expected = await expectedRuns(db);
  const ask = (open: ReadonlyMap<string, readonly string[]>) => ({
    db,
    log: silentLogger,
    families: FAMILIES,
    workflows: openRunsOnly(open),
  });

  const counted = await statementCounter(db);
  let healthy: FamilyReport[] = [];
  const healthyMs = await timed(async () => (healthy = await reconcile(ask(expected))));
  const healthyStatements = await counted();
  const checked = sum(healthy, 'checked');
  log(`nothing missing: ${checked} runs in ${healthyMs.toFixed(0)} ms`);

  await counted();
  let lost: FamilyReport[] = [];
  const lostMs = await timed(async () => (lost = await reconcile(ask(new Map()), { ratePerSecond: Infinity })));
  const lostStatements = await counted();
  log(`everything missing: ${sum(lost, 'missing')} runs in ${lostMs.toFixed(0)} ms`);
  const again = await reconcile(ask(new Map()), { dryRun: true });
  await db.raw('truncate outbox');

  // The development server cannot list open workflows, so each workflow is queried individually, as after a loss of
  // Temporal's storage.
  const workflows = createWorkflowGateway(assembly.temporal, config, silentLogger, db);
  const clear = 'truncate enrollments, campaigns, contact_imports, webhook_deliveries, webhook_endpoints cascade';
  await db.raw(clear);
  await fillImports(db, rows / 10);
  let asked: FamilyReport[] = [];
  const askedMs = await timed(
    async () => (asked = await reconcile({ db, workflows, families: FAMILIES, log: silentLogger }, { dryRun: true })),
  );
  log(`asked about ${sum(asked, 'missing')} runs in ${askedMs.toFixed(0)} ms`);
  const few = RATE * 6;
  await db.raw(clear);
  await fillImports(db, few);
  const relay = await startRelay({
    db,
    databaseUrl: config.PRIMARY_DB,
    carry: createIntentSender(assembly.temporal, config.TEMPORAL_TASK_QUEUE),
    log: silentLogger,
  });
  const startedAt = performance.now();
  await reconcile({ db, workflows, families: FAMILIES, log: silentLogger }, { ratePerSecond: RATE });
  while ((await db('outbox').first('id')) !== undefined) await sleep(20);
  const ratedMs = performance.now() - startedAt;
  await relay.stop();
  const { count: open } = await assembly.temporal.workflow.count(`ExecutionStatus = 'Running'`);

  const perThousand = (ms: number, of: number) => `${((ms / of) * 1_000).toFixed(1)} ms per 1,000`;
  return {
    figures: [
      ...plans.map(({ family, ms, lines }) => ({
        label: `page of 1,000 of ${family}, from the middle`,
        value: `${ms} ms${lines.some((line) => line.includes('Seq Scan')) ? ', reads a whole table' : ''}`,
      })),
      {
        label: `nothing missing: ${checked} runs of ${healthy.length} families, Temporal's answers given`,
        value: `${(healthyMs / 1000).toFixed(1)} s (${perThousand(healthyMs, checked)}), ${healthyStatements} statements`,
      },
      {
        label: `everything missing: ${sum(lost, 'missing')} starts written, no rate, Temporal's answers given`,
        value: `${(lostMs / 1000).toFixed(1)} s (${perThousand(lostMs, checked)}), ${lostStatements} statements`,
      },
      {
        label: `everything missing, the development server asked about each, nothing started: ${sum(asked, 'missing')} runs`,
        value: `${(askedMs / 1000).toFixed(1)} s (${perThousand(askedMs, sum(asked, 'checked'))})`,
      },
      {
        label: `${few} missing imports at ${RATE}/s, until Temporal has them`,
        value: `${(ratedMs / 1000).toFixed(1)} s (${((few / ratedMs) * 1000).toFixed(0)}/s), ${open} open`,
      },
    ],
    targets: [
      {
        what: 'no page reads a whole table',
        target: '0',
        got: String(plans.filter(({ lines }) => lines.some((line) => line.includes('Seq Scan'))).length),
        met: plans.every(({ lines }) => !lines.some((line) => line.includes('Seq Scan'))),
      },
      {
        what: 'a second look while the starts wait in the outbox finds nothing',
        target: '0',
        got: String(sum(again, 'missing')),
        met: sum(again, 'missing') === 0,
      },
      {
        what: 'starts per second at Temporal',
        target: `<= ${RATE}`,
        got: ((few / ratedMs) * 1000).toFixed(1),
        met: few / ratedMs <= RATE / 1000,
      },
    ],
    raw: { rows, healthy, lost, healthyMs, lostMs, askedMs, ratedMs, plans },
  };
}

const sum = (reports: readonly FamilyReport[], what: 'checked' | 'missing') =>
  reports.reduce((total, report) => total + report[what], 0);

/**
 * Inserts rows of each family whose workflow must be open, and the same number whose workflow has ended. Half of the
 * active contacts belong to one paused campaign.
 */
async function fill(db: RawDb, rows: number): Promise<void> {
  const organization = `md5('organization' || n % 10)::uuid`;
  const campaign = (n: string) => `md5('campaign' || (${n}))::uuid`;
  await db.transaction(async (trx) => {
    // Disables foreign keys, so that the rows need no contacts, steps and events.
    await trx.raw('set local session_replication_role = replica');
    const insert = (sql: string, from = 0) =>
      trx.raw(`${sql} from generate_series(${from}, ${from + 2 * rows - 1}) n`.replaceAll('?', '\\?'));
    await insert(`insert into campaigns (id, organization_id, name, status, idle_since, control_epoch, created_at, updated_at)
      select ${campaign('n')}, ${organization}, 'c', case when n % 2 = 0 then 'active' else 'paused' end,
        case when n % 20 = 0 then now() end, 3, now(), now()`);
    await insert(`insert into enrollments (id, organization_id, campaign_id, contact_id, state, signalled_epoch, entered_at, last_activity_at)
      select gen_random_uuid(), ${organization}, ${campaign(`case when n % 4 = 0 then 1 else n % 2000 end`)}, gen_random_uuid(),
        case when n % 2 = 0 then 'active' else 'completed' end, 3, now(), now()`);
    await insert(`insert into webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type, batch_id, status, created_at, updated_at)
      select gen_random_uuid(), ${organization}, md5('e' || n % 50)::uuid, gen_random_uuid(), 'contact.created',
        case when n % 4 = 0 then md5('e' || n % 50)::uuid else md5('batch' || n / ${BATCH})::uuid end,
        case when n % 2 = 0 then 'pending' else 'delivered' end, now(), now()`);
    await insert(
      `insert into webhook_deliveries (id, organization_id, endpoint_id, event_id, event_type, batch_id, status, created_at, updated_at)
      select gen_random_uuid(), ${organization}, md5('e' || n % 50)::uuid, gen_random_uuid(), 'contact.created', null,
        case when n % 2 = 0 then 'failed' else 'delivered' end, now(), now()`,
      2 * rows,
    );
    await insert(`insert into webhook_endpoints (id, organization_id, url, description, challenging, created_at, updated_at)
      select md5('e' || n)::uuid, ${organization}, 'https://example.com', '', n % 2 = 0, now(), now()`);
  });
  await fillImports(db, rows);
  for (const table of ['campaigns', 'enrollments', 'webhook_deliveries', 'webhook_endpoints', 'contact_imports'])
    await db.raw(`vacuum analyze ${table}`);
}

async function fillImports(db: RawDb, rows: number): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw(
      `insert into contact_imports (id, organization_id, status, filename, created_at, updated_at)
       select gen_random_uuid(), md5('organization' || n % 10)::uuid, case when n % 2 = 0 then 'queued' else 'completed' end, 'f', now(), now()
       from generate_series(0, ${2 * rows - 1}) n`,
    );
  });
}

async function explainPages(db: RawDb): Promise<{ family: string; ms: string; lines: string[] }[]> {
  const plans = [];
  for (const { contract, mustBeOpen } of reconciledFamilies({ families: FAMILIES })) {
    const { rows } = await across(db, 'operator').run<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers) ${mustBeOpen.pageSql}`,
      {
        after: '80000000-0000-0000-0000-000000000000',
        limit: 1_000,
      },
    );
    const lines = rows.map((row) => row['QUERY PLAN']);
    plans.push({ family: contract.kind, ms: /Execution Time: ([\d.]+) ms/.exec(lines.join('\n'))?.[1] ?? '?', lines });
  }
  return plans;
}

/** Returns the ids of workflows that must be open, by workflow type. */
async function expectedRuns(db: RawDb): Promise<Map<string, string[]>> {
  const all = new Map<string, string[]>();
  for (const { contract, mustBeOpen } of reconciledFamilies({ families: FAMILIES })) {
    const ids: string[] = [];
    for (let after = ZERO_UUID; ;) {
      const page = await mustBeOpen.page(db, after, 10_000);
      ids.push(...page.map(({ intent }) => intent.workflowId));
      if (page.length < 10_000) break;
      after = page.at(-1)!.position;
    }
    all.set(contract.type, ids);
  }
  return all;
}

/** Temporal stub that returns the open workflows immediately. */
function openRunsOnly(open: ReadonlyMap<string, readonly string[]>): WorkflowGateway {
  const all = new Set([...open.values()].flat());
  return {
    async *openRuns({ type }, { from, to }) {
      yield (open.get(type) ?? []).filter((id) => from <= id && id <= to);
    },
    endRunsOf: () => Promise.resolve(0),
    isOpen: (id) => Promise.resolve(all.has(id)),
    failingRuns: () => Promise.resolve([]),
    execute: () => Promise.reject(new Error('not asked here')),
    health: () => Promise.reject(new Error('not asked here')),
  };
}

/** Returns a function that counts the statements since its last call. */
async function statementCounter(db: RawDb): Promise<() => Promise<number>> {
  await db.raw('create extension if not exists pg_stat_statements');
  await db.raw('select pg_stat_statements_reset()');
  return async () => {
    const { rows } = (await db.raw('select sum(calls)::int as calls from pg_stat_statements')) as {
      rows: { calls: number }[];
    };
    await db.raw('select pg_stat_statements_reset()');
    return rows[0]!.calls;
  };
}
