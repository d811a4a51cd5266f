import type { Tx } from '../../platform/kernel/transact.ts';
import { replacingDifferent } from './replacing.ts';

/** Parts of the origin of opens and clicks that are counted, each with its column of `engagement_events`. */
const VISIT_PARTS = { countries: 'country_code', clients: 'client', devices: 'device_type' } as const;
export type VisitPart = keyof typeof VISIT_PARTS;

/** Columns of `visit_facts` except its key. */
export const VISIT_MEASURES = ['campaign_id', 'first_at'] as const;

/** SQL condition: a person has opened the email `f` or clicked in it. */
export const IS_VISITED = '(f.opened_at is not null or f.clicked_at is not null)';

/**
 * SQL for the rows of `visit_facts` for the visitors in `wanted (visitor)`, from the events of their emails. A click
 * that may still be recognized as a machine's is not counted yet.
 */
export const VISITS = `select f.visitor, o.part, o.key, f.campaign_id, min(e.at) as first_at
     from wanted w join send_facts f on f.visitor = w.visitor and f.organization_id = :org
     join engagement_events e on e.send_id = f.send_id and e.organization_id = :org
       and e.type in ('open', 'click') and not e.machine and e.announce_at is null
     cross join lateral (values ${Object.entries(VISIT_PARTS)
       .map(([part, column]) => `('${part}', coalesce(e.${column}, ''))`)
       .join(', ')}) o (part, key)
     group by 1, 2, 3, 4`;

/** SQL for the expected counts of `fact_visits`. */
export const COUNTED_VISITS = `select campaign_id, part, key, count(*)::int as visitors from visit_facts where organization_id = :org group by 1, 2, 3`;

/**
 * Updates the origins of opens and clicks for the visitors of the given emails, and adds the differences to the counts.
 * A contact is one visitor per campaign, regardless of the opened emails. Call it after `recordFacts` in the same
 * transaction, which has the lock. Repeated calls change nothing.
 */
export async function recordVisits(tx: Tx, sendIds: readonly string[]): Promise<void> {
  if (sendIds.length === 0) return;
  await tx.org.lock(`facts/${tx.org.organizationId}`);
  await nameVisitors(tx, sendIds);
  await tx.org.sql(
    `with wanted as materialized (
       select distinct visitor from send_facts where organization_id = :org and send_id = any(:ids::uuid[]) and visitor is not null
     ), before as materialized (
       select v.* from visit_facts v join wanted w on w.visitor = v.visitor where v.organization_id = :org
     ), now as materialized (${VISITS}), gone as (
       delete from visit_facts v using before b where v.organization_id = :org and v.visitor = b.visitor and v.part = b.part and v.key = b.key
         and not exists (select 1 from now n where n.visitor = b.visitor and n.part = b.part and n.key = b.key)
     ), stored as (
       insert into visit_facts (organization_id, visitor, part, key, ${VISIT_MEASURES.join(', ')})
       select :org, visitor, part, key, ${VISIT_MEASURES.join(', ')} from now
       ${replacingDifferent('visit_facts', 'visitor, part, key', VISIT_MEASURES)}
     )
     insert into fact_visits (organization_id, campaign_id, part, key, visitors)
     select :org, campaign_id, part, key, sum(count) from (
       select campaign_id, part, key, 1 as count from now union all select campaign_id, part, key, -1 from before
     ) changed group by campaign_id, part, key having sum(count) <> 0
     on conflict (campaign_id, part, key) do update set visitors = fact_visits.visitors + excluded.visitors`,
    { ids: sendIds },
  );
}

/**
 * Assigns a visitor to opened emails: that of another email to the contact in the campaign, otherwise the id of the
 * first opened email. The visitor is kept when the contact is deleted, so that the counts do not change. Emails first
 * opened after the deletion get another visitor.
 */
async function nameVisitors(tx: Tx, sendIds: readonly string[]): Promise<void> {
  await tx.org.sql(
    `update send_facts f set visitor = coalesce(
       (select k.visitor from send_facts k
        where k.organization_id = :org and k.contact_id = n.contact_id and k.campaign_id = n.campaign_id and k.visitor is not null limit 1),
       n.first)
     from (
       select f.send_id, f.contact_id, f.campaign_id,
         first_value(f.send_id) over (partition by f.campaign_id, coalesce(f.contact_id, f.send_id) order by f.send_id) as first
       from send_facts f where f.organization_id = :org and f.send_id = any(:ids::uuid[]) and f.visitor is null and ${IS_VISITED}
     ) n
     where f.organization_id = :org and f.send_id = n.send_id`,
    { ids: sendIds },
  );
}

/** Recounts the visitors of a campaign. */
export async function recountVisits(tx: Tx, campaignId: string): Promise<void> {
  await tx.org.sql('delete from fact_visits where organization_id = :org and campaign_id = :campaign', {
    campaign: campaignId,
  });
  await tx.org.sql(
    `insert into fact_visits (organization_id, campaign_id, part, key, visitors)
     select :org, campaign_id, part, key, visitors from (${COUNTED_VISITS}) counted where campaign_id = :campaign`,
    { campaign: campaignId },
  );
}
