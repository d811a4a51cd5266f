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

/** Routes of reports about people's behaviour: event trends, funnels and prospects. */
export const behaviourRoutes = [
  route({
    ...read,
    operationId: 'acquisition.getEventTrends',
    method: 'post',
    path: '/acquisition/event-trends',
    isQuestion: true,
    summary: 'Count the occurrences of a product event',
    description:
      'Counts occurrences and distinct people by UTC day or week, for events of a name whose data meets all conditions. Stores nothing.',
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
    operationId: 'acquisition.getFunnel',
    method: 'post',
    path: '/acquisition/funnels',
    isQuestion: true,
    summary: 'Count the people who take steps in order',
    description:
      'The first step must be in the range, the others less than `window_days` after it, each at or after the previous one and by another occurrence. Stores nothing.',
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
    operationId: 'acquisition.listEventTrendPeople',
    method: 'post',
    path: '/acquisition/event-trends/people',
    isQuestion: true,
    summary: 'List the people whom a trend counts',
    description:
      'Takes the parameters of the trend; `total` is its `people`. For one bucket, use its start as `from` and the start of the next as `to`, within the range.',
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
    operationId: 'acquisition.listFunnelPeople',
    method: 'post',
    path: '/acquisition/funnels/people',
    isQuestion: true,
    summary: 'List the people of a funnel step',
    description:
      "Takes the parameters of the funnel and the number of a step; `total` is the step's `people`, or its `drop_off` with `lost`.",
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
    isQuestion: true,
    summary: 'List contacts with confirmed sends',
    description:
      'Latest activity first. `interested` means a positive reply; `silent` means no reply, signup, activation or payment.',
    query: schemas.prospectsQuery,
    success: { status: 200, body: schemas.prospects },
    errors: ['not_found'],
    handler: async (ctx, { query: { campaign_id: campaignId, filter, dropoff, q, limit, cursor } }) =>
      presentPage(await listProspects(ctx, { campaignId, filter, dropoff, q }, { limit, cursor }), presentProspect),
  }),
  route({
    ...rights.readPeople,
    operationId: 'acquisition.getTimeline',
    method: 'get',
    path: '/acquisition/prospects/:contactId/timeline',
    summary: 'List the history of a contact',
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
