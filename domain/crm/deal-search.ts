import type { Columns } from '../../db/rows.ts';
import { foldCase } from '../../lib/fold-case.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { fromMinorUnits, scaledBound } from '../../lib/money.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { Conditions, likeLiteral } from '../platform/conditions.ts';
import { DEFAULT_CURRENCY } from '../sending/campaign/crm-actions.ts';
import type { DealRow, DealStatus } from './deals.ts';
import { searchPage, type SortKey } from './search-page.ts';

/** Filters of deals. An empty list does not restrict the result. Minimum and maximum values are included. */
interface DealFilters {
  /** Text that the deal's name must contain, ignoring case. */
  query?: string | undefined;
  statuses?: readonly DealStatus[] | undefined;
  pipeline_ids?: readonly string[] | undefined;
  stage_ids?: readonly string[] | undefined;
  assigned_to?: readonly string[] | undefined;
  campaign_ids?: readonly string[] | undefined;
  /** Minimum value in major units, in any currency. */
  min_value?: number | undefined;
  max_value?: number | undefined;
  close_after?: Date | undefined;
  close_before?: Date | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

export const DEAL_SORTS = ['created_at', 'updated_at', 'value', 'expected_close_date', 'name'] as const;
export interface DealSearch extends DealFilters {
  sort_by?: (typeof DEAL_SORTS)[number] | undefined;
  /** If true, the order is ascending. */
  reverse?: boolean | undefined;
}

/** A deal as shown in lists, with the records to which it refers. */
export interface FoundDeal extends DealRow {
  contact: Columns<'contacts', 'id' | 'email' | 'first_name' | 'last_name' | 'company'> | null;
  stage: Columns<'crm_stages', 'id' | 'name' | 'color' | 'position'>;
  campaign_name: string | null;
}

/** Number and value of matching deals. */
interface DealsSummary {
  total: number;
  open_count: number;
  open_value: number;
  won_count: number;
  won_value: number;
  lost_count: number;
  lost_value: number;
  currency: string;
  stages: { stage_id: string; count: number; value: number }[];
  mixed_currency: boolean;
}

// SQL expressions by which deals can be sorted. In descending order, deals without a value or date come last.
const SORT: Record<(typeof DEAL_SORTS)[number], SortKey> = {
  created_at: { expression: 'd.created_at', type: 'timestamptz' },
  updated_at: { expression: 'd.updated_at', type: 'timestamptz' },
  value: { expression: 'coalesce(d.value_scaled, -1)', type: 'bigint' },
  expected_close_date: { expression: `coalesce(d.expected_close_date, '-infinity')`, type: 'timestamptz' },
  name: { expression: `lower(d.name) collate "C"`, type: 'text' },
};

const JOINED = `p.*,
  case when c.id is not null then json_build_object('id', c.id, 'email', c.email, 'first_name', c.first_name, 'last_name', c.last_name, 'company', c.company) end as contact,
  json_build_object('id', s.id, 'name', s.name, 'color', s.color, 'position', s.position) as stage, m.name as campaign_name`;
const JOINS = `left join contacts c on c.id = p.contact_id join crm_stages s on s.id = p.stage_id left join campaigns m on m.id = p.campaign_id`;

const LIST = 'crm.deals';

/**
 * Lists deals, newest first. Later pages take no longer than the first one.
 * @throws AppError bad_request for the cursor of another list or with other filters
 */
export async function listDeals(
  ctx: Ctx,
  page: PageRequest,
  narrow: { pipeline_id?: string | undefined; stage_id?: string | undefined; status?: DealStatus | undefined },
): Promise<Page<FoundDeal>> {
  const bound = [narrow.pipeline_id ?? null, narrow.stage_id ?? null, narrow.status ?? null];
  const after = decodeIdCursor(LIST, bound, page.cursor);
  const where = new Conditions('f');
  if (narrow.pipeline_id) where.add(`d.pipeline_id = ${where.bind(narrow.pipeline_id, 'uuid')}`);
  if (narrow.stage_id) where.add(`d.stage_id = ${where.bind(narrow.stage_id, 'uuid')}`);
  if (narrow.status) where.add(`d.status = ${where.bind(narrow.status, 'text')}`);
  if (after) where.add(`d.id < ${where.bind(after, 'uuid')}`);
  const rows = await reader(ctx).sql<FoundDeal>(
    `select ${JOINED} from (select * from crm_deals d where d.organization_id = :org and ${where.all()} order by d.id desc limit :limit) p
     ${JOINS} order by p.id desc`,
    { ...where.bindings, limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, bound, [last.id]));
}

/**
 * Searches deals, with the exact number of matches.
 * @throws AppError bad_request for the cursor of another search
 */
export async function searchDeals(ctx: Ctx, page: PageRequest, search: DealSearch): Promise<Page<FoundDeal>> {
  const { sort_by = 'created_at', reverse = false, ...filters } = search;
  const org = reader(ctx);
  const counted = org.sql<{ total: number }>(countSql(filters), boundOf(filters).bindings);
  const [found, [count]] = await Promise.all([
    searchPage<FoundDeal>(org, page, {
      list: 'crm.deals.search',
      bound: [filters, sort_by, reverse],
      sort: SORT[sort_by],
      ascending: reverse,
      where: boundOf(filters),
      from: 'crm_deals d',
      columns: JOINED,
      joins: JOINS,
    }),
    counted,
  ]);
  return { ...found, total: Number(count!.total) };
}

/**
 * Returns number and value of the matching deals. Values in different currencies are added as plain numbers, and
 * `mixed_currency` is then true.
 */
export async function summarizeDeals(ctx: Ctx, filters: DealFilters): Promise<DealsSummary> {
  const where = boundOf(filters);
  const sums = isFaceted(filters) ? ['d.deals', 'd.value_minor'] : ['1', 'd.value_minor'];
  const rows = await reader(ctx).sql<
    Columns<'crm_deals', 'stage_id' | 'status' | 'currency'> & { deals: number; minor: string }
  >(
    `select d.stage_id, d.status, d.currency, sum(${sums[0]})::bigint as deals, coalesce(sum(${sums[1]}), 0)::text as minor
     from ${isFaceted(filters) ? 'crm_deal_counts' : 'crm_deals'} d where d.organization_id = :org and ${where.all()}
     group by 1, 2, 3 having sum(${sums[0]}) > 0 order by d.stage_id`,
    where.bindings,
  );
  return summaryOf(rows);
}

function summaryOf(
  rows: readonly (Columns<'crm_deals', 'stage_id' | 'status' | 'currency'> & { deals: number; minor: string })[],
): DealsSummary {
  const counts = { open: 0, won: 0, lost: 0 };
  const values = { open: new Money(), won: new Money(), lost: new Money() };
  const currencies = new Map<string, number>();
  // Counts only deals with a value. Deals without a value often have the default currency although nobody has chosen
  // it.
  const ofValues = new Map<string, number>();
  const stages = new Map<string, { count: number; value: Money }>();
  for (const { stage_id, status, currency, deals, minor } of rows) {
    counts[status] += deals;
    values[status].add(BigInt(minor), currency);
    for (const counted of BigInt(minor) === 0n ? [currencies] : [currencies, ofValues])
      counted.set(currency, (counted.get(currency) ?? 0) + deals);
    const stage = stages.get(stage_id) ?? { count: 0, value: new Money() };
    stages.set(stage_id, stage);
    stage.count += deals;
    if (status === 'open') stage.value.add(BigInt(minor), currency);
  }
  const [most] = [...(ofValues.size > 0 ? ofValues : currencies)].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return {
    total: counts.open + counts.won + counts.lost,
    open_count: counts.open,
    open_value: values.open.amount(),
    won_count: counts.won,
    won_value: values.won.amount(),
    lost_count: counts.lost,
    lost_value: values.lost.amount(),
    currency: most?.[0] ?? DEFAULT_CURRENCY,
    stages: [...stages].map(([stage_id, { count, value }]) => ({ stage_id, count, value: value.amount() })),
    mixed_currency: ofValues.size > 1,
  };
}

/** Sum of amounts. It is exact within one currency. Amounts in different currencies are added as plain numbers. */
class Money {
  readonly #minor = new Map<string, bigint>();

  add(minor: bigint, currency: string): void {
    this.#minor.set(currency, (this.#minor.get(currency) ?? 0n) + minor);
  }

  amount(): number {
    return [...this.#minor].reduce((sum, [currency, minor]) => sum + fromMinorUnits(minor, currency), 0);
  }
}

/**
 * Returns true if the filters can be answered from stored counts. These distinguish only pipelines, stages, statuses,
 * members and campaigns.
 */
function isFaceted({
  statuses: _s,
  pipeline_ids: _p,
  stage_ids: _t,
  assigned_to: _a,
  campaign_ids: _c,
  ...others
}: DealFilters): boolean {
  return Object.entries(others).every(([name, value]) => value === undefined || (name === 'query' && value === ''));
}

function countSql(filters: DealFilters): `${string}:org${string}` {
  const where = boundOf(filters).all();
  return isFaceted(filters)
    ? `select coalesce(sum(d.deals), 0)::bigint as total from crm_deal_counts d where d.organization_id = :org and ${where}`
    : `select count(*) as total from crm_deals d where d.organization_id = :org and ${where}`;
}

function boundOf(filters: DealFilters): Conditions {
  const where = new Conditions('f');
  const among = (column: string, ids: readonly string[] | undefined, type: 'uuid[]' | 'text[]') => {
    if (ids && ids.length > 0) where.add(`d.${column} = any(${where.bind(ids, type)})`);
  };
  among('status', filters.statuses, 'text[]');
  among('pipeline_id', filters.pipeline_ids, 'uuid[]');
  among('stage_id', filters.stage_ids, 'uuid[]');
  among('assigned_to', filters.assigned_to, 'uuid[]');
  among('campaign_id', filters.campaign_ids, 'uuid[]');
  if (filters.query)
    where.add(`heron_fold(d.name) like ${where.bind(`%${likeLiteral(foldCase(filters.query))}%`, 'text')}`);
  if (filters.min_value !== undefined)
    where.add(
      `d.value_scaled is not null and coalesce(d.value_scaled, -1) >= ${where.bind(String(scaledBound(filters.min_value, 'up')), 'bigint')}`,
    );
  if (filters.max_value !== undefined)
    where.add(
      `d.value_scaled is not null and coalesce(d.value_scaled, -1) <= ${where.bind(String(scaledBound(filters.max_value, 'down')), 'bigint')}`,
    );
  const close = `coalesce(d.expected_close_date, '-infinity')`;
  if (filters.close_after) where.add(`${close} >= ${where.bind(filters.close_after, 'timestamptz')}`);
  if (filters.close_before)
    where.add(`${close} > '-infinity' and ${close} <= ${where.bind(filters.close_before, 'timestamptz')}`);
  if (filters.created_after) where.add(`d.created_at >= ${where.bind(filters.created_after, 'timestamptz')}`);
  if (filters.created_before) where.add(`d.created_at <= ${where.bind(filters.created_before, 'timestamptz')}`);
  return where;
}
