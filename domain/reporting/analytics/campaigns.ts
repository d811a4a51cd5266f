import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { sumCounts, METRICS, SUMMED, type Counts } from '../aggregates/metrics.ts';
import { sumBy, sumByDay, sumByHour } from '../aggregates/read.ts';
import type { VisitPart } from '../aggregates/visits.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { daysOf, hoursOf, type DayRange } from './period.ts';
import { ratesOf, trendPoint, type Rates, type TrendPoint } from './rates.ts';

/** Outcomes of all emails of a campaign. */
export interface CampaignReport {
  campaign: { id: string; name: string; status: string };
  /** Start of the first and of the last hour with counts. Null without counts. */
  range: { from: Date; to: Date } | null;
  leads: number;
  /** Number of emails with a slot that are not sent yet. */
  pending: number;
  counts: Counts;
  steps: StepReport[];
  engagement: Engagement;
}

/** Outcomes of a step's emails. */
interface StepReport {
  stepId: string;
  name: string;
  position: number;
  counts: Counts;
}

/**
 * Origins of opens and clicks by people, as numbers of contacts by country, mail program and kind of device. An empty
 * key means "unknown".
 */
type Engagement = Record<VisitPart, Bucket[]>;

interface Bucket {
  key: string;
  count: number;
}

/** Maximum number of countries, mail programs or devices in a list. The most frequent ones are kept. */
const BUSIEST = 8;
const NONE = sumCounts([]);

/**
 * Returns the outcomes of a campaign's emails (GET /analytics/campaigns/:id).
 * @throws AppError not_found
 */
export async function readCampaignReport(ctx: Ctx, id: string): Promise<CampaignReport> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, id);
  const [[total], steps, [leads], engagement] = await Promise.all([
    org.sql<Counts & { from: Date | null; to: Date | null }>(
      `select (select min(hour) from fact_campaign_hours where organization_id = :org and campaign_id = :id) as from,
         (select max(hour) from fact_campaign_hours where organization_id = :org and campaign_id = :id) as to, ${SUMMED}
       from fact_steps where organization_id = :org and campaign_id = :id`,
      { id },
    ),
    org.sql<Counts & { step_id: string; name: string; position: number }>(
      `select s.id as step_id, s.name, s.position, ${METRICS.map((metric) => `coalesce(sum(f.${metric}), 0)::int as ${metric}`).join(', ')}
       from campaign_steps s left join fact_steps f on f.campaign_id = s.campaign_id and f.step_id = s.id
       where s.organization_id = :org and s.campaign_id = :id and s.kind = 'email' group by s.id, s.name, s.position order by s.position`,
      { id },
    ),
    org.sql<{ leads: number; pending: number }>(
      `select (select coalesce(sum(leads), 0) from campaign_flow_counts where organization_id = :org and campaign_id = :id and state is not null)::int as leads,
         (select count(*) from sends where organization_id = :org and campaign_id = :id and state in ('reserved', 'sending'))::int as pending`,
      { id },
    ),
    readEngagement(org, id),
  ]);
  const { from, to, ...counts } = total!;
  return {
    campaign: { id: campaign.id, name: campaign.name, status: campaign.status },
    range: from && to ? { from, to } : null,
    leads: leads!.leads,
    pending: leads!.pending,
    counts,
    steps: steps.map(({ step_id: stepId, name, position, ...rest }) => ({ stepId, name, position, counts: rest })),
    engagement,
  };
}

/**
 * Returns a campaign's trend for every UTC day of a range (GET /analytics/campaigns/:id/daily).
 * @throws AppError not_found
 */
export async function readCampaignDays(
  ctx: Ctx,
  id: string,
  range: DayRange,
): Promise<(TrendPoint & { date: string })[]> {
  const org = reader(ctx);
  await findCampaign(org, id);
  const byDay = new Map((await sumByDay(org, hoursOf(range), id)).map((row) => [row.day, row]));
  return daysOf(range).map((date) => ({ date, ...trendPoint(byDay.get(date)) }));
}

/**
 * Returns a campaign's trend for the hours of one UTC day (GET /analytics/campaigns/:id/hourly).
 * @throws AppError not_found
 */
export async function readCampaignHours(
  ctx: Ctx,
  id: string,
  date: string,
): Promise<(TrendPoint & { hour: number })[]> {
  const org = reader(ctx);
  await findCampaign(org, id);
  const rows = await sumByHour(org, hoursOf({ from: date, to: date }), id);
  const byHour = new Map(rows.map((row) => [row.hour.getUTCHours(), row]));
  return Array.from({ length: 24 }, (_, hour) => ({ hour, ...trendPoint(byHour.get(hour)) }));
}

/** A campaign in a comparison. */
interface ComparedCampaign extends Rates {
  campaign_id: string;
  name: string;
  status: string;
  emails_sent: number;
}

/** Maximum number of campaigns in a comparison. */
export const MAX_COMPARED = 10;

/**
 * Compares campaigns, in the order of their ids in the request (GET /analytics/campaigns/compare).
 * @throws AppError not_found when a campaign is not one of the organization
 */
export async function compareCampaigns(ctx: Ctx, ids: readonly string[], range: DayRange): Promise<ComparedCampaign[]> {
  const org = reader(ctx);
  const rows = await org.table('campaigns').whereIn('id', ids.filter(isUuid)).select('id', 'name', 'status');
  const known = new Map(rows.map((row) => [row.id, row]));
  if (ids.some((id) => !known.has(id))) throw notFound('campaign');
  const counts = new Map((await sumBy(org, 'campaign', hoursOf(range), ids)).map((row) => [row.id, row]));
  return ids.map((id) => {
    const { name, status } = known.get(id)!;
    const counted = counts.get(id) ?? NONE;
    return { campaign_id: id, name, status, emails_sent: counted.sent, ...ratesOf(counted) };
  });
}

async function readEngagement(org: OrgScope, campaignId: string): Promise<Engagement> {
  const rows = await org.sql<Bucket & { part: VisitPart }>(
    `select part, key, visitors as count from fact_visits
     where organization_id = :org and campaign_id = :id and visitors > 0 order by visitors desc, key`,
    { id: campaignId },
  );
  const of = (part: VisitPart) =>
    rows
      .filter((row) => row.part === part)
      .slice(0, BUSIEST)
      .map(({ key, count }) => ({ key, count }));
  return { countries: of('countries'), clients: of('clients'), devices: of('devices') };
}
