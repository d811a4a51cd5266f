import { z } from 'zod';
import { MATCH_METHODS, STATUSES } from '../../../domain/reporting/acquisition/credits.ts';
import { STAGES } from '../../../domain/reporting/acquisition/cohort.ts';
import { DIMENSIONS } from '../../../domain/reporting/acquisition/dimensions.ts';
import { INTERVALS } from '../../../domain/reporting/acquisition/event-trends.ts';
import { FIGURES } from '../../../domain/reporting/acquisition/explain.ts';
import { DROP_OFFS, PROSPECT_FILTERS } from '../../../domain/reporting/acquisition/prospects.ts';
import { TIMELINE_KINDS } from '../../../domain/reporting/acquisition/timeline.ts';
import { predicatesSchema } from '../../../domain/directory/predicates/predicate.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { currencyCode } from '../../../lib/money.ts';
import { message, type Message } from '../../../messages/index.ts';
import { asIssue, ruleMessage } from '../../../lib/issue-message.ts';
import { besideFaults, inputTimestamp, paged, pageQuery, resource, timestamp, uuid } from '../../http/schemas.ts';

const MAX_RANGE_DAYS = 366;

const count = z.int().min(0);
const instant = timestamp.nullable();

const rangeFields = {
  from: inputTimestamp.optional().meta({ description: 'Included. Default: 30 days before `to`' }),
  to: inputTimestamp.optional().meta({ description: 'Not included. Default: now' }),
};
export const windowDays = z.coerce.number().int().min(1).max(365);

/** Returns the problem of a period with both ends given; undefined if it is valid. */
export const rangeProblem = ({ from, to }: { from?: unknown; to?: unknown }): Message | undefined => {
  if (!(from instanceof Date) || !(to instanceof Date)) return undefined;
  if (to < from) return message('reporting.before_from');
  return to.getTime() - from.getTime() > MAX_RANGE_DAYS * DAY_MS
    ? message('reporting.days_after_from', { max: MAX_RANGE_DAYS })
    : undefined;
};

/** Refuses a period that ends before it begins or is too long, in addition to problems of other fields. */
const ranged = <Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape>) =>
  schema.refine((value) => rangeProblem(value) === undefined, {
    path: ['to'],
    error: ({ input }) => asIssue(rangeProblem(input as { from?: unknown; to?: unknown })!),
    ...besideFaults,
  });

const campaign = {
  campaign_id: z.string().optional().meta({ description: 'Only confirmed sends of this campaign' }),
};
const cohortFields = {
  ...rangeFields,
  window_days: windowDays.default(30).meta({
    description: "Number of days (24 hours) after a send within which a person's actions count for it, 1 to 365",
  }),
  ...campaign,
};
const dimension = z.enum(DIMENSIONS);

export const cohortQuery = ranged(z.object(cohortFields));
export const breakdownQuery = ranged(
  z.object({
    ...cohortFields,
    dimension: dimension.default('campaign').meta({ description: 'Property that the rows are grouped by' }),
  }),
);
export const explainQuery = ranged(
  z.object({
    ...cohortFields,
    figure: z.enum(FIGURES).meta({ description: 'Figure to list' }),
    mature: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'true: lists what `mature_people` counts, in place of `people`' }),
    currency: z.string().optional().meta({ description: 'Only this currency, for window_revenue' }),
    dimension: dimension
      .default('all')
      .meta({ description: 'Property that the breakdown is grouped by; requires `key`' }),
    key: z.string().max(200).optional().meta({
      description: 'The `key` of a row of the breakdown; empty for the row without one. Omit for the summary',
    }),
    ...pageQuery(200),
  }),
);
export const customerQuery = ranged(
  z.object({
    ...rangeFields,
    campaign_id: z.string().optional().meta({ description: 'Only customers credited to this campaign' }),
  }),
);
export const attributionBreakdownQuery = customerQuery.safeExtend({
  dimension: z
    .enum([...DIMENSIONS.filter((name) => name !== 'all'), 'match_method'])
    .default('campaign')
    .meta({ description: 'Property that the rows are grouped by' }),
});
export const attributionsQuery = customerQuery.safeExtend({
  status: z.enum(STATUSES).optional().meta({
    description: 'estimated: unattributed, with a colleague who got an email. Omit for all customers',
  }),
  match_method: z.enum(MATCH_METHODS).optional().meta({ description: 'Only customers recognized by this method' }),
  corrected: z.literal('true').optional().meta({ description: "Only customers with a person's correction" }),
  without_engagement: z
    .literal('true')
    .optional()
    .meta({ description: 'Only customers counted by `attributed_without_engagement`' }),
  ...pageQuery(200),
});

export const campaignParams = z.object({ campaignId: z.string() });
export const contactParams = z.object({ contactId: z.string() });
export const personParams = z.object({ personId: z.string() });

const currency = z
  .string()
  .trim()
  .refine((text) => currencyCode(text) !== undefined, ruleMessage('directory.currency'))
  .transform((text) => currencyCode(text)!)
  .meta({ description: 'ISO 4217' });

export const spendBody = z.strictObject({
  amount_minor: z
    .int()
    .min(0)
    .meta({ description: 'Total cost of the campaign, in the minor unit of the currency (cents)' }),
  currency,
});
export const spend = resource('CampaignSpend', {
  campaign_id: uuid,
  amount_minor: count,
  currency: z.string(),
  updated_by: uuid.nullable(),
  updated_at: timestamp,
});

export const settingsBody = z.strictObject({
  window_days: z.int().min(1).max(365).optional(),
  company_estimates: z.boolean().optional(),
});
export const settings = resource('AttributionSettings', {
  window_days: z
    .int()
    .meta({ description: 'Maximum age of the credited send at the acquisition, in days of 24 hours' }),
  company_estimates: z.boolean(),
  updated_by: uuid.nullable(),
  updated_at: instant,
});

const stage = resource('CohortStage', {
  stage: z.enum(STAGES),
  goal_id: uuid.nullable().meta({ description: 'Primary goal of the stage; null for replies and if none is primary' }),
  people: count.meta({ description: 'Distinct prospects who reached it within the window of one of these sends' }),
  mature_people: count.meta({
    description: 'Prospects of `people` who reached it after a send whose window has closed',
  }),
  per_10k_sends: z
    .number()
    .min(0)
    .nullable()
    .meta({ description: 'mature_people / mature_sends * 10000; null without mature sends' }),
});
const money = resource('Money', { currency: z.string(), amount_minor: z.number(), conversions: count });
const cohortFigures = {
  confirmed_sends: count,
  mature_sends: count.meta({ description: 'Confirmed sends whose window has closed' }),
  prospects: count.meta({ description: 'Distinct contacts of these sends, without deleted contacts' }),
  stages: z.array(stage),
  window_revenue: z.array(money).meta({
    description:
      'By currency, never added across currencies. Each conversion counts once, of the primary revenue goal, or else of the primary paid goal',
  }),
  spend: z
    .strictObject({
      amount_minor: count,
      currency: z.string(),
      cost_per_signup_minor: z.int().nullable(),
      cost_per_paid_minor: z.int().nullable(),
    })
    .optional()
    .meta({
      description: 'Spend of campaigns with a known cost; cost per person of this report, null without people',
    }),
};
const range = { from: timestamp, to: timestamp };
export const summary = resource('AcquisitionSummary', { ...range, window_days: z.int(), ...cohortFigures });
export const breakdown = resource('AcquisitionBreakdown', {
  ...range,
  window_days: z.int(),
  dimension,
  rows: z.array(
    z.strictObject({
      key: z.string().nullable().meta({ description: 'Id or label; null for sends without one' }),
      name: z.string().nullable().meta({ description: 'Current name; null if it was deleted' }),
      ...cohortFigures,
    }),
  ),
  truncated: z.boolean().meta({ description: 'True if there are more groups than the 500 with the most sends' }),
});
export const counted = paged(
  resource('CountedProspect', {
    id: uuid.meta({ description: 'Id of the counted send, contact or conversion' }),
    contact_id: uuid.nullable().meta({ description: 'Null for a send to a deleted contact' }),
    contact_email: z.string().nullable(),
    send_id: uuid.meta({ description: 'Last send before that time' }),
    conversion_id: uuid.nullable(),
    at: timestamp.meta({ description: 'Time of the send, the reply or the conversion' }),
    amount_minor: z.number().nullable(),
    currency: z.string().nullable(),
  }),
);

const goal = resource('GoalReference', { id: uuid, name: z.string(), kind: z.string() });
const method = z.enum(MATCH_METHODS);

export const attributionSummary = resource('AttributionSummary', {
  ...range,
  settings,
  acquisition_goal: goal.nullable().meta({ description: 'Primary signup goal, or else the primary paid goal' }),
  customers: count,
  unattributed: count,
  attributed: count,
  attributed_without_engagement: count.meta({
    description: 'Attributed, without any observed reply, open, click or visit between the send and the acquisition',
  }),
  match_methods: z.strictObject(
    Object.fromEntries(MATCH_METHODS.map((name) => [name, count])) as Record<
      (typeof MATCH_METHODS)[number],
      typeof count
    >,
  ),
  corrected: count,
  company_estimate: z.strictObject({
    enabled: z.boolean(),
    customers: count.meta({
      description: 'Unattributed customers with a colleague who got an email within the window; in no other figure',
    }),
  }),
  pending: count.meta({ description: 'Number of changes of people and emails that are not in the figures yet' }),
});
export const attributionBreakdown = resource('AttributionBreakdown', {
  ...range,
  dimension: z.string(),
  rows: z
    .array(
      z.strictObject({
        key: z.string().nullable(),
        name: z.string().nullable(),
        customers: count.meta({ description: 'Number of attributed customers' }),
        attributed_without_engagement: count,
        corrected: count,
        company_estimate: count.meta({ description: 'Number of estimated customers; in no other figure' }),
      }),
    )
    .max(100),
});
export const attributions = paged(
  resource('Attribution', {
    person_id: uuid,
    contact_id: uuid.nullable(),
    contact_email: z.string().nullable(),
    goal_id: uuid,
    acquired_at: timestamp,
    status: z.enum(STATUSES),
    match_method: method,
    corrected: z.boolean(),
    send_id: uuid.nullable().meta({ description: 'Credited send; for an estimated customer the colleague’s' }),
    sent_at: instant,
    campaign_id: uuid.nullable(),
  }),
);

const sendFields = {
  send_id: uuid,
  sent_at: timestamp,
  campaign_id: uuid,
  step_id: uuid.nullable(),
  variant_id: uuid.nullable(),
  mailbox_id: uuid.nullable(),
};
const credit = resource('AttributionCredit', {
  ...sendFields,
  send_available: z
    .boolean()
    .meta({ description: 'False if the email was deleted with its campaign: its data was stored before' }),
  contact_id: uuid.nullable(),
  campaign_name: z.string().nullable(),
  offer: z.string().nullable(),
  angle: z.string().nullable(),
  cta: z.string().nullable(),
  copy_hash: z.string().nullable(),
  audience_source: z.string().nullable(),
  segment_id: uuid.nullable(),
  category_ids: z.array(uuid),
  replied_at: instant,
  opened_at: instant,
  clicked_at: instant,
  visited_at: instant.meta({ description: 'First other product event between the send and the acquisition' }),
});
export const correction = resource('AttributionCorrection', {
  id: uuid,
  action: z.enum(['set', 'restored']),
  send_id: uuid
    .nullable()
    .meta({ description: 'Null: not acquired by an email, or the automatic credit was restored' }),
  reason: z.string(),
  is_current: z.boolean(),
  corrected_by: uuid.nullable(),
  created_at: timestamp,
});
export const corrected = z.strictObject({
  person_id: uuid,
  correction: correction.nullable().meta({ description: 'Correction in force; null if the credit is automatic' }),
});
export const explanation = resource('AttributionExplanation', {
  person_id: uuid.nullable(),
  contact_id: uuid.nullable(),
  acquisition: z
    .strictObject({
      goal: goal,
      conversion_id: uuid,
      event_id: uuid,
      acquired_at: timestamp,
      match_method: method,
      status: z.enum(STATUSES),
      corrected: z.boolean(),
    })
    .nullable()
    .meta({ description: 'Null if the person has not reached the acquisition goal' }),
  credit: credit.nullable(),
  company_estimate: credit
    .nullable()
    .meta({ description: 'Estimate if nothing is credited: the last email to a colleague' }),
  lifetime_revenue: z.array(money),
  pending: z.boolean().meta({ description: 'True if a change of this person is not in the answer yet' }),
  touches: z.array(
    z.strictObject({
      kind: z.enum(['send', 'open', 'click', 'reply', 'visit']),
      at: timestamp,
      send_id: uuid.nullable(),
      campaign_id: uuid.nullable(),
      event_id: uuid.nullable(),
      event_name: z.string().nullable(),
    }),
  ),
  corrections: z.array(correction),
  candidate_sends: z.array(z.strictObject({ ...sendFields, in_window: z.boolean() })),
});

const reason = z.string().trim().max(500);
export const correctionBody = z.strictObject({
  send_id: z.string().nullable().meta({
    description: 'Confirmed send to the same contact, at or before the acquisition; null: not acquired by an email',
  }),
  reason: reason.min(1),
});
export const restoreQuery = z.object({
  reason: reason.optional().meta({ description: 'Reason, for the audit log' }),
});

const eventName = z
  .string()
  .max(120)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, ruleMessage('directory.event_name'))
  .meta({ description: 'Name of the event, as in POST /events' });

export const trendBody = ranged(
  z.strictObject({
    name: eventName,
    predicates: predicatesSchema.default([]),
    ...rangeFields,
    interval: z.enum(INTERVALS).default('day').meta({ description: 'UTC days, or weeks from Monday' }),
  }),
);
export const trend = resource('EventTrend', {
  name: z.string(),
  ...range,
  interval: z.enum(INTERVALS),
  occurrences: count,
  people: count.meta({
    description: 'Distinct people of the whole range; less than the sum of the buckets if somebody occurs in several',
  }),
  buckets: z.array(
    z.strictObject({
      start: timestamp.meta({ description: 'Start of the UTC day or week; the range may start later' }),
      occurrences: count,
      people: count,
    }),
  ),
});

export const trendPeopleBody = ranged(
  z.strictObject({ name: eventName, predicates: predicatesSchema.default([]), ...rangeFields }),
);
export const peopleQuery = z.object(pageQuery(200));
export const people = paged(
  resource('CountedPerson', {
    id: uuid.meta({ description: 'Id of the person; in a funnel of the contact, if the person has one' }),
    contact_id: uuid.nullable(),
    contact_email: z.string().nullable(),
    at: timestamp.meta({ description: 'First time at which the person counts' }),
  }),
);

const ofCampaign = z.string().optional().meta({ description: 'Only this campaign. Default: any' });
const funnelStep = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('event'), event_name: eventName, predicates: predicatesSchema.default([]) }),
  z.strictObject({ kind: z.literal('goal'), goal_id: z.string() }),
  z.strictObject({ kind: z.literal('confirmed_send'), campaign_id: ofCampaign }),
  z.strictObject({ kind: z.literal('positive_reply'), campaign_id: ofCampaign }),
]);
const funnelFields = {
  steps: z.array(funnelStep).min(2).max(8),
  ...rangeFields,
  window_days: z
    .int()
    .min(1)
    .max(365)
    .default(30)
    .meta({ description: 'Maximum number of days (24 hours) after the first step for the other steps' }),
};
export const funnelBody = ranged(z.strictObject(funnelFields));
export const funnelPeopleBody = ranged(
  z.strictObject({
    ...funnelFields,
    step: z.int().min(1).max(8).meta({ description: 'Number of the step, from 1' }),
    lost: z.boolean().default(false).meta({
      description: 'true: lists the people counted by `drop_off`, who took the previous step and not this one',
    }),
  }),
);
const share = z.number().min(0).max(100).nullable();
export const funnel = resource('Funnel', {
  ...range,
  window_days: z.int(),
  steps: z.array(
    z.strictObject({
      kind: z.enum(['event', 'goal', 'confirmed_send', 'positive_reply']),
      people: count,
      conversion_from_previous: share.meta({ description: 'Percent; null for the first step, and without people' }),
      conversion_from_first: share.meta({ description: 'Percent; null without people' }),
      drop_off: count.meta({ description: 'People of the previous step who did not take this one; 0 for the first' }),
    }),
  ),
  largest_drop_off_step: z
    .int()
    .min(2)
    .max(8)
    .nullable()
    .meta({ description: 'Number of the step, from 1, with the largest loss; null without losses' }),
});

export const prospectsQuery = z.object({
  campaign_id: z
    .string()
    .optional()
    .meta({ description: 'Only prospects of this campaign, with its sends and replies' }),
  filter: z.enum(PROSPECT_FILTERS).optional().meta({
    description:
      'interested: a positive reply. silent: no reply and no conversion. The others: a conversion of that primary goal',
  }),
  dropoff: z.enum(DROP_OFFS).optional().meta({ description: 'Only prospects who reached one stage and not the next' }),
  q: z.string().max(200).optional().meta({ description: 'Part of the address, the name or the company' }),
  ...pageQuery(200),
});
export const prospects = paged(
  resource('Prospect', {
    contact_id: uuid,
    email: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    company: z.string(),
    confirmed_sends: z.int().min(1),
    first_sent_at: timestamp,
    last_sent_at: timestamp,
    opened_at: instant.meta({ description: 'First open of any of these emails by a person' }),
    clicked_at: instant.meta({ description: 'First click by a person' }),
    replied_at: instant,
    positive_reply_at: instant,
    bounced_at: instant.meta({ description: 'First permanent bounce' }),
    complained_at: instant,
    unsubscribed_at: instant,
    signed_up_at: instant.meta({ description: 'First conversion of the primary signup goal, at any time' }),
    activated_at: instant,
    paid_at: instant,
    last_activity_at: timestamp.meta({ description: 'Latest confirmed send, reply or conversion' }),
  }),
);
export const timeline = z.strictObject({
  data: z
    .array(
      resource('TimelineEntry', {
        kind: z.enum(TIMELINE_KINDS),
        id: uuid,
        at: timestamp,
        campaign_id: uuid.nullable(),
        send_id: uuid.nullable(),
        title: z.string().nullable().meta({
          description:
            'State of the enrollment, subject of the send or draft, intent of the reply, name of the event or goal',
        }),
        conversion: z
          .strictObject({
            goal_id: uuid,
            value_minor: z.number().nullable(),
            currency: z.string().nullable(),
            last_send_before: z
              .strictObject({ send_id: uuid, campaign_id: uuid, sent_at: timestamp })
              .nullable()
              .meta({ description: 'Context only; the conversion may be credited to another send' }),
          })
          .optional(),
      }),
    )
    .max(500),
});
