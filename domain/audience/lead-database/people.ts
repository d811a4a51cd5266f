import {
  decodeBodyCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { OutreachStatus } from '../../directory/segments/fields.ts';
import { compileLeadQuery, LEADS, LEADS_BY_CONTACT, type LeadQuery } from './query.ts';

export const PEOPLE_SORTS = ['last_contacted', 'created', 'name', 'emails_received', 'company'] as const;
export type PeopleSort = (typeof PEOPLE_SORTS)[number];

/** A contact with its job and outreach data. */
export type LeadPerson = Columns<
  'contacts',
  'id' | 'email' | 'first_name' | 'last_name' | 'company' | 'esp_provider' | 'verification_status' | 'created_at'
> &
  Columns<
    'contact_outreach',
    | 'company_domain'
    | 'job_title'
    | 'seniority'
    | 'department'
    | 'campaigns'
    | 'emails_received'
    | 'last_contacted_at'
    | 'last_replied_at'
  > & { outreach_status: OutreachStatus };

/** The select list of a {@link LeadPerson}. */
export const PERSON = `c.id, c.email, c.first_name, c.last_name, c.company, o.company_domain, o.job_title, o.seniority, o.department,
  c.esp_provider, c.verification_status, o.outreach_status, o.campaigns, o.emails_received, o.last_contacted_at, o.last_replied_at, c.created_at`;

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const isCount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,9}$/.test(value);
const isMoment = (value: unknown): value is string => value === '-infinity' || isTimestampText(value);

interface Order {
  from: string;
  /** Condition for the organization's rows, on the first column of the index that gives the order. */
  organization: string;
  key: string;
  id: string;
  direction: 'asc' | 'desc';
  type: 'text' | 'timestamptz' | 'integer';
  isKey: typeof isText;
}

const OUTREACH = { from: LEADS, organization: 'o.organization_id = :org', id: 'o.contact_id' } as const;
const CONTACT = { from: LEADS_BY_CONTACT, organization: 'c.organization_id = :org', id: 'c.id' } as const;

/** SQL of each order; each uses an index. With `last_contacted`, contacts without an email come last. */
export const PEOPLE_ORDERS: Record<PeopleSort, Order> = {
  last_contacted: {
    ...OUTREACH,
    key: `coalesce(o.last_contacted_at, '-infinity'::timestamptz)`,
    direction: 'desc',
    type: 'timestamptz',
    isKey: isMoment,
  },
  created: { ...CONTACT, key: 'c.created_at', direction: 'desc', type: 'timestamptz', isKey: isTimestampText },
  name: {
    ...CONTACT,
    key: `lower(c.first_name || ' ' || c.last_name)`,
    direction: 'asc',
    type: 'text',
    isKey: isText,
  },
  emails_received: { ...OUTREACH, key: 'o.emails_received', direction: 'desc', type: 'integer', isKey: isCount },
  company: { ...CONTACT, key: 'lower(c.company)', direction: 'asc', type: 'text', isKey: isText },
};

/**
 * Lists the matching contacts in pages. The cursor is bound to the query and the order.
 * @throws AppError invalid_lead_query, invalid_cursor
 */
export async function searchLeadPeople(
  ctx: Ctx,
  page: PageRequest,
  query: LeadQuery,
  sort: PeopleSort,
): Promise<Page<LeadPerson>> {
  const org = reader(ctx).withoutKeptPlans();
  const { from, organization, key, id, direction, type, isKey } = PEOPLE_ORDERS[sort];
  const bound = [query, sort];
  const where = await compileLeadQuery(org, query, page.cursor);
  const at = decodeBodyCursor<[key: string, id: string]>('lead-database.people', bound, page.cursor, [isKey, isUuid]);
  if (at)
    where.add(
      `(${key}, ${id}) ${direction === 'asc' ? '>' : '<'} (${where.bind(at[0], type)}, ${where.bind(at[1], 'uuid')})`,
    );
  const rows = await org.sql<LeadPerson & { sort_key: string }>(
    `select ${PERSON}, cast(${key} as text) as sort_key from ${from}
     where :org::uuid is not null and ${organization} and ${where.all()} order by ${key} ${direction}, ${id} ${direction} limit :limit`,
    { ...where.bindings, limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor('lead-database.people', bound, [last.sort_key, last.id]));
}
