import type { OrgScope } from '../../../db/tenancy.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { bindingsOf, inCohort, inWindow, MATURE, type Cohort, type SendCounts } from './cohort-conditions.ts';
import { groupingKeyOf, joinsOf, KEYS, namesOf, type Dimension } from './dimensions.ts';
import { countStoredSends } from './stored-sends.ts';
import { primaryGoals, revenueGoal, type PrimaryGoals } from './primary-goals.ts';
import { spendOf, type Spend } from './spend.ts';

export const STAGES = ['replied', 'positive_reply', 'signup', 'activation', 'paid'] as const;
type Stage = (typeof STAGES)[number];

/** Stages that are reached by the primary goal of the same name. */
const GOAL_STAGES = ['signup', 'activation', 'paid'] as const;

/** Number of prospects who reached a stage. */
export interface StageCount {
  stage: Stage;
  /** Id of the primary goal of the stage. Null for replies, and if the stage has no primary goal. */
  goalId: string | null;
  people: number;
  /** Number of prospects who reached the stage after a send whose window has closed. */
  maturePeople: number;
}

interface Money {
  currency: string;
  amountMinor: number;
  conversions: number;
}

/** Figures of a report, for all confirmed sends or for one group. */
export interface CohortRow {
  key: string | null;
  /** Name of the group. Null for a deleted record, and for sends without a group. */
  name: string | null;
  confirmedSends: number;
  matureSends: number;
  prospects: number;
  stages: StageCount[];
  windowRevenue: Money[];
  spend: Spend | null;
}

/** Maximum number of groups in a breakdown; the largest ones are kept. */
const MAX_GROUPS = 500;

/**
 * Returns the figures of all confirmed sends of a cohort (GET /acquisition/summary).
 * @throws AppError not_found for a campaign that is unknown or of another organization
 */
export async function readSummary(ctx: Ctx, asked: Cohort): Promise<CohortRow> {
  const org = reader(ctx);
  const cohort = await ofKnownCampaign(org, asked);
  const [row] = await readGroups(ctx, cohort, 'all');
  const spend = cohort.campaignId ? await spendOf(org, [cohort.campaignId]) : new Map<string, Spend>();
  return {
    ...(row ?? emptyRow(await primaryGoals(org))),
    spend: spend.get(cohort.campaignId ?? '') ?? null,
  };
}

/**
 * Returns the figures of confirmed sends by group (GET /acquisition/breakdown), groups with most sends first. A
 * prospect in several groups is counted in each.
 * @throws AppError not_found as {@link readSummary}
 */
export async function readBreakdown(
  ctx: Ctx,
  asked: Cohort,
  dimension: Dimension,
): Promise<{ rows: CohortRow[]; truncated: boolean }> {
  const org = reader(ctx);
  const cohort = await ofKnownCampaign(org, asked);
  const groups = await readGroups(ctx, cohort, dimension);
  const rows = groups.slice(0, MAX_GROUPS);
  const keys = rows.map(({ key }) => key);
  const [names, spend] = await Promise.all([
    namesOf(org, dimension, keys),
    dimension === 'campaign'
      ? spendOf(
          org,
          keys.filter((key) => key !== null),
        )
      : new Map<string, Spend>(),
  ]);
  return {
    rows: rows.map((row) => ({
      ...row,
      name: dimension === 'all' ? null : (names.get(row.key ?? '') ?? null),
      spend: spend.get(row.key ?? '') ?? null,
    })),
    truncated: groups.length > rows.length,
  };
}

/**
 * Checks that the organization has the campaign of a cohort or filter, and returns the cohort or filter.
 * @throws AppError not_found
 */
export async function ofKnownCampaign<T extends { campaignId?: string | undefined }>(
  org: OrgScope,
  asked: T,
): Promise<T> {
  return asked.campaignId === undefined
    ? asked
    : { ...asked, campaignId: (await findCampaign(org, asked.campaignId)).id };
}

type Key = { key: string | null };
type ReplyCounts = Key & Record<'replied' | 'replied_mature' | 'positive' | 'positive_mature', number>;
type GoalCounts = Key & { goal_id: string; people: number; mature: number; currency: null };
type Revenue = Key & { currency: string; amount: number; conversions: number };

async function readGroups(ctx: Ctx, cohort: Cohort, dimension: Dimension): Promise<CohortRow[]> {
  const org = reader(ctx).withoutKeptPlans();
  const now = ctx.clock.now();
  const goals = await primaryGoals(reader(ctx));
  const [sends, replies, { reached, revenue }] = await Promise.all([
    countSends(ctx, now, cohort, dimension),
    countReplies(org, now, cohort, dimension),
    countConverted(org, now, cohort, dimension, goals),
  ]);
  const repliesOf = new Map(replies.map((row) => [row.key, row]));
  return sends
    .sort((a, b) => b.confirmed - a.confirmed || ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
    .map(({ key, confirmed, mature, prospects }) => {
      const reply = repliesOf.get(key);
      return {
        key,
        name: null,
        confirmedSends: confirmed,
        matureSends: mature,
        prospects,
        stages: [
          { stage: 'replied', goalId: null, people: reply?.replied ?? 0, maturePeople: reply?.replied_mature ?? 0 },
          {
            stage: 'positive_reply',
            goalId: null,
            people: reply?.positive ?? 0,
            maturePeople: reply?.positive_mature ?? 0,
          },
          ...GOAL_STAGES.map((stage): StageCount => {
            const goalId = goals[stage] ?? null;
            const row = reached.find((each) => each.key === key && each.goal_id === goalId);
            return { stage, goalId, people: row?.people ?? 0, maturePeople: row?.mature ?? 0 };
          }),
        ],
        windowRevenue: revenue
          .filter((row) => row.key === key)
          .map(({ currency, amount, conversions }) => ({ currency, amountMinor: amount, conversions })),
        spend: null,
      };
    });
}

function emptyRow(goals: PrimaryGoals): CohortRow {
  return {
    key: 'all',
    name: null,
    confirmedSends: 0,
    matureSends: 0,
    prospects: 0,
    stages: STAGES.map((stage) => ({
      stage,
      goalId: (stage in goals && goals[stage as keyof PrimaryGoals]) || null,
      people: 0,
      maturePeople: 0,
    })),
    windowRevenue: [],
    spend: null,
  };
}

/**
 * Memory (MiB) for sorting a month's sends and counting distinct prospects. With less, PostgreSQL chooses a plan that
 * reads all sends.
 */
const DISTINCT_MIB = 64;

/** Counts sends: adds up stored counts if they suffice, otherwise counts the emails. */
async function countSends(ctx: Ctx, now: Date, cohort: Cohort, dimension: Dimension): Promise<SendCounts[]> {
  const kept = await countStoredSends(ctx, now, cohort, dimension);
  if (kept) return kept;
  return transact(ctx, async ({ org }) => {
    await org.allowMemory(DISTINCT_MIB);
    return org.sql<SendCounts>(
      `select key::text, sum(sends)::int as confirmed, sum(mature)::int as mature, count(contact_id)::int as prospects
       from (
         select ${groupingKeyOf(dimension)} as key, f.contact_id, count(*) as sends, count(*) filter (where ${MATURE}) as mature
         from send_facts f ${joinsOf(dimension)} where ${inCohort(cohort)} and :org::uuid is not null group by 1, 2
       ) of_contacts group by key`,
      bindingsOf(now, cohort),
    );
  });
}

function countReplies(org: OrgScope, now: Date, cohort: Cohort, dimension: Dimension): Promise<ReplyCounts[]> {
  const replied = inWindow('f.replied_at');
  const positive = inWindow('f.positive_at');
  return org.sql<ReplyCounts>(
    `select key::text, ${(['replied', 'replied_mature', 'positive', 'positive_mature'] as const).map((name) => `count(contact_id) filter (where ${name})::int as ${name}`).join(', ')}
     from (
       select ${groupingKeyOf(dimension)} as key, f.contact_id, bool_or(${replied}) as replied, bool_or(${replied} and ${MATURE}) as replied_mature,
         bool_or(${positive}) as positive, bool_or(${positive} and ${MATURE}) as positive_mature
       from send_facts f ${joinsOf(dimension)}
       where ${inCohort(cohort)} and f.replied_at is not null and :org::uuid is not null group by 1, 2
     ) of_contacts group by key`,
    bindingsOf(now, cohort),
  );
}

/** SQL join of conversions `c` of goals with the sends `f` to which they are attributed. */
export const CONVERTED = `conversions c join people p on p.id = c.person_id
     join send_facts f on f.contact_id = p.contact_id and f.sent_at <= c.occurred_at and f.sent_at > c.occurred_at - make_interval(secs => :window)`;

/** SQL condition: the time of a conversion `c` can be in the window of a send of the cohort. */
export const MAY_COUNT = 'c.organization_id = :org and c.occurred_at >= :from and c.occurred_at < :until';

/**
 * Counts prospects who reached each goal, and sums the values of conversions of the revenue goal, in one query. Each
 * conversion is counted once, regardless of the number of earlier sends.
 */
async function countConverted(
  org: OrgScope,
  now: Date,
  cohort: Cohort,
  dimension: Dimension,
  goals: PrimaryGoals,
): Promise<{ reached: GoalCounts[]; revenue: Revenue[] }> {
  const worth = revenueGoal(goals);
  const ids = [...GOAL_STAGES.flatMap((stage) => goals[stage] ?? []), ...(worth ? [worth] : [])];
  if (ids.length === 0) return { reached: [], revenue: [] };
  const rows = await org.sql<GoalCounts | Revenue>(
    `with counted as materialized (
       select ${KEYS[dimension]} as key, c.goal_id, f.contact_id, ${MATURE} as is_mature, c.id, c.currency, c.value_minor
       from ${CONVERTED} ${joinsOf(dimension)}
       where ${inCohort(cohort)} and ${MAY_COUNT} and c.goal_id = any(:goals::uuid[]) and :org::uuid is not null
     )
     select key, goal_id, count(distinct contact_id)::int as people, count(distinct contact_id) filter (where is_mature)::int as mature,
       null::text as currency, null::float8 as amount, null::int as conversions
     from counted group by key, goal_id
     union all
     select key, null, null, null, currency, sum(value_minor)::float8, count(*)::int
     from (select distinct key, id, currency, value_minor from counted where goal_id = :worth::uuid and value_minor is not null) once
     group by key, currency
     order by currency`,
    { ...bindingsOf(now, cohort), goals: ids, worth },
  );
  const isCount = (row: GoalCounts | Revenue): row is GoalCounts => row.currency === null;
  return { reached: rows.filter(isCount), revenue: rows.filter((row): row is Revenue => !isCount(row)) };
}
