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
    operationId: 'acquisition.getSummary',
    method: 'get',
    path: '/acquisition/summary',
    isQuestion: true,
    summary: 'Report the results of confirmed sends',
    description:
      'Counts sends confirmed at or after `from` and before `to`. A stage counts distinct prospects who reached it at or after such a send and less than `window_days` after it. Replies must answer that email; the other stages are conversions of the primary goal.',
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
    operationId: 'acquisition.getBreakdown',
    method: 'get',
    path: '/acquisition/breakdown',
    isQuestion: true,
    summary: 'Break down the results of confirmed sends by their properties',
    description:
      'By campaign, step, variant, offer, angle, call to action, mailbox, source of the audience, segment or category, as they were when each email was sent. A prospect in several groups counts in each, so the rows may add up to more than the summary.',
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
    operationId: 'acquisition.explainFigure',
    method: 'get',
    path: '/acquisition/explain',
    summary: 'List the sends, contacts or conversions behind a figure',
    description:
      'Takes the parameters of the summary or the breakdown, and the name of a figure; `total` is that figure. For `window_revenue` it lists the conversions of the amount.',
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
    summary: 'Set the cost of a campaign',
    description: 'The total cost, in one currency. Reports then show the cost of a signup and of a customer.',
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
    summary: 'Delete the cost of a campaign',
    description: 'Reports no longer show its cost. Answers 204 even if no cost was set.',
    params: schemas.campaignParams,
    success: { status: 204 },
    handler: (ctx, { params }) => removeCampaignSpend(ctx, params.campaignId),
  }),
  ...behaviourRoutes,
  ...attributionRoutes,
];
