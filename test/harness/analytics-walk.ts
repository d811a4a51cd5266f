import type { ExecutionContext } from 'ava';
import {
  compareCampaigns,
  readCampaignDays,
  readCampaignHours,
  readCampaignReport,
} from '../../domain/reporting/analytics/campaigns.ts';
import { readDashboard } from '../../domain/reporting/analytics/dashboard.ts';
import { INTENTS, readDeliverability } from '../../domain/reporting/analytics/deliverability.ts';
import { explainAnalytics, type AnalyticsFigure } from '../../domain/reporting/analytics/explain.ts';
import type { FigurePart } from '../../domain/reporting/analytics/figure-part.ts';
import { hoursOf, lastDays } from '../../domain/reporting/analytics/period.ts';
import type { TrendPoint } from '../../domain/reporting/analytics/rates.ts';
import { readUsage } from '../../domain/reporting/analytics/usage.ts';
import { readWarmup } from '../../domain/reporting/analytics/warmup.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import {
  presentCampaignReport,
  presentDashboard,
  presentDeliverability,
} from '../../api/reporting/analytics/present.ts';
import { DAY_MS, HOUR_MS, utcDay } from '../../lib/clock.ts';
import type { World } from './world.ts';

type Numbers = Partial<Record<AnalyticsFigure, number>>;

/**
 * Checks the list behind every number of every analytics report. A list must have as many entries as the number says,
 * page by page, each once.
 */
export async function walkAnalytics(t: ExecutionContext, world: World, organizationId: string): Promise<void> {
  const ctx = world.system(organizationId);
  const seen = new Map<string, number>();
  const check = async (numbers: Numbers, of: FigurePart, where: string) => {
    for (const [figure, number] of Object.entries(numbers) as [AnalyticsFigure, number][]) {
      const asked = JSON.stringify([figure, of]);
      if (!seen.has(asked)) seen.set(asked, await countListed(t, ctx, figure, of));
      t.is(seen.get(asked), number, `${figure} of ${where} ${asked}`);
    }
  };
  const trend = ({ sent, opens, clicks, replies }: TrendPoint): Numbers => ({
    sent,
    human_opens: opens,
    clicks,
    replies,
  });
  const now = ctx.clock.now();
  await walkDashboard(ctx, check, trend);
  await walkDeliverability(ctx, check, trend);
  const campaigns: { id: string }[] = await world.deps.db('campaigns').where({ organization_id: organizationId });
  const days = lastDays(now, 3);
  for (const { id } of campaigns) {
    const { summary: s, steps, engagement } = presentCampaignReport(await readCampaignReport(ctx, id));
    const counts: Numbers = {
      total_contacts: s.total_contacts,
      emails_pending: s.emails_pending,
      sent: s.emails_sent,
      opens: s.unique_opens,
      machine_opens: s.machine_opens,
      clicks: s.unique_clicks,
      machine_clicks: s.machine_clicks,
      replies: s.replies,
      positive_replies: s.positive_replies,
      negative_replies: s.negative_replies,
      question_replies: s.question_replies,
      neutral_replies: s.neutral_replies,
      bounces: s.bounces,
      soft_bounces: s.soft_bounces,
      unsubscribes: s.unsubscribes,
    };
    await check(counts, { campaignId: id }, 'campaign');
    for (const { step_id: stepId, emails_sent: sent, opens, clicks, replies, bounces, ...rest } of steps)
      await check(
        {
          sent,
          opens,
          clicks,
          replies,
          bounces,
          machine_opens: rest.machine_opens,
          machine_clicks: rest.machine_clicks,
          positive_replies: rest.positive_replies,
          soft_bounces: rest.soft_bounces,
        },
        { campaignId: id, stepId },
        'step',
      );
    for (const figure of ['countries', 'clients', 'devices'] as const)
      for (const { key, count } of engagement[figure])
        await check({ [figure]: count }, { campaignId: id, key }, figure);
    for (const day of await readCampaignDays(ctx, id, days))
      await check(trend(day), { ...hoursOf({ from: day.date, to: day.date }), campaignId: id }, 'campaign days');
    const date = utcDay(now);
    for (const { hour, ...point } of await readCampaignHours(ctx, id, date)) {
      const from = new Date(Date.parse(`${date}T00:00:00Z`) + hour * HOUR_MS);
      if (point.sent + point.opens + point.clicks + point.replies > 0)
        await check(trend(point), { from, to: new Date(from.getTime() + HOUR_MS), campaignId: id }, 'campaign hours');
    }
    const [compared] = await compareCampaigns(ctx, [id], days);
    await check({ sent: compared!.emails_sent }, { ...hoursOf(days), campaignId: id }, 'comparison');
  }
  const usage = await readUsage(ctx, 'day');
  await check({ sent: usage.campaigns.emails_sent }, { from: new Date(`${utcDay(now)}T00:00:00Z`), to: now }, 'usage');
  const warmup = await readWarmup(ctx, days, undefined);
  await check({ warmup_sent: warmup.totalSent, warmup_replied: warmup.totalReplied }, hoursOf(days), 'warmup');
}

type Check = (numbers: Numbers, of: FigurePart, where: string) => Promise<void>;
type Trend = (point: TrendPoint) => Numbers;

async function walkDashboard(ctx: Ctx, check: Check, trend: Trend): Promise<void> {
  const { overall_stats: all, ...rest } = presentDashboard(await readDashboard(ctx, '7d'));
  const range = hoursOf(lastDays(ctx.clock.now(), 7));
  const counts: Numbers = {
    sent: all.total_emails_sent,
    opens: all.total_opens,
    machine_opens: all.machine_opens,
    clicks: all.total_clicks,
    machine_clicks: all.machine_clicks,
    replies: all.total_replies,
    positive_replies: all.positive_replies,
    bounces: all.total_bounces,
  };
  await check(counts, range, 'dashboard');
  for (const { campaign_id: campaignId, emails_sent: sent } of rest.top_campaigns)
    await check({ sent }, { ...range, campaignId }, 'top campaigns');
  for (const { date, ...point } of rest.daily_trend)
    await check(trend(point), hoursOf({ from: date, to: date }), 'daily trend');
}

async function walkDeliverability(ctx: Ctx, check: Check, trend: Trend): Promise<void> {
  const now = ctx.clock.now();
  const asked = { from: new Date(now.getTime() - 2 * DAY_MS), to: now };
  const report = presentDeliverability(await readDeliverability(ctx, asked));
  const counts: Numbers = {
    sent: report.emails_sent,
    bounce_count: report.bounce_count,
    complaint_count: report.complaint_count,
    unsubscribe_count: report.unsubscribe_count,
    reply_count: report.reply_count,
    human_opens: report.open_count,
    clicks: report.click_count,
    ...Object.fromEntries(INTENTS.map((intent) => [`intent_${intent}`, report[`intent_${intent}`]])),
  };
  await check(counts, asked, 'deliverability');
  await check(
    { suppressed_recipients: report.suppressed_recipients, dlq_pending: report.dlq_pending },
    {},
    'deliverability',
  );
  for (const { date, bounces, complaints, unsubscribes, ...point } of report.timeseries) {
    const day = hoursOf({ from: date, to: date });
    // The report includes only some hours of its first and last day.
    const part = {
      from: new Date(Math.max(day.from.getTime(), Date.parse(report.from))),
      to: new Date(Math.min(day.to.getTime(), Date.parse(report.to))),
    };
    await check({ ...trend(point), bounces, complaints, unsubscribes }, part, 'time series');
  }
  const parts = [
    ...report.by_mailbox.map(({ email_account_id: mailboxId, ...row }) => ({ of: { mailboxId }, row })),
    ...report.by_campaign.map(({ campaign_id: campaignId, ...row }) => ({ of: { campaignId }, row })),
    ...report.by_provider.map(({ provider, ...row }) => ({ of: { provider }, row })),
  ];
  for (const { of, row } of parts)
    await check(
      { sent: row.sent, bounces: row.bounces, complaints: row.complaints },
      { ...asked, ...of },
      'part of deliverability',
    );
  for (const { email_account_id: mailboxId, inbox, spam } of report.warmup_placement)
    await check({ inbox_placements: inbox, spam_placements: spam }, { ...asked, mailboxId }, 'placement');
}

async function countListed(t: ExecutionContext, ctx: Ctx, figure: AnalyticsFigure, of: FigurePart): Promise<number> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await explainAnalytics(ctx, figure, of, { limit: 4, cursor });
    ids.push(...page.rows.map(({ id }) => id));
    if (page.nextCursor) {
      cursor = page.nextCursor;
      continue;
    }
    t.is(page.total, ids.length, figure);
    t.is(new Set(ids).size, ids.length, figure);
    return ids.length;
  }
}
