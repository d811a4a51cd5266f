import type { CountedPerson } from '../../../domain/reporting/acquisition/counted-people.ts';
import type { z } from 'zod';
import type { AttributionSummary } from '../../../domain/reporting/acquisition/attribution.ts';
import type { CreditedSend, CustomerRow, Explanation } from '../../../domain/reporting/acquisition/attributions.ts';
import type { CohortRow, StageCount } from '../../../domain/reporting/acquisition/cohort.ts';
import type { CorrectionRow } from '../../../domain/reporting/acquisition/corrections.ts';
import type { CountedRow } from '../../../domain/reporting/acquisition/explain.ts';
import { largestDropOff, type FunnelStep } from '../../../domain/reporting/acquisition/funnels.ts';
import type { ProspectRow } from '../../../domain/reporting/acquisition/prospects.ts';
import type { AttributionSettings } from '../../../domain/reporting/acquisition/settings.ts';
import type { SpendRow } from '../../../domain/reporting/acquisition/spend.ts';
import type { TimelineItem } from '../../../domain/reporting/acquisition/timeline.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';

type Body<S extends z.ZodType> = z.input<S>;
type Item<S extends z.ZodType<unknown, { data: unknown[] }>> = z.input<S>['data'][number];

/**
 * Returns the figures of a summary or of one row of a breakdown. `per_10k_sends` has two decimals. Costs are whole
 * minor units, null if the count is zero.
 */
export function presentFigures(row: CohortRow): Omit<Body<typeof schemas.summary>, 'from' | 'to' | 'window_days'> {
  const people = (stage: StageCount['stage']) => row.stages.find((each) => each.stage === stage)!.people;
  const costPer = (stage: StageCount['stage']) =>
    people(stage) === 0 ? null : Math.round(row.spend!.amountMinor / people(stage));
  return {
    confirmed_sends: row.confirmedSends,
    mature_sends: row.matureSends,
    prospects: row.prospects,
    stages: row.stages.map(({ stage, goalId, people: count, maturePeople }) => ({
      stage,
      goal_id: goalId,
      people: count,
      mature_people: maturePeople,
      per_10k_sends: row.matureSends === 0 ? null : Math.round((maturePeople / row.matureSends) * 1_000_000) / 100,
    })),
    window_revenue: row.windowRevenue.map(({ currency, amountMinor, conversions }) => ({
      currency,
      amount_minor: amountMinor,
      conversions,
    })),
    ...(row.spend
      ? {
          spend: {
            amount_minor: row.spend.amountMinor,
            currency: row.spend.currency,
            cost_per_signup_minor: costPer('signup'),
            cost_per_paid_minor: costPer('paid'),
          },
        }
      : {}),
  };
}

/**
 * Returns one contact, send or conversion that a figure counts (GET /acquisition/explain). The figure decides which ids
 * are set.
 */
export function presentCounted(row: CountedRow): Item<typeof schemas.counted> {
  const { id, contact_id, contact_email, send_id, conversion_id, amount_minor, currency } = row;
  return { id, contact_id, contact_email, send_id, conversion_id, at: iso(row.at), amount_minor, currency };
}

/** Returns the recorded cost of a campaign, in minor units of its currency. */
export function presentSpend(row: SpendRow): Body<typeof schemas.spend> {
  return {
    campaign_id: row.campaign_id,
    amount_minor: Number(row.amount_minor),
    currency: row.currency,
    updated_by: row.updated_by,
    updated_at: iso(row.updated_at),
  };
}

/** Returns the settings of attribution, for their own route and for every summary. */
export function presentSettings(settings: AttributionSettings): Body<typeof schemas.settings> {
  return {
    window_days: settings.windowDays,
    company_estimates: settings.companyEstimates,
    updated_by: settings.updatedBy,
    updated_at: iso(settings.updatedAt),
  };
}

/** Returns the customers of a period, with and without a credited email. The route adds the period itself. */
export function presentAttribution(
  summary: AttributionSummary,
): Omit<Body<typeof schemas.attributionSummary>, 'from' | 'to'> {
  return {
    settings: presentSettings(summary.settings),
    acquisition_goal: summary.goal,
    customers: summary.customers,
    unattributed: summary.unattributed,
    attributed: summary.attributed,
    attributed_without_engagement: summary.withoutEngagement,
    match_methods: summary.matchMethods,
    corrected: summary.corrected,
    company_estimate: { enabled: summary.settings.companyEstimates, customers: summary.estimated },
    pending: summary.pending,
  };
}

/** Returns one customer of GET /acquisition/attributions, with the credited email, if any. */
export function presentCustomer(row: CustomerRow): Item<typeof schemas.attributions> {
  const { person_id, contact_id, contact_email, goal_id, status, match_method, corrected, send_id, campaign_id } = row;
  return {
    person_id,
    contact_id,
    contact_email,
    goal_id,
    acquired_at: iso(row.acquired_at),
    status,
    match_method,
    corrected,
    send_id,
    sent_at: iso(row.sent_at),
    campaign_id,
  };
}

/**
 * Returns the explanation of one person's credit: the conversion, the credited email, touches in between, corrections,
 * and other emails that a person could credit.
 */
export function presentExplanation(found: Explanation): Body<typeof schemas.explanation> {
  const { acquisition } = found;
  return {
    person_id: found.personId,
    contact_id: found.contactId,
    acquisition: acquisition && {
      goal: found.goal!,
      conversion_id: acquisition.conversion_id,
      event_id: acquisition.event_id,
      acquired_at: iso(acquisition.acquired_at),
      match_method: acquisition.match_method,
      status: acquisition.status,
      corrected: acquisition.corrected,
    },
    credit: found.credit && presentCredit(found.credit),
    company_estimate: found.companyEstimate && presentCredit(found.companyEstimate),
    lifetime_revenue: found.lifetimeRevenue.map(({ currency, amount, conversions }) => ({
      currency,
      amount_minor: amount,
      conversions,
    })),
    pending: found.pending,
    touches: found.touches.map((touch) => ({ ...touch, at: iso(touch.at) })),
    corrections: found.corrections.map(presentCorrection),
    candidate_sends: found.candidates.map((send) => ({ ...send, sent_at: iso(send.sent_at) })),
  };
}

function presentCredit(send: CreditedSend): NonNullable<Body<typeof schemas.explanation>['credit']> {
  return {
    ...send,
    sent_at: iso(send.sent_at),
    replied_at: iso(send.replied_at),
    opened_at: iso(send.opened_at),
    clicked_at: iso(send.clicked_at),
    visited_at: iso(send.visited_at),
  };
}

/**
 * Returns a person's correction of a credit, in force or revoked. Used for the response to a correction and in
 * explanations.
 */
export function presentCorrection(row: CorrectionRow): Body<typeof schemas.correction> {
  const { id, action, send_id, reason, is_current, corrected_by } = row;
  return { id, action, send_id, reason, is_current, corrected_by, created_at: iso(row.created_at) };
}

/** Returns a contact with confirmed sends and the first time of each milestone (null: not reached). */
export function presentProspect(row: ProspectRow): Item<typeof schemas.prospects> {
  const { contact_id, email, first_name, last_name, company } = row;
  return {
    contact_id,
    email,
    first_name,
    last_name,
    company,
    confirmed_sends: row.sends,
    first_sent_at: iso(row.first_sent_at),
    last_sent_at: iso(row.last_sent_at),
    opened_at: iso(row.opened_at),
    clicked_at: iso(row.clicked_at),
    replied_at: iso(row.replied_at),
    positive_reply_at: iso(row.positive_at),
    bounced_at: iso(row.bounced_at),
    complained_at: iso(row.complained_at),
    unsubscribed_at: iso(row.unsubscribed_at),
    signed_up_at: iso(row.signed_up_at),
    activated_at: iso(row.activated_at),
    paid_at: iso(row.paid_at),
    last_activity_at: iso(row.activity_at),
  };
}

/** Returns one entry of a prospect's history. A conversion includes its value and the last email before it. */
export function presentTimelineItem(item: TimelineItem): Body<typeof schemas.timeline>['data'][number] {
  const { kind, id, campaign_id, send_id, title, goal_id, value_minor, currency, last_send_before: before } = item;
  return {
    kind,
    id,
    at: iso(item.at),
    campaign_id,
    send_id,
    title,
    ...(goal_id
      ? {
          conversion: {
            goal_id,
            value_minor,
            currency,
            last_send_before: before && { ...before, sent_at: iso(new Date(before.sent_at)) },
          },
        }
      : {}),
  };
}

/**
 * Returns the steps of a funnel. Percentages have two decimals, null if the total is zero. `largest_drop_off_step`
 * counts from 1.
 */
export function presentFunnel(
  kinds: readonly FunnelStep['kind'][],
  people: readonly number[],
): Pick<Body<typeof schemas.funnel>, 'steps' | 'largest_drop_off_step'> {
  const percent = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 100);
  const largest = largestDropOff(people);
  return {
    steps: people.map((count, index) => ({
      kind: kinds[index]!,
      people: count,
      conversion_from_previous: index === 0 ? null : percent(count, people[index - 1]!),
      conversion_from_first: percent(count, people[0]!),
      drop_off: index === 0 ? 0 : people[index - 1]! - count,
    })),
    largest_drop_off_step: largest === null ? null : largest + 1,
  };
}

/** Returns a person counted by a point of a trend or a step of a funnel, with the time. */
export function presentCountedPerson({ at, ...person }: CountedPerson): z.input<typeof schemas.people>['data'][number] {
  return { ...person, at: iso(at) };
}
