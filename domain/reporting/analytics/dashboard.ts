import { sumCounts, type Counts } from '../aggregates/metrics.ts';
import { sumBy, sumByDay } from '../aggregates/read.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { accountHealth, readHealthRows } from './account-health.ts';
import { daysOf, hoursOf, lastDays } from './period.ts';
import { ratesOf, trendPoint, type Rates, type TrendPoint } from './rates.ts';

/** Periods of a dashboard: number of UTC days, today included. */
export const PERIODS = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type Period = keyof typeof PERIODS;

/** Summary of the workspace. */
export interface Dashboard {
  period: Period;
  counts: Counts;
  activeCampaigns: number;
  activeAccounts: number;
  recentActivity: Activity[];
  topCampaigns: ({ campaign_id: string; name: string; status: string; emails_sent: number } & Rates)[];
  accountHealth: { total: number; healthy: number; warning: number; error: number };
  dailyTrend: (TrendPoint & { date: string })[];
}

/** A reaction of a recipient. */
interface Activity {
  type: 'opened' | 'clicked' | 'unsubscribed' | 'replied' | 'bounced' | 'complained';
  campaign_id: string;
  campaign_name: string;
  contact_id: string | null;
  contact_email: string | null;
  at: Date;
}

const RECENT = 20;
const TOP = 5;
/** Maximum number of campaigns whose latest activity is read: the ones with the most recent emails. */
const SAMPLED_EVENTS = 100;

/**
 * Returns the summary of the workspace (GET /analytics/dashboard). The totals and the trend include deleted campaigns.
 */
export async function readDashboard(ctx: Ctx, period: Period): Promise<Dashboard> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const days = lastDays(now, PERIODS[period]);
  const range = hoursOf(days);
  const [byCampaign, byDay, campaigns, health, activity] = await Promise.all([
    sumBy(org, 'campaign', range),
    sumByDay(org, range),
    org.table('campaigns').select('id', 'name', 'status'),
    readHealthRows(org, now),
    readActivity(ctx),
  ]);
  const named = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  const trend = new Map(byDay.map((row) => [row.day, row]));
  const standings = health.map((row) => accountHealth(row).status);
  const count = (status: string) => standings.filter((each) => each === status).length;
  return {
    period,
    counts: sumCounts(byDay),
    activeCampaigns: campaigns.filter(({ status }) => status === 'active').length,
    activeAccounts: health.filter(({ status }) => status === 'active').length,
    recentActivity: activity,
    topCampaigns: byCampaign
      .filter(({ id, sent }) => sent > 0 && named.has(id))
      .sort((a, b) => b.sent - a.sent || (a.id < b.id ? -1 : 1))
      .slice(0, TOP)
      .map((row) => {
        const { name, status } = named.get(row.id)!;
        return { campaign_id: row.id, name, status, emails_sent: row.sent, ...ratesOf(row) };
      }),
    accountHealth: {
      total: standings.length,
      healthy: count('healthy'),
      warning: count('warning'),
      error: count('error'),
    },
    dailyTrend: daysOf(days).map((date) => ({ date, ...trendPoint(trend.get(date)) })),
  };
}

function readActivity(ctx: Ctx): Promise<Activity[]> {
  return reader(ctx).sql<Activity>(
    `with latest as (
       select c.id as campaign_id from campaigns c cross join lateral (select max(d.day) as day from fact_campaign_days d where d.campaign_id = c.id) counted
       where c.organization_id = :org and counted.day is not null order by counted.day desc limit ${SAMPLED_EVENTS}
     )
     select case e.type when 'open' then 'opened' when 'click' then 'clicked' when 'unsubscribe' then 'unsubscribed'
         when 'reply' then 'replied' when 'bounce' then 'bounced' else 'complained' end as type,
       c.id as campaign_id, c.name as campaign_name, p.id as contact_id, p.email as contact_email, e.at
     from latest l join campaigns c on c.id = l.campaign_id and c.organization_id = :org
     cross join lateral (
       select * from engagement_events v where v.campaign_id = c.id and not v.machine and v.announce_at is null order by v.at desc limit ${RECENT}
     ) e
     left join contacts p on p.id = e.contact_id
     order by e.at desc, e.id desc limit ${RECENT}`,
  );
}
