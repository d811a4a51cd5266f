import {
  decodeBodyCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { STORED_COMPANIES, leadCountColumns } from '../../directory/lead-companies.ts';
import { compileLeadQuery, isUnfiltered, LEADS, type LeadQuery } from './query.ts';

export const COMPANY_SORTS = ['people', 'fresh', 'contacted', 'positive', 'last_contacted', 'domain'] as const;
type CompanySort = (typeof COMPANY_SORTS)[number];

/** The contacts of one company domain. */
interface LeadCompany {
  domain: string;
  /** Most common company name of its contacts. */
  name: string;
  people: number;
  contacted: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  last_contacted_at: Date | null;
  /** Most common known provider; empty if none is known. */
  esp_provider: string;
}

const COUNTS = ['people', 'contacted', 'replied', 'positive', 'meetings', 'bounced', 'unsubscribed', 'fresh'] as const;

const isDomain = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const isCount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,9}$/.test(value);
const isMoment = (value: unknown): value is string => value === '-infinity' || isTimestampText(value);

const NEVER = `coalesce(g.last_contacted_at, '-infinity'::timestamptz)`;

/**
 * Groups matching contacts by company domain; contacts without a domain are omitted. The largest companies come first,
 * or with the order `domain` alphabetically. The cursor is bound to the query and the order.
 * @throws AppError invalid_lead_query, invalid_cursor
 */
export async function searchLeadCompanies(
  ctx: Ctx,
  page: PageRequest,
  query: LeadQuery,
  sort: CompanySort,
): Promise<Page<LeadCompany>> {
  const org = reader(ctx).withoutKeptPlans();
  const bound = [query, sort];
  const where = await compileLeadQuery(org, query, page.cursor);
  const byTime = sort === 'last_contacted';
  const at = decodeBodyCursor<[key: string, domain: string]>('lead-database.companies', bound, page.cursor, [
    sort === 'domain' ? isDomain : byTime ? isMoment : isCount,
    isDomain,
  ]);
  const key = sort === 'domain' ? 'g.domain' : byTime ? NEVER : `g.${sort}`;
  const after = at ? afterOf(sort, key) : 'true';
  const members = `from ${LEADS} where o.organization_id = :org and (${where.all()})` as const;
  // For an unfiltered query, reads the stored counts instead of counting all contacts.
  const grouped = isUnfiltered(query)
    ? `select k.company_domain as domain, ${COUNTS.map((name) => `k.${name}`).join(', ')}, k.last_contacted_at
         from (${STORED_COMPANIES}) k where k.company_domain <> ''`
    : `select o.company_domain as domain, ${leadCountColumns(COUNTS)}, max(o.last_contacted_at) as last_contacted_at ${members} and o.company_domain <> '' group by 1`;
  const rows = await org.sql<LeadCompany & { sort_key: string }>(
    `with grouped as materialized (${grouped}), page as materialized (
       select g.*, cast(${key} as text) as sort_key from grouped g where ${after}
       order by ${sort === 'domain' ? 'g.domain' : `${key} desc, g.domain`} limit :limit
     )
     select g.*, coalesce(most.name, '') as name, coalesce(most.provider, '') as esp_provider from page g
     cross join lateral (
       select mode() within group (order by c.company) filter (where c.company <> '') as name,
         mode() within group (order by o.esp_provider) filter (where o.esp_provider <> '') as provider
       ${members} and o.company_domain = g.domain
     ) most
     order by ${sort === 'domain' ? 'g.domain' : `${key} desc, g.domain`}`,
    { ...where.bindings, limit: page.limit + 1, ...(at ? { afterKey: at[0], afterDomain: at[1] } : {}) },
  );
  return pageOf(rows, page.limit, (last) =>
    encodeCursor('lead-database.companies', bound, [last.sort_key, last.domain]),
  );
}

function afterOf(sort: CompanySort, key: string): string {
  if (sort === 'domain') return 'g.domain > :afterDomain::text and :afterKey::text is not null';
  const value = `:afterKey::${sort === 'last_contacted' ? 'timestamptz' : 'integer'}`;
  return `(${key} < ${value} or (${key} = ${value} and g.domain > :afterDomain::text))`;
}
