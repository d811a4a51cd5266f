import { DAY_MS } from '../../../lib/clock.ts';
import { MATCH_METHODS, type MatchMethod } from '../aggregates/acquisitions.ts';
import type { AttributionSettings } from './settings.ts';

export { MATCH_METHODS, type MatchMethod };

export const STATUSES = ['attributed', 'unattributed', 'estimated'] as const;
export type Status = (typeof STATUSES)[number];

/** Filter of customers: acquired at or after `from` and before `to`. */
export interface CustomerFilter {
  from: Date;
  to: Date;
  /** Id of the campaign that is credited, or with the status `estimated` of the campaign of the estimate. */
  campaignId?: string | undefined;
  status?: Status | undefined;
  /**
   * Returns only customers with this match method. The following fields select the customers of other numbers of the
   * summary.
   */
  matchMethod?: MatchMethod | undefined;
  corrected?: true | undefined;
  withoutEngagement?: true | undefined;
}

/**
 * Returns SQL for the customers `c` with their credit, from the rows of `acquisition_facts` (`a`) that a condition
 * selects. A person's correction always applies. Otherwise the last send before the acquisition is credited if it was
 * less than `window` old at the acquisition. Without such a send and without a correction, the last send to a colleague
 * may be the estimate.
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

/**
 * Returns SQL for the customers of a filter as `c`, with `f` as the row of the credited send and `g` as that of the
 * estimate.
 * @param joins additional tables
 */
export const creditedCustomers = (filter: CustomerFilter, joins = ''): string =>
  `(${customers('a.acquired_at >= :from and a.acquired_at < :to')}) c
     left join send_facts f on f.send_id = c.send_id left join send_facts g on g.send_id = c.estimate_id ${joins}
     where ${ofStatus(filter)}${ofFigure(filter)}`;

/** Returns the bindings of {@link customers} and {@link creditedCustomers}. */
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

/** SQL for the status of a customer `c`. */
export const STATUS = `case when c.send_id is not null then 'attributed' when c.estimate_id is not null then 'estimated' else 'unattributed' end`;

/**
 * SQL for the time of the person's first product event between the credited send `f` and the acquisition, without the
 * event of the conversion itself.
 */
export const VISITED = `(select min(e.occurred_at) from product_events e where e.organization_id = :org and e.person_id = c.person_id
       and e.occurred_at >= f.sent_at and e.occurred_at < c.acquired_at and e.id <> c.event_id)`;

/** SQL condition: no reaction was observed between the credited send and the acquisition. */
export const WITHOUT_ENGAGEMENT = `(f.replied_at <= c.acquired_at or f.opened_at <= c.acquired_at or f.clicked_at <= c.acquired_at) is not true
       and ${VISITED} is null`;

function recent(sentAt: string): string {
  return `${sentAt} > a.acquired_at - make_interval(secs => :window)`;
}

/**
 * Returns an SQL condition on the status. With a campaign, only customers credited to it match, so an unattributed
 * customer matches no campaign.
 */
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
