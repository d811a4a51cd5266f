import { listTrendPeople, readEventTrend } from '../../../domain/reporting/acquisition/event-trends.ts';
import {
  funnelProblems,
  listFunnelPeople,
  readFunnel,
  type FunnelStep,
} from '../../../domain/reporting/acquisition/funnels.ts';
import { listProspects } from '../../../domain/reporting/acquisition/prospects.ts';
import { readTimeline } from '../../../domain/reporting/acquisition/timeline.ts';
import { route } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import { presentCountedPerson, presentFunnel, presentProspect, presentTimelineItem } from './present.ts';
import { rangeOf } from './range.ts';
import * as rights from './rights.ts';
import * as schemas from './schemas.ts';

const read = { ...rights.read, readOnly: true } as const;

/** Routes of behaviour reports: events, funnels, prospects. */
export const behaviourRoutes = [
  route({
    ...read,
    operationId: 'acquisition.eventTrends',
    method: 'post',
    path: '/acquisition/event-trends',
    summary: 'How often a product event occurred',
    description:
      'Occurrences and distinct people by UTC day or week, of events of a name whose data meets all conditions. Stores nothing.',
    body: schemas.trendBody,
    success: { status: 200, body: schemas.trend },
    handler: async (ctx, { body: { name, predicates, interval, ...given } }) => {
      const range = rangeOf(ctx, given, 'body');
      const { buckets, ...totals } = await readEventTrend(ctx, { name, predicates, ...range }, interval);
      return {
        name,
        from: iso(range.from),
        to: iso(range.to),
        interval,
        ...totals,
        buckets: buckets.map((bucket) => ({ ...bucket, start: iso(bucket.start) })),
      };
    },
  }),
  route({
    ...read,
    operationId: 'acquisition.funnel',
    method: 'post',
    path: '/acquisition/funnels',
    summary: 'How many people take steps in order',
    description:
      'The first step is taken in the range, the others less than `window_days` after it, each at or after the one before and by another occurrence. Stores nothing.',
    body: schemas.funnelBody,
    furtherProblems: async (ctx, { steps }) => (steps ? funnelProblems(ctx, { steps: steps.map(toStep) }) : []),
    success: { status: 200, body: schemas.funnel },
    handler: async (ctx, { body: { steps, window_days: windowDays, ...given } }) => {
      const range = rangeOf(ctx, given, 'body');
      const people = await readFunnel(ctx, { ...range, windowDays, steps: steps.map(toStep) });
      return {
        from: iso(range.from),
        to: iso(range.to),
        window_days: windowDays,
        ...presentFunnel(
          steps.map(({ kind }) => kind),
          people,
        ),
      };
    },
  }),
  route({
    ...rights.readPeople,
    readOnly: true,
    operationId: 'acquisition.eventTrendPeople',
    method: 'post',
    path: '/acquisition/event-trends/people',
    summary: 'The people whom a trend counts',
    description:
      'Takes what the trend takes; `total` is its `people`. Those of a bucket are listed with its begin as `from` and that of the next as `to`, where the range does not cut it.',
    body: schemas.trendPeopleBody,
    query: schemas.peopleQuery,
    success: { status: 200, body: schemas.people },
    handler: async (ctx, { body: { name, predicates, ...given }, query: page }) =>
      presentPage(
        await listTrendPeople(ctx, { name, predicates, ...rangeOf(ctx, given, 'body') }, page),
        presentCountedPerson,
      ),
  }),
  route({
    ...rights.readPeople,
    readOnly: true,
    operationId: 'acquisition.funnelPeople',
    method: 'post',
    path: '/acquisition/funnels/people',
    summary: 'The people who took a step of a funnel',
    description:
      'Takes what the funnel takes, and the number of a step; `total` is the `people` of that step; with `lost` its `drop_off`.',
    body: schemas.funnelPeopleBody,
    furtherProblems: async (ctx, { steps, step, lost }) =>
      steps ? funnelProblems(ctx, { steps: steps.map(toStep), step, lost }) : [],
    query: schemas.peopleQuery,
    success: { status: 200, body: schemas.people },
    handler: async (ctx, { body: { steps, step, lost, window_days: windowDays, ...given }, query: page }) => {
      const funnel = { ...rangeOf(ctx, given, 'body'), windowDays, steps: steps.map(toStep) };
      return presentPage(await listFunnelPeople(ctx, funnel, { step, lost }, page), presentCountedPerson);
    },
  }),
  route({
    ...rights.readPeople,
    operationId: 'acquisition.listProspects',
    method: 'get',
    path: '/acquisition/prospects',
    summary: 'Contacts that confirmed sends went to',
    description:
      'Newest activity first. `interested` are those with a positive reply, `silent` those with neither reply nor signup, activation or payment.',
    query: schemas.prospectsQuery,
    success: { status: 200, body: schemas.prospects },
    errors: ['not_found'],
    handler: async (ctx, { query: { campaign_id: campaignId, filter, dropoff, q, limit, cursor } }) =>
      presentPage(await listProspects(ctx, { campaignId, filter, dropoff, q }, { limit, cursor }), presentProspect),
  }),
  route({
    ...rights.readPeople,
    operationId: 'acquisition.timeline',
    method: 'get',
    path: '/acquisition/prospects/:contactId/timeline',
    summary: 'What happened with a contact',
    description:
      'Enrollments, confirmed sends, replies, drafts of replies, product events and conversions, the latest first, at most 500.',
    params: schemas.contactParams,
    success: { status: 200, body: schemas.timeline },
    handler: async (ctx, { params }) => ({
      data: (await readTimeline(ctx, params.contactId)).map(presentTimelineItem),
    }),
  }),
];

type Step = (typeof schemas.funnelBody)['_zod']['output']['steps'][number];

function toStep(step: Step): FunnelStep {
  switch (step.kind) {
    case 'event':
      return { kind: step.kind, eventName: step.event_name, predicates: step.predicates };
    case 'goal':
      return { kind: step.kind, goalId: step.goal_id };
    default:
      return { kind: step.kind, campaignId: step.campaign_id };
  }
}
