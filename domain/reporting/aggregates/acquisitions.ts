import type { OrgScope } from '../../../db/tenancy.ts';
import { isCompanyDomain } from '../../../lib/free-mail.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { replacingDifferent } from './replacing.ts';

/** Method by which a customer was matched to the mailed contact. */
export const MATCH_METHODS = ['contact', 'email', 'linked_identity', 'website_visitor', 'unknown', 'none'] as const;
export type MatchMethod = (typeof MATCH_METHODS)[number];

/** Columns of `acquisition_facts` except its key. */
export const ACQUISITION_MEASURES = [
  'contact_id',
  'conversion_id',
  'event_id',
  'acquired_at',
  'match_method',
  'send_id',
  'sent_at',
  'company_domain',
  'colleague_send_id',
  'colleague_sent_at',
  'colleague_id',
] as const;

/**
 * Returns SQL for the last confirmed send to a contact at or before a time. If several have the same time, it is the
 * one with the greatest id.
 */
export const lastSend = (contact: string, moment: string): string =>
  `select s.send_id, s.sent_at, s.contact_id from send_facts s where s.organization_id = :org and s.contact_id = ${contact} and s.sent_at <= ${moment}
       order by s.sent_at desc, s.send_id desc limit 1`;

/**
 * SQL for the rows of `acquisition_facts` for the people in `wanted (id, domain)`. For each signup or paid goal,
 * primary or not, a row contains the first conversion, the last send before it, and the last send to a colleague. If
 * several conversions have the same time, the one with the smallest id is used. Reports apply the settings, which
 * determine the goal and the window.
 */
export const ACQUISITIONS = `select f.person_id, f.goal_id, f.contact_id, f.conversion_id, f.event_id, f.acquired_at,
       case when f.contact_id is null then 'none'
         -- A pruned event keeps its stored match method, because it cannot be evaluated again.
         when e.id is null then case when k.event_id = f.event_id and k.contact_id = f.contact_id then k.match_method else 'unknown' end
         when e.named_by = 'anonymous_id' then 'website_visitor'
         when e.named_by = 'user_id' or e.contact_id is distinct from f.contact_id then 'linked_identity'
         when e.named_by in ('contact', 'email') then e.named_by
         else 'unknown' end as match_method,
       own.send_id, own.sent_at, f.domain as company_domain,
       colleague.send_id as colleague_send_id, colleague.sent_at as colleague_sent_at, colleague.contact_id as colleague_id
     from (
       select distinct on (v.person_id, v.goal_id) v.person_id, v.goal_id, p.contact_id, w.domain,
         v.id as conversion_id, v.event_id, v.occurred_at as acquired_at
       from wanted w join people p on p.id = w.id and p.organization_id = :org join conversions v on v.person_id = p.id
       join goals g on g.id = v.goal_id and g.kind in ('signup', 'paid')
       order by v.person_id, v.goal_id, v.occurred_at, v.id
     ) f
     left join product_events e on e.id = f.event_id and e.organization_id = :org
     left join acquisition_facts k on k.person_id = f.person_id and k.goal_id = f.goal_id and k.organization_id = :org
     left join lateral (${lastSend('f.contact_id', 'f.acquired_at')}) own on true
     left join lateral (
       select l.* from contacts k cross join lateral (${lastSend('k.id', 'f.acquired_at')}) l
       where k.organization_id = :org and split_part(k.email, '@', -1) = f.domain and k.id is distinct from f.contact_id
       order by l.sent_at desc, l.send_id desc limit 1
     ) colleague on f.domain is not null`;

/** Updates the acquisition facts of people whose data may have changed. Repeated calls change nothing. */
export async function recordAcquisitions(tx: Tx, personIds: readonly string[]): Promise<void> {
  if (personIds.length === 0) return;
  const domains = await companyDomains(tx.org, personIds);
  const measures = ACQUISITION_MEASURES.join(', ');
  await tx.org.sql(
    `with wanted as materialized (
       select p.id, w.domain from unnest(:ids::uuid[], :domains::text[]) as w(id, domain)
       join people p on p.id = w.id and p.organization_id = :org order by p.id for key share of p
     ), now as materialized (${ACQUISITIONS}), gone as (
       delete from acquisition_facts f using wanted w
       where f.organization_id = :org and f.person_id = w.id
         and not exists (select 1 from now n where n.person_id = f.person_id and n.goal_id = f.goal_id)
     )
     insert into acquisition_facts (organization_id, person_id, goal_id, ${measures})
     select :org, person_id, goal_id, ${measures} from now
     ${replacingDifferent('acquisition_facts', 'person_id, goal_id', ACQUISITION_MEASURES)}`,
    { ids: [...domains.keys()], domains: [...domains.values()] },
  );
}

/**
 * Returns the company domain of each person, from the contact's address or, without a contact, from the first known
 * address. Null for a domain of a public mail provider.
 */
export async function companyDomains(org: OrgScope, personIds: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await org.sql<{ id: string; domain: string | null }>(
    `select p.id, nullif(split_part(coalesce(k.email, i.value, ''), '@', -1), '') as domain
     from people p left join contacts k on k.id = p.contact_id
     left join lateral (
       select i.value from person_identifiers i where i.person_id = p.id and i.kind = 'email' order by i.first_seen_at, i.value limit 1
     ) i on p.contact_id is null
     where p.organization_id = :org and p.id = any(:ids::uuid[])`,
    { ids: personIds },
  );
  return new Map(rows.map(({ id, domain }) => [id, domain !== null && isCompanyDomain(domain) ? domain : null]));
}
