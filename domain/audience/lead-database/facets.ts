import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { compileLeadQuery, LEADS, type LeadQuery } from './query.ts';

export const FACETS = ['outreach_status', 'seniority', 'department', 'esp_provider', 'verification_status'] as const;
type Facet = (typeof FACETS)[number];

/** Maximum number of values listed per facet. Seniority and department are free text and may have many. */
const LISTED = 100;

/**
 * Counts the matching contacts by facet value, most common first. An unknown seniority or department has an empty key,
 * an unknown provider the key `unknown`.
 * @throws AppError invalid_lead_query
 */
export async function countLeadFacets(
  ctx: Ctx,
  query: LeadQuery,
): Promise<Record<Facet, { key: string; count: number }[]>> {
  const org = reader(ctx).withoutKeptPlans();
  const where = await compileLeadQuery(org, query);
  // Groups by all five facets first, so that the contacts are read only once. There are few combinations.
  const rows = await org.sql<{ facet: Facet; key: string; count: number }>(
    `with combined as materialized (
       select ${FACETS.map((facet) => `o.${facet}`).join(', ')}, count(*) as n from ${LEADS}
       where o.organization_id = :org and (${where.all()}) group by 1, 2, 3, 4, 5
     )
     ${FACETS.map(
       (facet) =>
         `(select '${facet}' as facet, ${facet === 'esp_provider' ? `coalesce(nullif(esp_provider, ''), 'unknown')` : facet} as key, sum(n)::int as count
           from combined group by 2 order by 3 desc, 2 limit ${LISTED})`,
     ).join(' union all ')}`,
    where.bindings,
  );
  return Object.fromEntries(
    FACETS.map((name) => [name, rows.filter(({ facet }) => facet === name).map(({ key, count }) => ({ key, count }))]),
  ) as Record<Facet, { key: string; count: number }[]>;
}
