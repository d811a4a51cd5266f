import { listAccounts, readAccount } from '../../../domain/reporting/analytics/accounts.ts';
import {
  compareCampaigns,
  MAX_COMPARED,
  readCampaignDays,
  readCampaignHours,
  readCampaignReport,
} from '../../../domain/reporting/analytics/campaigns.ts';
import { PERIODS, readDashboard, type Period } from '../../../domain/reporting/analytics/dashboard.ts';
import { readDeliverability } from '../../../domain/reporting/analytics/deliverability.ts';
import { explainAnalytics } from '../../../domain/reporting/analytics/explain.ts';
import { readUsage, USAGE_PERIODS } from '../../../domain/reporting/analytics/usage.ts';
import { readWarmup } from '../../../domain/reporting/analytics/warmup.ts';
import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import { refuseProblems } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { route } from '../../http/route.ts';
import { idParams, presentPage } from '../../http/schemas.ts';
import {
  presentAccount,
  presentAccountDetail,
  presentCampaignReport,
  presentCountedRecord,
  presentDashboard,
  presentDeliverability,
  presentRange,
  presentUsage,
  presentWarmup,
} from './present.ts';
import * as schemas from './schemas.ts';

const read = { area: 'analytics', scope: ['READ_ANALYTICS'], permission: 'view_analytics' } as const;
const DEFAULT_DAYS = 7;

/** Routes of analytics: outcomes of emails and state of mailboxes. */
export const analyticsRoutes = [
  route({
    ...read,
    operationId: 'analytics.getDashboard',
    method: 'get',
    path: '/analytics/dashboard',
    summary: "Report the workspace's emails",
    description:
      'Emails of campaigns in the last 7, 30 or 90 UTC days, including today. Each counts at the time it was sent, first opened, clicked or answered. Rates are percent of the emails sent.',
    query: schemas.dashboardQuery,
    success: { status: 200, body: schemas.dashboard },
    handler: async (ctx, { query: { period } }) =>
      presentDashboard(await readDashboard(ctx, Object.hasOwn(PERIODS, period ?? '') ? (period as Period) : '7d')),
  }),
  route({
    ...read,
    operationId: 'analytics.getDeliverability',
    method: 'get',
    path: '/analytics/deliverability',
    summary: 'Report deliverability',
    description:
      'In whole hours; the answer has the exact range. `score` is 100 minus up to 40 points for bounces (all at 10 %), 30 for complaints (0.30 %) and 40 for warmup emails in spam (40 %). `band` is healthy from 80, watch from 60, throttled from 40, quarantined from 20, else blocked.',
    query: schemas.deliverabilityQuery,
    success: { status: 200, body: schemas.deliverability },
    handler: async (ctx, { query }) => {
      const to = query.to ?? ctx.clock.now();
      const from = query.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
      if (to < from) refuseProblems([{ path: 'query.from', message: message('reporting.from_in_future') }]);
      return presentDeliverability(await readDeliverability(ctx, { from, to }));
    },
  }),
  route({
    ...read,
    operationId: 'analytics.getWarmup',
    method: 'get',
    path: '/analytics/warmup',
    summary: 'Report warmup emails',
    description: 'By UTC day, for one mailbox or for all together.',
    query: schemas.warmupQuery,
    success: { status: 200, body: schemas.warmup },
    errors: ['not_found'],
    handler: async (ctx, { query: { email_id: mailboxId, ...range } }) =>
      presentWarmup(await readWarmup(ctx, range, mailboxId), range),
  }),
  route({
    ...read,
    operationId: 'analytics.compareCampaigns',
    method: 'get',
    path: '/analytics/campaigns/compare',
    summary: 'Compare campaigns',
    description: 'Uses the first ten valid ids; at least one is required.',
    query: schemas.compareQuery,
    success: { status: 200, body: schemas.comparison },
    errors: ['not_found'],
    handler: async (ctx, { query: { ids, ...range } }) => ({
      campaigns: await compareCampaigns(ctx, ids.slice(0, MAX_COMPARED), range),
      period: presentRange(range),
    }),
  }),
  route({
    ...read,
    operationId: 'analytics.getCampaign',
    method: 'get',
    path: '/analytics/campaigns/:id',
    summary: "Report a campaign's emails",
    description:
      'Since its start, in total and by step. Opens by people are `unique_opens` minus `machine_opens`; machine clicks are not included in `unique_clicks`. Rates are percent of the emails sent, for a step of its own emails.',
    params: idParams,
    success: { status: 200, body: schemas.campaignReport },
    handler: async (ctx, { params }) => presentCampaignReport(await readCampaignReport(ctx, params.id)),
  }),
  route({
    ...read,
    operationId: 'analytics.getCampaignDaily',
    method: 'get',
    path: '/analytics/campaigns/:id/daily',
    summary: "Report a campaign's emails by day",
    description: 'Lists every UTC day of the range, at most 366.',
    params: idParams,
    query: schemas.dayRangeQuery,
    success: { status: 200, body: schemas.campaignDays },
    handler: async (ctx, { params, query }) => ({ data: await readCampaignDays(ctx, params.id, query) }),
  }),
  route({
    ...read,
    operationId: 'analytics.getCampaignHourly',
    method: 'get',
    path: '/analytics/campaigns/:id/hourly',
    summary: "Report a campaign's emails by hour of a day",
    description: 'Hours and day are UTC.',
    params: idParams,
    query: schemas.hourlyQuery,
    success: { status: 200, body: schemas.campaignHours },
    handler: async (ctx, { params, query }) => {
      const date = query.date ?? utcDay(ctx.clock.now());
      return { date, data: await readCampaignHours(ctx, params.id, date) };
    },
  }),
  route({
    ...read,
    operationId: 'analytics.listMailboxes',
    method: 'get',
    path: '/analytics/accounts',
    summary: 'Report the state of all mailboxes',
    description: "Health, open problems, and today's sends (UTC) of each.",
    success: { status: 200, body: schemas.accounts },
    handler: async (ctx) => ({ data: (await listAccounts(ctx)).map((status) => presentAccount(status, ctx)) }),
  }),
  route({
    ...read,
    operationId: 'analytics.getMailbox',
    method: 'get',
    path: '/analytics/accounts/:id',
    summary: 'Report the state of a mailbox',
    description: 'Includes its warmup, if it was ever on.',
    params: idParams,
    success: { status: 200, body: schemas.accountDetail },
    handler: async (ctx, { params }) => presentAccountDetail(await readAccount(ctx, params.id), ctx),
  }),
  route({
    ...read,
    operationId: 'analytics.getUsage',
    method: 'get',
    path: '/analytics/usage',
    summary: "Report the workspace's usage",
    description: 'Emails sent today (UTC), in the last seven days or in the last month.',
    query: schemas.usageQuery,
    success: { status: 200, body: schemas.usage },
    handler: async (ctx, { query }) => {
      const period = USAGE_PERIODS.find((each) => each === query.period) ?? 'day';
      return presentUsage(await readUsage(ctx, period), ctx.actor.userId);
    },
  }),
  route({
    ...read,
    scope: ['READ_ANALYTICS', 'READ_CONTACTS'],
    permission: { allOf: ['view_analytics', 'view_contacts'] },
    operationId: 'analytics.explainFigure',
    method: 'get',
    path: '/analytics/explain',
    summary: 'List what a figure of a report counts',
    description:
      'Lists the emails, contacts or messages behind a number, each once; `total` is the number. Narrow it like the report: by time (for a day, from its start to the start of the next, in whole hours), campaign, step, mailbox, provider, or the `key` of a country, mail program or device. Delivered means sent minus bounced.',
    query: schemas.explainQuery,
    success: { status: 200, body: schemas.counted },
    handler: async (ctx, { query }) => {
      const page = await explainAnalytics(
        ctx,
        query.figure,
        {
          from: query.from,
          to: query.to,
          campaignId: query.campaign_id,
          stepId: query.step_id,
          mailboxId: query.email_account_id,
          provider: query.provider,
          key: query.key,
        },
        { limit: query.limit, cursor: query.cursor },
      );
      return presentPage(page, presentCountedRecord);
    },
  }),
];
