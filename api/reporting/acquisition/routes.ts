import { readBreakdown, readSummary } from '../../../domain/reporting/acquisition/cohort.ts';
import { explainFigure } from '../../../domain/reporting/acquisition/explain.ts';
import { removeCampaignSpend, setCampaignSpend } from '../../../domain/reporting/acquisition/spend.ts';
import { route } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import { attributionRoutes } from './attribution-routes.ts';
import { behaviourRoutes } from './behaviour-routes.ts';
import { presentCounted, presentFigures, presentSpend } from './present.ts';
import { rangeOf } from './range.ts';
import { read, readPeople, write } from './rights.ts';
import * as schemas from './schemas.ts';

/** Routes of acquisition reports: the results of confirmed sends. */
export const acquisitionRoutes = [
  route({
    ...read,
    operationId: 'acquisition.summary',
    method: 'get',
    path: '/acquisition/summary',
    summary: 'What confirmed sends led to',
    description:
      'Sends confirmed at or after `from` and before `to`. A stage counts distinct prospects who reached it at or after such a send and less than `window_days` after it: replies answer that very email, the others are conversions of the primary goal.',
    query: schemas.cohortQuery,
    success: { status: 200, body: schemas.summary },
    errors: ['not_found'],
    handler: async (ctx, { query: { window_days: windowDays, campaign_id: campaignId, ...given } }) => {
      const range = rangeOf(ctx, given);
      const row = await readSummary(ctx, { ...range, windowDays, campaignId });
      return { from: iso(range.from), to: iso(range.to), window_days: windowDays, ...presentFigures(row) };
    },
  }),
  route({
    ...read,
    operationId: 'acquisition.breakdown',
    method: 'get',
    path: '/acquisition/breakdown',
    summary: 'What confirmed sends led to, by what they were like',
    description:
      'By campaign, step, variant, offer, angle, call to action, mailbox, source of the audience, segment or category, as they were when each email left. A prospect of several groups counts in each, so that rows may add up to more than the summary.',
    query: schemas.breakdownQuery,
    success: { status: 200, body: schemas.breakdown },
    errors: ['not_found'],
    handler: async (ctx, { query: { window_days: windowDays, campaign_id: campaignId, dimension, ...given } }) => {
      const range = rangeOf(ctx, given);
      const { rows, truncated } = await readBreakdown(ctx, { ...range, windowDays, campaignId }, dimension);
      return {
        from: iso(range.from),
        to: iso(range.to),
        window_days: windowDays,
        dimension,
        rows: rows.map((row) => ({ key: row.key, name: row.name, ...presentFigures(row) })),
        truncated,
      };
    },
  }),
  route({
    ...readPeople,
    operationId: 'acquisition.explain',
    method: 'get',
    path: '/acquisition/explain',
    summary: 'The sends, contacts or conversions behind a figure',
    description:
      'Takes what the summary or the breakdown takes, and the name of a figure; `total` is that figure. Of `window_revenue` it lists the conversions that the amount is of.',
    query: schemas.explainQuery,
    success: { status: 200, body: schemas.counted },
    errors: ['not_found'],
    handler: async (ctx, { query }) => {
      const { window_days: windowDays, campaign_id: campaignId, figure, mature, currency, dimension, key } = query;
      const page = await explainFigure(
        ctx,
        { ...rangeOf(ctx, query), windowDays, campaignId },
        { figure, mature: mature === 'true', currency, dimension, key: key === '' ? null : key },
        { limit: query.limit, cursor: query.cursor },
      );
      return presentPage(page, presentCounted);
    },
  }),
  route({
    ...write,
    operationId: 'acquisition.setCampaignSpend',
    method: 'put',
    path: '/acquisition/campaign-spend/:campaignId',
    summary: 'Say what a campaign cost',
    description: 'All of it, in one currency. Reports then show what a signup and a customer cost.',
    params: schemas.campaignParams,
    body: schemas.spendBody,
    success: { status: 200, body: schemas.spend },
    handler: async (ctx, { params, body: { amount_minor: amountMinor, currency } }) =>
      presentSpend(await setCampaignSpend(ctx, params.campaignId, { amountMinor, currency })),
  }),
  route({
    ...write,
    operationId: 'acquisition.removeCampaignSpend',
    method: 'delete',
    path: '/acquisition/campaign-spend/:campaignId',
    summary: 'Forget what a campaign cost',
    description: 'Reports show no cost of it any more. Where nothing was said, there is nothing to forget: 204.',
    params: schemas.campaignParams,
    success: { status: 204 },
    handler: (ctx, { params }) => removeCampaignSpend(ctx, params.campaignId),
  }),
  ...behaviourRoutes,
  ...attributionRoutes,
];
