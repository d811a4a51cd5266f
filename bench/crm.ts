import { searchDeals, summarizeDeals, type DealSearch } from '../domain/crm/deal-search.ts';
import { listPipelines } from '../domain/crm/pipelines.ts';
import { searchTasks, summarizeTasks, type TaskSearch } from '../domain/crm/task-search.ts';
import { systemCtx } from '../domain/platform/kernel/context.ts';
import { newId } from '../lib/ids.ts';
import { createCampaign, createMember, createTenant } from '../test/harness/factories.ts';
import type { TestDeps } from '../test/harness/database.ts';
import { openSeries } from './measure.ts';
import type { BenchContext, BenchResult } from './context.ts';

const PAGE = 50;
const CHUNK = 100_000;
const TARGET_MS = 100;
const STAGES = 8;
const MEMBERS = 20;
const CAMPAIGNS = 40;
const DAY_MS = 86_400_000;

/**
 * Measures searches over many deals and tasks of one workspace, each with its exact total: every filter, every order,
 * and late pages.
 */
export async function run({ assembly, quick, log }: BenchContext): Promise<BenchResult> {
  const rows = quick ? 20_000 : 1_000_000;
  return measureCrm(assembly.deps, await fillCrm(assembly.deps, rows, log), rows, quick ? 5 : 20, log);
}

interface Filled {
  organizationId: string;
  pipelineId: string;
  stageIds: string[];
  memberIds: string[];
  campaignIds: string[];
}

/** Measures the workspace of {@link fillCrm}; each search runs several times with different values. */
async function measureCrm(
  deps: TestDeps,
  filled: Filled,
  rows: number,
  rounds: number,
  log: (line: string) => void,
): Promise<BenchResult> {
  const ctx = systemCtx(deps, filled.organizationId, 'bench');
  const known = [{ label: 'deals, and as many tasks', value: String(rows) }];
  const { figures, raw, measure, p95 } = openSeries(rounds, known, log);
  for (const [what, search] of Object.entries(dealSearches(filled)))
    await measure(`deals: ${what}`, (round) => searchDeals(ctx, { limit: PAGE }, search(round)));
  for (const [what, search] of Object.entries(taskSearches(filled)))
    await measure(`tasks: ${what}`, (round) => searchTasks(ctx, { limit: PAGE }, search(round)));
  let cursor: string | undefined;
  await measure('deals: page after page by value', async () => {
    cursor = (await searchDeals(ctx, { limit: PAGE, cursor }, { sort_by: 'value' })).nextCursor ?? undefined;
  });
  await measure('summary: of all deals', () => summarizeDeals(ctx, {}));
  await measure('summary: of all tasks', () => summarizeTasks(ctx, {}));
  await measure('pipelines with the number of deals', () => listPipelines(ctx));
  const target = (series: string) => ({
    what: `searches over ${rows} ${series}, p95 of all`,
    target: `under ${TARGET_MS} ms`,
    got: `${p95(series).toFixed(1)} ms`,
    met: p95(series) < TARGET_MS,
  });
  return { figures, targets: [target('deals'), target('tasks')], raw };
}

const days = (count: number): Date => new Date(Date.now() + count * DAY_MS);

function dealSearches({
  pipelineId,
  stageIds,
  memberIds,
  campaignIds,
}: Filled): Record<string, (round: number) => DealSearch> {
  const stage = (round: number) => [stageIds[round % STAGES]!];
  const member = (round: number) => [memberIds[round % MEMBERS]!];
  return {
    'all, newest': () => ({}),
    'all, by value': () => ({ sort_by: 'value' }),
    'all, by name': () => ({ sort_by: 'name', reverse: true }),
    'all, by closing date': () => ({ sort_by: 'expected_close_date' }),
    'open ones of a pipeline': () => ({ statuses: ['open'], pipeline_ids: [pipelineId] }),
    'a stage, by value': (round) => ({ stage_ids: stage(round), statuses: ['open'], sort_by: 'value' }),
    'a member': (round) => ({ assigned_to: member(round) }),
    'a member, by closing date': (round) => ({
      assigned_to: member(round),
      sort_by: 'expected_close_date',
      reverse: true,
    }),
    'won from a campaign': (round) => ({ statuses: ['won'], campaign_ids: [campaignIds[round % CAMPAIGNS]!] }),
    'one company': (round) => ({ query: `company ${4_000 + round * 37} ` }),
    'a word in one of a thousand': (round) => ({ query: `plan${500 + round}` }),
    'a word in one of a thousand, by value': (round) => ({ query: `plan${500 + round}`, sort_by: 'value' }),
    'a word of a stage': (round) => ({ query: `plan${600 + round}`, stage_ids: stage(round) }),
    'a word that does not occur': (round) => ({ query: `nothing${round}` }),
    'the largest values': (round) => ({ min_value: 99_000 + round, sort_by: 'value' }),
    'a range of values in a stage': (round) => ({
      min_value: 1_000 * round,
      max_value: 1_000 * round + 5_000,
      stage_ids: stage(round),
    }),
    'closing this month': () => ({ close_after: days(0), close_before: days(30), statuses: ['open'] }),
    'closing this week, of a member': (round) => ({
      close_after: days(0),
      close_before: days(7),
      assigned_to: member(round),
    }),
    'made in the last week': () => ({ created_after: days(-7) }),
    'made in a month': (round) => ({ created_after: days(-60 - round), created_before: days(-30 - round) }),
  };
}

function taskSearches({ memberIds }: Filled): Record<string, (round: number) => TaskSearch> {
  const member = (round: number) => [memberIds[round % MEMBERS]!];
  return {
    'all, newest': () => ({}),
    'all, by due date': () => ({ sort_by: 'due_date', reverse: true }),
    'all, by priority': () => ({ sort_by: 'priority' }),
    'all, by title': () => ({ sort_by: 'title', reverse: true }),
    pending: () => ({ statuses: ['pending'] }),
    'urgent and open, by due date': () => ({
      priorities: ['urgent'],
      statuses: ['pending', 'in_progress'],
      sort_by: 'due_date',
    }),
    'calls of a member': (round) => ({ types: ['Call'], assigned_to: member(round) }),
    'a member, by due date': (round) => ({ assigned_to: member(round), sort_by: 'due_date', reverse: true }),
    'a word in one of a thousand': (round) => ({ query: `plan${500 + round}` }),
    'a word that does not occur': (round) => ({ query: `nothing${round}` }),
    'overdue of a member': (round) => ({
      overdue: true,
      assigned_to: member(round),
      sort_by: 'due_date',
      reverse: true,
    }),
    overdue: () => ({ overdue: true, sort_by: 'due_date', reverse: true }),
    'overdue, newest': () => ({ overdue: true }),
    'overdue, by priority': () => ({ overdue: true, sort_by: 'priority' }),
    'due this week': () => ({ due_after: days(0), due_before: days(7), sort_by: 'due_date', reverse: true }),
    'due today, of a member': (round) => ({ due_after: days(0), due_before: days(1), assigned_to: member(round) }),
  };
}

/**
 * Creates a workspace with deals and tasks from two years: one pipeline, 20 members, 40 campaigns. A fifth of the deals
 * is won, a fifth lost; 70 % of the tasks are completed, and 1 % overdue.
 */
async function fillCrm(deps: TestDeps, rows: number, log: (line: string) => void): Promise<Filled> {
  const { db } = deps;
  const tenant = await createTenant(deps, 'Bench');
  const { organizationId } = tenant;
  const times = { organization_id: organizationId, created_at: new Date(), updated_at: new Date() };
  const pipelineId = newId();
  await db('crm_pipelines').insert({ id: pipelineId, name: 'Sales', position: 1, ...times });
  const stageIds = Array.from({ length: STAGES }, () => newId());
  await db('crm_stages').insert(
    stageIds.map((id, index) => ({
      id,
      pipeline_id: pipelineId,
      name: `Stage ${index}`,
      color: '#0ea5e9',
      position: index + 1,
      ...times,
    })),
  );
  const memberIds: string[] = [];
  for (let n = 0; n < MEMBERS; n += 1) memberIds.push((await createMember(deps, tenant, 'Member')).userId);
  const campaignIds: string[] = [];
  for (let n = 0; n < CAMPAIGNS; n += 1)
    campaignIds.push((await createCampaign(deps, organizationId, [{ subject: 'Hi' }])).campaignId);
  const { rows: indexes } = (await db.raw(
    `select indexname, indexdef from pg_indexes where tablename in ('crm_deals', 'crm_tasks') and indexname not like '%pkey'`,
  )) as { rows: { indexname: string; indexdef: string }[] };
  await db.raw(`drop index ${indexes.map(({ indexname }) => indexname).join(', ')}`);
  const id = (digit: number) =>
    `cast(lpad(to_hex(1700000000000 + i), 12, '0') || '7${digit}00a' || lpad(to_hex(i), 15, '0') as uuid)`;
  log(`writing ${rows} deals and tasks`);
  for (let from = 0; from < rows; from += CHUNK) {
    const span = { org: organizationId, from, to: Math.min(from + CHUNK, rows), second: (2 * 365 * 86_400) / rows };
    await db.raw(
      `insert into crm_deals (id, organization_id, pipeline_id, stage_id, name, value_minor, value_scaled, currency, status, expected_close_date, won_at, lost_at,
         assigned_to, campaign_id, created_at, updated_at)
       select ${id(1)}, :org, :pipeline, (cast(:stages as uuid[]))[1 + floor(random() * ${STAGES})], 'Company ' || i || ' plan' || floor(random() * 1000),
         value, value * 100, 'USD', state, case when random() < 0.8 then now() + make_interval(days => cast(random() * 500 - 300 as int)) end,
         case when state = 'won' then made end, case when state = 'lost' then made end, (cast(:members as uuid[]))[1 + floor(random() * ${MEMBERS})],
         case when random() < 0.5 then (cast(:campaigns as uuid[]))[1 + floor(random() * ${CAMPAIGNS})] end, made, made
       from (select i, cast(random() * 10000000 as bigint) as value, (array['open', 'open', 'open', 'won', 'lost'])[1 + i % 5] as state,
         now() - make_interval(secs => (:total - i) * cast(:second as float)) as made from generate_series(cast(:from as int) + 1, cast(:to as int)) as i) d`,
      { ...span, total: rows, pipeline: pipelineId, stages: stageIds, members: memberIds, campaigns: campaignIds },
    );
    await db.raw(
      `insert into crm_tasks (id, organization_id, title, priority, type, status, due_date, completed_at, assigned_to, created_at, updated_at)
       select ${id(2)}, :org, 'Call company ' || i || ' about plan' || floor(random() * 1000), (array['low', 'medium', 'medium', 'high', 'urgent'])[1 + floor(random() * 5)],
         (array['To-do', 'Call', 'Email', 'Meeting', 'Follow-up'])[1 + floor(random() * 5)], state,
         case when state in ('completed', 'cancelled') then made when random() < 0.04 then now() - interval '1 day' else now() + make_interval(days => cast(random() * 90 as int)) end,
         case when state = 'completed' then made end, (cast(:members as uuid[]))[1 + floor(random() * ${MEMBERS})], made, made
       from (select i, (array['pending', 'pending', 'in_progress', 'completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'cancelled'])[1 + i % 10] as state,
         now() - make_interval(secs => (:total - i) * cast(:second as float)) as made from generate_series(cast(:from as int) + 1, cast(:to as int)) as i) d`,
      { ...span, total: rows, members: memberIds },
    );
  }
  log('indexing');
  await db.transaction(async (trx) => {
    await trx.raw(`set local maintenance_work_mem = '256MB'`);
    for (const { indexdef } of indexes) await trx.raw(indexdef);
  });
  await db.raw('select crm_fold_deal_counts(?), crm_fold_task_counts(?)', [organizationId, organizationId]);
  for (const table of ['crm_deals', 'crm_tasks', 'crm_deal_counts', 'crm_task_counts'])
    await db.raw(`vacuum analyze ${table}`);
  log('searching');
  return { organizationId, pipelineId, stageIds, memberIds, campaignIds };
}
