import { decodeBodyCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Conditions } from '../../platform/conditions.ts';
import { queryCatalogue, searchInOrder } from './query.ts';
import { compileFilters, definedFilters, isNarrow, refuseSearch, type CompanyFilters } from './filters.ts';
import { catalogueMetadata } from './metadata.ts';
import { isCatalogueId } from './records.ts';

/** A company of the prospect catalogue, as searches return it. */
export interface CatalogueCompany {
  id: string;
  name: string;
  domain: string;
  industries: string[];
  technologies: string[];
  employees: number | null;
  country: string;
  state: string;
  city: string;
  website: string;
  linkedin_url: string;
  phone: string;
  founded_year: number | null;
  source_updated_at: string;
}

const COMPANY = `id, name, domain, industries, technologies, employees, country, state, city, website, linkedin_url, phone, founded_year,
  source_updated_at`;
const ORDER = ['country_key', 'employees_order', 'id'] as const;
const LIST = 'prospect-catalogue.companies';

type Position = [countryKey: string, employees: number, id: string];
export const isKey = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const isSize = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 2_147_483_647;

/**
 * Lists matching companies by country, number of employees (an unknown number is treated as zero) and id. The cursor is
 * bound to the filters.
 * @throws AppError invalid_b2b_filter, invalid_cursor, b2b_unavailable, b2b_query_failed
 */
export async function searchCatalogueCompanies(
  ctx: Ctx,
  page: PageRequest,
  asked: CompanyFilters,
): Promise<Page<CatalogueCompany>> {
  refuseSearch({ ...asked, cursor: page.cursor });
  const filters = definedFilters(asked);
  const at = decodeBodyCursor<Position>(LIST, filters, page.cursor, [isKey, isSize, isCatalogueId]);
  const { where, lookup } = compileFilters(filters, 'companies');
  const rows = await searchInOrder<CatalogueCompany & { country_key: string; employees_order: number }>(ctx, {
    table: 'catalogue_companies',
    order: ORDER,
    columns: `${COMPANY}, country_key, employees_order`,
    where,
    lookup,
    fixed: equalityConditions(filters, where),
    isRare: filters.domain !== undefined || filters.company_id !== undefined,
    isNarrow: isNarrow(filters),
    after: at,
    limit: page.limit + 1,
    total: (await catalogueMetadata(ctx)).companies,
  });
  return pageOf(rows, page.limit, (last) =>
    encodeCursor(LIST, filters, [last.country_key, last.employees_order, last.id]),
  );
}

/** Returns the companies with these ids, by id. */
export async function companiesById(ctx: Ctx, ids: readonly string[]): Promise<Map<string, CatalogueCompany>> {
  if (ids.length === 0) return new Map();
  const rows = await queryCatalogue<CatalogueCompany>(
    ctx,
    `select ${COMPANY} from catalogue_companies where id = any(cast(:ids as text[]))`,
    { ids: [...new Set(ids)] },
  );
  return new Map(rows.map((company) => [company.id, company]));
}

/** Returns the equality conditions of a search on the first columns of its order, by column. */
export function equalityConditions(
  filters: Pick<CompanyFilters, 'country' | 'state' | 'city'>,
  where: Conditions,
): Record<string, string> {
  return Object.fromEntries(
    (['country', 'state', 'city'] as const).flatMap((name) =>
      filters[name] ? [[`${name}_key`, `${name}_key = ${where.bind(filters[name], 'text')}`]] : [],
    ),
  );
}
