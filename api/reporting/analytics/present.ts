import type { z } from 'zod';
import type { AccountDetail, AccountStatus } from '../../../domain/reporting/analytics/accounts.ts';
import type { CampaignReport } from '../../../domain/reporting/analytics/campaigns.ts';
import type { Dashboard } from '../../../domain/reporting/analytics/dashboard.ts';
import type { DeliverabilityReport } from '../../../domain/reporting/analytics/deliverability.ts';
import type { CountedRecord } from '../../../domain/reporting/analytics/explain.ts';
import { hoursOf, percent, type DayRange } from '../../../domain/reporting/analytics/period.ts';
import { ratesOf, trendPoint } from '../../../domain/reporting/analytics/rates.ts';
import type { Usage } from '../../../domain/reporting/analytics/usage.ts';
import type { WarmupReport } from '../../../domain/reporting/analytics/warmup.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';
import { mailboxErrorTitle } from '../../../domain/sending/control/mailbox-hold.ts';
import { render } from '../../../messages/render.ts';

const ALL_MAILBOXES = '00000000-0000-0000-0000-000000000000';

/** Returns the figures of GET /analytics/dashboard. Rates are percentages; docs/reference/figures.md defines each. */
export function presentDashboard(report: Dashboard): z.input<typeof schemas.dashboard> {
  const { counts } = report;
  return {
    period: report.period,
    overall_stats: {
      total_emails_sent: counts.sent,
      total_opens: counts.opened,
      machine_opens: counts.opened_by_machine,
      total_clicks: counts.clicked,
      machine_clicks: counts.clicked_by_machine,
      total_replies: counts.replied,
      positive_replies: counts.replied_positively,
      total_bounces: counts.bounced,
      total_delivered: Math.max(0, counts.sent - counts.bounced),
      ...ratesOf(counts),
      active_campaigns: report.activeCampaigns,
      active_accounts: report.activeAccounts,
    },
    recent_activity: report.recentActivity.map(({ at, ...rest }) => ({ ...rest, timestamp: iso(at) })),
    top_campaigns: report.topCampaigns,
    account_health: {
      total_accounts: report.accountHealth.total,
      healthy_accounts: report.accountHealth.healthy,
      warning_accounts: report.accountHealth.warning,
      error_accounts: report.accountHealth.error,
    },
    daily_trend: report.dailyTrend,
  };
}

/**
 * Returns the deliverability report: outcomes of emails, including client reports of emails that Heron does not know.
 * Placement rates are omitted if no warmup email was placed.
 */
export function presentDeliverability(report: DeliverabilityReport): z.input<typeof schemas.deliverability> {
  const { counts, unassigned, placement, intents } = report;
  const bounces = counts.bounced + unassigned.bounces;
  const complaints = counts.complained + unassigned.complaints;
  const unsubscribes = counts.unsubscribed + unassigned.unsubscribes;
  const samples = placement.inbox + placement.spam;
  const rates = ratesOf(counts);
  return {
    from: iso(report.range.from),
    to: iso(report.range.to),
    events_total:
      bounces + complaints + unsubscribes + report.reportedReplies + counts.opened_by_person + counts.clicked,
    bounce_count: bounces,
    complaint_count: complaints,
    unsubscribe_count: unsubscribes,
    reply_count: report.reportedReplies,
    open_count: counts.opened_by_person,
    click_count: counts.clicked,
    suppressed_recipients: report.suppressed,
    dlq_pending: report.deadLetters,
    intent_positive: intents.positive,
    intent_negative: intents.negative,
    intent_out_of_office: intents.out_of_office,
    intent_question: intents.question,
    intent_neutral: intents.neutral,
    intent_automated: intents.automated,
    emails_sent: counts.sent,
    ...rates,
    bounce_rate: percent(bounces, counts.sent),
    complaint_rate: percent(complaints, counts.sent),
    ...(samples > 0
      ? {
          spam_placement_rate: percent(placement.spam, samples),
          inbox_placement_rate: percent(placement.inbox, samples),
        }
      : {}),
    placement_samples: samples,
    band: report.band,
    score: report.score,
    timeseries: report.days.map((row) => ({
      date: row.day,
      ...trendPoint(row),
      bounces: row.bounced,
      complaints: row.complained,
      unsubscribes: row.unsubscribed,
    })),
    by_mailbox: report.mailboxes.map(({ id, provider: _, ...rest }) => ({ email_account_id: id, ...rest })),
    by_campaign: report.campaigns.map(({ id, ...rest }) => ({ campaign_id: id, ...rest })),
    by_provider: report.providers,
    warmup_placement: report.placements.map(({ id, email, inbox, spam }) => ({
      email_account_id: id,
      email,
      inbox,
      spam,
      spam_rate: percent(spam, inbox + spam),
    })),
  };
}

/**
 * Returns the warmup of one mailbox, or of all mailboxes together under the zero id. `date_range` is given as times.
 */
export function presentWarmup(report: WarmupReport, range: DayRange): z.input<typeof schemas.warmup> {
  return {
    email_account_id: report.mailbox?.id ?? ALL_MAILBOXES,
    email: report.mailbox?.email ?? '',
    date_range: presentRange(range),
    summary: {
      total_sent: report.totalSent,
      total_replied: report.totalReplied,
      average_daily: report.averageDaily,
      reply_rate: report.replyRate,
      target_progress: report.targetProgress,
      days_active: report.daysActive,
    },
    daily_stats: report.days,
  };
}

/** Converts days to times: from the start of the first to the end of the last. */
export function presentRange(range: DayRange): { from: string; to: string } {
  const { from, to } = hoursOf(range);
  return { from: iso(from), to: iso(to) };
}

/**
 * Returns the report of a campaign, in total and step by step. `date_range` is null if the report covers the campaign's
 * whole lifetime.
 */
export function presentCampaignReport(report: CampaignReport): z.input<typeof schemas.campaignReport> {
  const { campaign, range, counts } = report;
  return {
    campaign_id: campaign.id,
    name: campaign.name,
    status: campaign.status,
    date_range: range && { from: iso(range.from), to: iso(range.to) },
    summary: {
      total_contacts: report.leads,
      emails_sent: counts.sent,
      emails_pending: report.pending,
      unique_opens: counts.opened,
      machine_opens: counts.opened_by_machine,
      unique_clicks: counts.clicked,
      machine_clicks: counts.clicked_by_machine,
      replies: counts.replied,
      positive_replies: counts.replied_positively,
      negative_replies: counts.replied_negatively,
      question_replies: counts.replied_with_question,
      neutral_replies: counts.replied_neutrally,
      bounces: counts.bounced,
      soft_bounces: counts.bounced_softly,
      unsubscribes: counts.unsubscribed,
      ...ratesOf(counts),
    },
    steps: report.steps.map((step) => ({
      step_id: step.stepId,
      name: step.name,
      position: step.position,
      emails_sent: step.counts.sent,
      opens: step.counts.opened,
      machine_opens: step.counts.opened_by_machine,
      clicks: step.counts.clicked,
      machine_clicks: step.counts.clicked_by_machine,
      replies: step.counts.replied,
      positive_replies: step.counts.replied_positively,
      bounces: step.counts.bounced,
      soft_bounces: step.counts.bounced_softly,
      ...ratesOf(step.counts),
    })),
    engagement: report.engagement,
  };
}

/** Returns a mailbox for the list of accounts: its health, its problems, and the number of emails sent today. */
export function presentAccount(
  status: AccountStatus,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof schemas.accounts>['data'][number] {
  const { mailbox } = status;
  return {
    id: mailbox.id,
    email: mailbox.email,
    provider: mailbox.provider,
    status: mailbox.status,
    last_synced_at: iso(status.lastSyncedAt),
    health: { ...status.health, issues: status.health.issues.map((issue) => render(issue, language)) },
    errors: status.errors.map((error) => ({
      ...error,
      title: render(mailboxErrorTitle(error.error_code), language),
      message: render(error.message, language),
      created_at: iso(error.created_at),
    })),
    daily_usage: status.usage,
    in_campaign: status.inCampaign,
  };
}

/** Returns one mailbox: the fields of the list, and its warmup if it has one. */
export function presentAccountDetail(
  detail: AccountDetail,
  reader: Pick<Ctx, 'language'>,
): z.input<typeof schemas.accountDetail> {
  const { mailbox, warmup, warmupHealth } = detail;
  return {
    ...presentAccount(detail, reader),
    ...(warmup
      ? {
          warmup_status: {
            enabled: warmup.enabled,
            paused: warmup.paused,
            started_at: iso(warmup.startedAt),
            current_volume: warmup.currentVolume,
            target_volume: detail.usage.warmup_limit,
            max_volume: mailbox.warmup_max,
            reply_rate: mailbox.warmup_reply_rate,
            days_active: warmup.daysActive,
          },
        }
      : {}),
    ...(warmupHealth
      ? {
          warmup_health: {
            state: warmupHealth.state,
            score: warmupHealth.score,
            evaluated_at: iso(warmupHealth.evaluatedAt),
            spam_score: 0,
          },
        }
      : {}),
  };
}

/**
 * Returns a workspace's usage and limits. API calls are counted only per API key, so their number is 0 in this answer.
 */
export function presentUsage(report: Usage, userId: string | null): z.input<typeof schemas.usage> {
  return {
    user_id: userId,
    period: report.period,
    email_accounts: report.accounts,
    campaigns: report.campaigns,
    contacts: report.contacts,
    api: { total_calls: 0, daily_limit: 0, top_endpoints: [] },
  };
}

/** Returns one email, contact or report that a figure counts (GET /analytics/explain), with the time of its count. */
export function presentCountedRecord(row: CountedRecord): z.input<typeof schemas.counted>['data'][number] {
  const { id, kind, contact_id, contact_email, campaign_id, mailbox_id, at } = row;
  return { id, kind, contact_id, contact_email, campaign_id, email_account_id: mailbox_id, at: iso(at) };
}
