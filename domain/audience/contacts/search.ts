import type { OrgScope } from '../../../db/tenancy.ts';
import {
  decodeCursor,
  decodeIdCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { CAMPAIGN_COUNT, compileFilters, type ContactFilters } from '../../directory/contact-filters.ts';
import { leadProgress, type LeadProgress } from '../../sending/leads/progress.ts';
import { CONTACT_VIEW, type ContactView } from '../../directory/contact-view.ts';

const CONTACT_SORTS = ['created_at', 'updated_at', 'first_name', 'last_name', 'email', 'campaign_count'] as const;
type ContactSort = (typeof CONTACT_SORTS)[number];

interface ContactSearch extends ContactFilters {
  /** Sort field; an unknown field means created_at. */
  sort_by?: string | undefined;
  /** True for ascending order. */
  reverse?: boolean | undefined;
}

/** A found contact. `campaign_lead` is set if the search names exactly one campaign. */
export type FoundContact = ContactView & { campaign_lead?: LeadProgress };

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const isCount = (value: unknown): value is string => typeof value === 'string' && /^\d{1,9}$/.test(value);
/** Sort expressions, with the type of the sort key in a cursor. */
const SORT: Record<ContactSort, { expression: string; type: 'text' | 'timestamptz' | 'bigint'; isKey: typeof isText }> =
  {
    created_at: { expression: 'c.created_at', type: 'timestamptz', isKey: isTimestampText },
    updated_at: { expression: 'c.updated_at', type: 'timestamptz', isKey: isTimestampText },
    first_name: { expression: 'c.first_name', type: 'text', isKey: isText },
    last_name: { expression: 'c.last_name', type: 'text', isKey: isText },
    email: { expression: 'c.email', type: 'text', isKey: isText },
    campaign_count: { expression: CAMPAIGN_COUNT, type: 'bigint', isKey: isCount },
  };

/**
 * Lists the contacts of a workspace, newest first, filtered by text and one category. All pages are equally fast,
 * because the query reads the primary key in order.
 * @throws AppError bad_request for a cursor of another list or filter
 */
export async function listContacts(
  ctx: Ctx,
  page: PageRequest,
  narrow: { q?: string | undefined; category?: string | undefined } = {},
): Promise<Page<ContactView>> {
  const filters: ContactFilters = { query: narrow.q, category_ids: narrow.category ? [narrow.category] : undefined };
  const bound = [narrow.q ?? null, narrow.category ?? null];
  const after = decodeIdCursor('contacts.list', bound, page.cursor);
  const where = compileFilters(filters, ctx.clock.now());
  if (after) where.add(`c.id < ${where.bind(after, 'uuid')}`);
  const rows = await reader(ctx).sql<ContactView>(listSql(where.all(), 'c.id desc'), {
    ...where.bindings,
    limit: page.limit + 1,
  });
  return pageOf(rows, page.limit, (last) => encodeCursor('contacts.list', bound, [last.id]));
}

/**
 * Searches contacts by filters. The cursor is bound to the filters and the order.
 * @throws AppError invalid_lead_status, invalid_engagement, lead_filter_requires_campaign, bad_request (cursor)
 */
export async function searchContacts(ctx: Ctx, page: PageRequest, search: ContactSearch): Promise<Page<FoundContact>> {
  const { sort_by, reverse = false, ...filters } = search;
  const sort = (CONTACT_SORTS as readonly string[]).includes(sort_by ?? '') ? (sort_by as ContactSort) : 'created_at';
  const { expression, type, isKey } = SORT[sort];
  const bound = [filters, sort, reverse];
  const at = decodeCursor<[key: string, id: string]>('contacts.search', bound, page.cursor, [isKey, isUuid]);
  const now = ctx.clock.now();
  const where = compileFilters(filters, now);
  if (at) {
    const [key, id] = at;
    where.add(`(${expression}, c.id) ${reverse ? '>' : '<'} (${where.bind(key, type)}, ${where.bind(id, 'uuid')})`);
  }
  const direction = reverse ? 'asc' : 'desc';
  const org = reader(ctx);
  const rows = await org.sql<FoundContact & { sort_key: string }>(
    listSql(where.all(), `${expression} ${direction}, c.id ${direction}`, `, cast(${expression} as text) as sort_key`),
    { ...where.bindings, limit: page.limit + 1 },
  );
  const found = pageOf(rows, page.limit, (last) => encodeCursor('contacts.search', bound, [last.sort_key, last.id]));
  if (filters.campaign_ids?.length === 1) await addProgress(org, found.rows, filters.campaign_ids[0]!, now);
  return found;
}

async function addProgress(org: OrgScope, rows: FoundContact[], campaignId: string, now: Date): Promise<void> {
  const progress = await leadProgress(
    org,
    campaignId,
    rows.map((row) => row.id),
    now,
  );
  for (const row of rows) {
    const lead = progress.get(row.id);
    if (lead) row.campaign_lead = lead;
  }
}

function listSql(where: string, order: string, more = ''): `${string}:org${string}` {
  return `select ${CONTACT_VIEW}${more} from contacts c where c.organization_id = :org and ${where} order by ${order} limit :limit`;
}
