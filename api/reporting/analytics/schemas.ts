import { z } from 'zod';
import { BANDS } from '../../../domain/reporting/analytics/deliverability.ts';
import { ANALYTICS_FIGURES, COUNTED_KINDS, figureProblems } from '../../../domain/reporting/analytics/explain.ts';
import { MAX_DAYS } from '../../../domain/reporting/analytics/period.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import { asIssue, ruleMessage } from '../../../lib/issue-message.ts';
import {
  besideFaults,
  inputDay,
  inputTimestamp,
  paged,
  pageQuery,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';

const count = z.int().min(0);
const percentage = z.number().min(0).meta({ description: 'Percent' });
const day = z.iso.date().meta({ description: 'YYYY-MM-DD, UTC' });
const dayQuery = inputDay.meta({ description: 'YYYY-MM-DD, UTC' });
const band = z.enum(BANDS);

/** Returns the problem of two given times; undefined if they are in order. */
const orderProblem = ({ from, to }: { from?: unknown; to?: unknown }): Message | undefined =>
  from instanceof Date && to instanceof Date && to < from ? message('reporting.before_from') : undefined;

/** Returns the problem of two given days; undefined if they form a valid range. */
const daysProblem = ({ from, to }: { from?: unknown; to?: unknown }): Message | undefined => {
  const [begin, end] = [from, to].map((date) => Date.parse(`${String(date)}T00:00:00Z`)) as [number, number];
  if (end < begin) return message('reporting.before_from');
  return (end - begin) / DAY_MS >= MAX_DAYS ? message('reporting.days', { max: MAX_DAYS }) : undefined;
};

/** Refuses a `to` that does not fit its `from`, in addition to problems of other fields. */
const bounded = <Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape>,
  problemOf: (range: { from?: unknown; to?: unknown }) => Message | undefined,
) =>
  schema.refine((value) => problemOf(value) === undefined, {
    path: ['to'],
    error: ({ input }) => asIssue(problemOf(input as { from?: unknown; to?: unknown })!),
    ...besideFaults,
  });

/** Query `from` and `to` of a report by days, both included. */
export const dayRangeQuery = bounded(z.object({ from: dayQuery, to: dayQuery }), daysProblem);

export const dashboardQuery = z.object({
  period: z.string().optional().meta({ description: '7d, 30d or 90d; anything else is 7d' }),
});
export const deliverabilityQuery = bounded(
  z.object({
    from: inputTimestamp.optional().meta({ description: 'Default: 7 days ago' }),
    to: inputTimestamp.optional().meta({ description: 'Default: now' }),
  }),
  orderProblem,
);
export const warmupQuery = dayRangeQuery.safeExtend({
  email_id: z.string().optional().meta({ description: 'Only this mailbox; an invalid id is ignored' }),
});
export const compareQuery = dayRangeQuery.safeExtend({
  ids: z
    .string()
    .transform((named) => [...new Set(named.split(',').map((id) => id.trim().toLowerCase()))].filter(isUuid))
    .refine((ids) => ids.length > 0, ruleMessage('reporting.no_valid_id'))
    .meta({ description: 'Campaign ids, separated by commas: the first ten valid ones' }),
});
export const hourlyQuery = z.object({ date: dayQuery.optional().meta({ description: 'Default: today' }) });
export const usageQuery = z.object({
  period: z.string().optional().meta({ description: 'day, week or month; anything else is day' }),
});

export const explainQuery = bounded(
  z.object({
    figure: z.enum(ANALYTICS_FIGURES).meta({ description: 'Figure to list' }),
    from: inputTimestamp
      .optional()
      .meta({ description: 'Included; rounded down to the hour. Default: from the beginning' }),
    to: inputTimestamp.optional().meta({ description: 'Not included; rounded up to the hour. Default: no end' }),
    campaign_id: z.string().optional().meta({ description: 'Only this campaign' }),
    step_id: z.string().optional().meta({ description: 'Only this step' }),
    email_account_id: z.string().optional().meta({ description: 'Only this mailbox' }),
    provider: z.string().optional().meta({ description: 'Provider of the mailbox; `removed` for removed mailboxes' }),
    key: z
      .string()
      .max(200)
      .optional()
      .meta({ description: 'Key of a country, mail program or device; empty for unknown' }),
    ...pageQuery(200),
  }),
  orderProblem,
).superRefine((asked, context) => {
  for (const [part, fault] of figureProblems(asked))
    context.addIssue({ code: 'custom', path: [part], message: asIssue(fault) });
}, besideFaults);
export const counted = paged(
  resource('CountedFact', {
    id: uuid.meta({ description: 'Id of the counted record; `kind` names its type' }),
    kind: z.enum(COUNTED_KINDS),
    contact_id: uuid.nullable(),
    contact_email: z.string().nullable(),
    campaign_id: uuid.nullable(),
    email_account_id: uuid.nullable(),
    at: timestamp.meta({ description: 'Time at which it counts' }),
  }),
);

const rates = { open_rate: percentage, click_rate: percentage, reply_rate: percentage, bounce_rate: percentage };
const trend = { sent: count, opens: count, clicks: count, replies: count };
const trendDay = resource('TrendDay', { date: day, ...trend });
const dateRange = z.strictObject({ from: timestamp, to: timestamp });
const campaignRates = resource('CampaignRates', {
  campaign_id: uuid,
  name: z.string(),
  status: z.string(),
  emails_sent: count,
  ...rates,
});

export const dashboard = resource('Dashboard', {
  period: z.enum(['7d', '30d', '90d']),
  overall_stats: z.strictObject({
    total_emails_sent: count,
    total_opens: count.meta({ description: 'Emails opened by people or machines' }),
    machine_opens: count.meta({ description: 'Emails opened only by machines' }),
    total_clicks: count.meta({ description: 'Emails in which a person clicked' }),
    machine_clicks: count.meta({ description: 'Emails in which only machines clicked; not included in total_clicks' }),
    total_replies: count,
    positive_replies: count,
    total_bounces: count,
    total_delivered: count.meta({ description: 'Emails sent and not bounced' }),
    ...rates,
    active_campaigns: count,
    active_accounts: count,
  }),
  recent_activity: z.array(
    z.strictObject({
      type: z.enum(['opened', 'clicked', 'unsubscribed', 'replied', 'bounced', 'complained']),
      campaign_id: uuid,
      campaign_name: z.string(),
      contact_id: uuid.nullable(),
      contact_email: z.string().nullable(),
      timestamp,
    }),
  ),
  top_campaigns: z.array(campaignRates),
  account_health: z.strictObject({
    total_accounts: count,
    healthy_accounts: count,
    warning_accounts: count,
    error_accounts: count,
  }),
  daily_trend: z.array(trendDay),
});

const sentRates = {
  sent: count,
  bounces: count,
  complaints: count,
  bounce_rate: percentage,
  complaint_rate: percentage,
  band,
};

export const deliverability = resource('DeliverabilityReport', {
  from: timestamp.meta({ description: 'Start of the report, a whole hour' }),
  to: timestamp.meta({ description: 'End of the report, a whole hour' }),
  events_total: count,
  bounce_count: count,
  complaint_count: count,
  unsubscribe_count: count,
  reply_count: count.meta({
    description: 'Replies that a client reported; replies received by mailboxes are under intent_…',
  }),
  open_count: count,
  click_count: count,
  suppressed_recipients: count,
  dlq_pending: count,
  intent_positive: count,
  intent_negative: count,
  intent_out_of_office: count,
  intent_question: count,
  intent_neutral: count,
  intent_automated: count,
  emails_sent: count,
  bounce_rate: percentage,
  complaint_rate: percentage,
  open_rate: percentage,
  click_rate: percentage,
  reply_rate: percentage,
  spam_placement_rate: percentage.optional(),
  inbox_placement_rate: percentage.optional(),
  placement_samples: count,
  band,
  score: z.int().min(0).max(100),
  timeseries: z.array(z.strictObject({ date: day, ...trend, bounces: count, complaints: count, unsubscribes: count })),
  by_mailbox: z.array(z.strictObject({ email_account_id: uuid, email: z.string(), ...sentRates })),
  by_campaign: z.array(z.strictObject({ campaign_id: uuid, name: z.string(), ...sentRates })),
  by_provider: z.array(z.strictObject({ provider: z.string(), ...sentRates })),
  warmup_placement: z.array(
    z.strictObject({ email_account_id: uuid, email: z.string(), inbox: count, spam: count, spam_rate: percentage }),
  ),
});

export const warmup = resource('WarmupReport', {
  email_account_id: uuid.meta({ description: 'All zeros for all mailboxes together' }),
  email: z.string(),
  date_range: dateRange,
  summary: z.strictObject({
    total_sent: count,
    total_replied: count,
    average_daily: z.number().meta({ description: 'Average over days with at least one email' }),
    reply_rate: percentage,
    target_progress: percentage.meta({ description: "Percent of the ramps' targets; may exceed 100" }),
    days_active: count,
  }),
  daily_stats: z.array(z.strictObject({ date: day, emails_sent: count, emails_replied: count, target_volume: count })),
});

const bucket = z.array(z.strictObject({ key: z.string().meta({ description: 'Empty if unknown' }), count }));

export const campaignReport = resource('CampaignReport', {
  campaign_id: uuid,
  name: z.string(),
  status: z.string(),
  date_range: dateRange.nullable(),
  summary: z.strictObject({
    total_contacts: count,
    emails_sent: count,
    emails_pending: count.meta({ description: 'Emails with a slot that are not sent yet' }),
    unique_opens: count.meta({ description: 'Emails opened by people or machines' }),
    machine_opens: count.meta({ description: 'Emails opened only by machines' }),
    unique_clicks: count,
    machine_clicks: count,
    replies: count,
    positive_replies: count.meta({
      description: 'Emails with a reply of this intent; an email with several counts for each',
    }),
    negative_replies: count,
    question_replies: count,
    neutral_replies: count,
    bounces: count,
    soft_bounces: count.meta({ description: 'Emails that were refused temporarily and did not bounce permanently' }),
    unsubscribes: count,
    ...rates,
  }),
  steps: z.array(
    z.strictObject({
      step_id: uuid,
      name: z.string(),
      position: count,
      emails_sent: count,
      opens: count,
      machine_opens: count,
      clicks: count,
      machine_clicks: count,
      replies: count,
      positive_replies: count,
      bounces: count,
      soft_bounces: count,
      ...rates,
    }),
  ),
  engagement: z.strictObject({ countries: bucket, clients: bucket, devices: bucket }),
});

export const campaignDays = z.strictObject({ data: z.array(trendDay) });
export const campaignHours = z.strictObject({
  date: day,
  data: z.array(resource('TrendHour', { hour: z.int().min(0).max(23), ...trend })),
});
export const comparison = z.strictObject({
  campaigns: z.array(campaignRates),
  period: dateRange,
});

const account = resource('MailboxHealth', {
  id: uuid,
  email: z.string(),
  provider: z.string(),
  status: z.string(),
  last_synced_at: timestamp.nullable(),
  health: z.strictObject({
    status: z.enum(['healthy', 'warning', 'error']),
    score: z.int().min(0).max(100),
    issues: z.array(z.string()),
  }),
  errors: z.array(
    z.strictObject({
      id: uuid,
      error_code: z.string(),
      severity: z.string(),
      title: z.string(),
      message: z.string(),
      created_at: timestamp,
    }),
  ),
  daily_usage: z.strictObject({
    date: day,
    campaign_sent: count,
    campaign_limit: count,
    warmup_sent: count,
    warmup_limit: count,
  }),
  in_campaign: z.boolean(),
});

export const accounts = z.strictObject({ data: z.array(account) });
export const accountDetail = resource('MailboxHealthDetail', {
  ...account.shape,
  warmup_status: z
    .strictObject({
      enabled: z.boolean(),
      paused: z.boolean(),
      started_at: timestamp.nullable(),
      current_volume: count,
      target_volume: count,
      max_volume: count,
      reply_rate: z.number(),
      days_active: count,
    })
    .optional()
    .meta({ description: 'Absent if warmup was never on' }),
  warmup_health: z
    .strictObject({ state: band, score: z.int(), evaluated_at: timestamp, spam_score: z.int() })
    .optional()
    .meta({ description: 'Absent outside a warmup pool' }),
});

export const usage = resource('Usage', {
  user_id: uuid.nullable(),
  period: z.enum(['day', 'week', 'month']),
  email_accounts: z.strictObject({ total: count, active: count, in_warmup: count, with_errors: count }),
  campaigns: z.strictObject({ total: count, active: count, paused: count, draft: count, emails_sent: count }),
  contacts: z.strictObject({ total: count, subscribed: count, added_today: count }),
  api: z
    .strictObject({ total_calls: count, daily_limit: count, top_endpoints: z.array(z.looseObject({})) })
    .meta({ description: 'Always empty: see /api-keys/usage' }),
});
