import { DAY_MS } from '../../../lib/clock.ts';
import { MATCH_METHODS, type MatchMethod } from '../aggregates/acquisitions.ts';
import type { AttributionSettings } from './settings.ts';

export { MATCH_METHODS, type MatchMethod };

export const STATUSES = ['attributed', 'unattributed', 'estimated'] as const;
export type Status = (typeof STATUSES)[number];

/** Which customers: acquired at or after `from` and before `to`. */
export interface CustomerFilter {
  from: Date;
  to: Date;
  /** Credited to this campaign; with the status estimated, estimated to it. */
  campaignId?: string | undefined;
  status?: Status | undefined;
  /** Of the customers those that a figure of the summary counts. */
  matchMethod?: MatchMethod | undefined;
  corrected?: true | undefined;
  withoutEngagement?: true | undefined;
}

/**
 * Customers `c` with their credit, of the rows of acquisition_facts that a condition on `a` selects. A person's decision holds whatever it says. Otherwise
 * the last send before the acquisition is credited when the acquisition lies within its window: at or after the send and less than `window`
 * after it. Where nothing is, and no person has decided, the last send to a colleague may be an estimate.
 */
export const customers = (
  condition: string,
): string => `select a.person_id, a.contact_id, a.goal_id, a.conversion_id, a.event_id,
       a.acquired_at, a.match_method, r.id is not null as corrected,
       case when r.id is not null then r.send_id when ${recent('a.sent_at')} then a.send_id end as send_id,
       case when :estimates and r.id is null and ${recent('a.sent_at')} is not true and a.colleague_id is not null and ${recent('a.colleague_sent_at')}
         then a.colleague_send_id end as estimate_id
     from acquisition_facts a
     left join attribution_corrections r on r.person_id = a.person_id and r.is_current
     where a.organization_id = :org and a.goal_id = :goal and ${condition}`;

/** The customers of a filter as `c`, with `f` the row of the credited send and `g` that of the estimated. @param joins more tables */
export const creditedCustomers = (filter: CustomerFilter, joins = ''): string =>
  `(${customers('a.acquired_at >= :from and a.acquired_at < :to')}) c
     left join send_facts f on f.send_id = c.send_id left join send_facts g on g.send_id = c.estimate_id ${joins}
     where ${ofStatus(filter)}${ofFigure(filter)}`;

/** The bindings of {@link customers} and {@link creditedCustomers}. */
export function creditBindings(settings: AttributionSettings, goalId: string, filter?: CustomerFilter) {
  return {
    goal: goalId,
    window: settings.windowDays * (DAY_MS / 1000),
    estimates: settings.companyEstimates,
    ...(filter ? { from: filter.from, to: filter.to } : {}),
    ...(filter?.campaignId ? { campaign: filter.campaignId } : {}),
    ...(filter?.matchMethod ? { method: filter.matchMethod } : {}),
  };
}

/** The status of a customer `c`. */
export const STATUS = `case when c.send_id is not null then 'attributed' when c.estimate_id is not null then 'estimated' else 'unattributed' end`;

/** When the person first did something after the credited send `f` and before the acquisition, other than converting. */
export const VISITED = `(select min(e.occurred_at) from product_events e where e.organization_id = :org and e.person_id = c.person_id
       and e.occurred_at >= f.sent_at and e.occurred_at < c.acquired_at and e.id <> c.event_id)`;

/** Nothing was observed of a customer between the credited send and the acquisition. */
export const WITHOUT_ENGAGEMENT = `(f.replied_at <= c.acquired_at or f.opened_at <= c.acquired_at or f.clicked_at <= c.acquired_at) is not true
       and ${VISITED} is null`;

function recent(sentAt: string): string {
  return `${sentAt} > a.acquired_at - make_interval(secs => :window)`;
}

/** With a campaign those are meant whom it is credited with: an unattributed customer is of no campaign. */
function ofStatus({ status, campaignId }: CustomerFilter): string {
  if (status === 'estimated') return `c.estimate_id is not null${campaignId ? ' and g.campaign_id = :campaign' : ''}`;
  if (status === 'unattributed') return campaignId ? 'false' : 'c.send_id is null';
  if (campaignId) return 'c.send_id is not null and f.campaign_id = :campaign';
  return status === 'attributed' ? 'c.send_id is not null' : 'true';
}

function ofFigure({ matchMethod, corrected, withoutEngagement }: CustomerFilter): string {
  return [
    matchMethod ? ' and c.match_method = :method' : '',
    corrected ? ' and c.corrected' : '',
    withoutEngagement ? ` and c.send_id is not null and ${WITHOUT_ENGAGEMENT}` : '',
  ].join('');
}
