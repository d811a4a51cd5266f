import type { Tx } from '../../platform/kernel/transact.ts';
import { replacingDifferent } from './replacing.ts';

/** Campaign id of the rows that cover all campaigns. */
export const ALL_CAMPAIGNS = '00000000-0000-0000-0000-000000000000';

/**
 * Columns of `prospect_facts` with the time at which an outcome first occurred. Only opens and clicks by people and
 * only hard bounces are included.
 */
export const MILESTONES = [
  'opened_at',
  'clicked_at',
  'replied_at',
  'positive_at',
  'bounced_at',
  'complained_at',
  'unsubscribed_at',
] as const;

/** Columns of `prospect_facts` except its key. */
export const PROSPECT_MEASURES = [
  'sends',
  'first_sent_at',
  'last_sent_at',
  ...MILESTONES,
  'activity_at',
  'goal_ids',
] as const;

/**
 * SQL for the rows of `prospect_facts` for the contacts in `wanted (id)`, from the facts of their emails and their
 * people's conversions. A contact without a confirmed send gets no row.
 */
export const PROSPECTS = `select f.contact_id, coalesce(f.campaign_id, '${ALL_CAMPAIGNS}'::uuid) as campaign_id, count(*)::int as sends,
       min(f.sent_at) as first_sent_at, max(f.sent_at) as last_sent_at, ${MILESTONES.map((column) => `min(f.${column}) as ${column}`).join(', ')},
       greatest(max(f.sent_at), max(f.replied_at), max(f.positive_at), min(c.converted_at)) as activity_at,
       coalesce(min(c.goal_ids), '{}') as goal_ids
     from wanted w join send_facts f on f.contact_id = w.id and f.organization_id = :org and f.sent_at is not null
     left join lateral (
       select max(v.occurred_at) as converted_at, array_agg(distinct v.goal_id order by v.goal_id) as goal_ids
       from people p join conversions v on v.person_id = p.id where p.contact_id = w.id
     ) c on true
     group by grouping sets ((f.contact_id, f.campaign_id), (f.contact_id))`;

/** Updates the prospect facts of contacts whose data may have changed. Repeated calls change nothing. */
export async function recordProspects(tx: Tx, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length === 0) return;
  const measures = PROSPECT_MEASURES.join(', ');
  await tx.org.sql(
    `with wanted as materialized (
       -- Locked until commit, so that a contact that is being deleted gets no row.
       select id from contacts where organization_id = :org and id = any(:ids::uuid[]) order by id for key share
     ), now as materialized (${PROSPECTS}), gone as (
       delete from prospect_facts f using wanted w
       where f.organization_id = :org and f.contact_id = w.id
         and not exists (select 1 from now n where n.contact_id = f.contact_id and n.campaign_id = f.campaign_id)
     )
     insert into prospect_facts (organization_id, contact_id, campaign_id, ${measures})
     select :org, contact_id, campaign_id, ${measures} from now
     ${replacingDifferent('prospect_facts', 'contact_id, campaign_id', PROSPECT_MEASURES)}`,
    { ids: contactIds },
  );
}
