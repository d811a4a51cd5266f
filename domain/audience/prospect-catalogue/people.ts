import { decodeBodyCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { queryCatalogue, searchInOrder } from './query.ts';
import { companiesById, equalityConditions, isKey, type CatalogueCompany } from './companies.ts';
import { compileFilters, definedFilters, isNarrow, refuseSearch, type PeopleFilters } from './filters.ts';
import { catalogueMetadata } from './metadata.ts';
import { isCatalogueId } from './records.ts';

interface PersonRow {
  id: string;
  first_name: string;
  last_name: string;
  email: string;
  email_status: string;
  phone: string;
  title: string;
  seniority: string;
  department: string;
  country: string;
  state: string;
  city: string;
  linkedin_url: string;
  company_id: string | null;
  source_updated_at: string;
}

/** A person of the catalogue, with the company if the catalogue has it. */
export type CataloguePerson = PersonRow & { company: CatalogueCompany | null };

const PERSON = `id, first_name, last_name, email, email_status, phone, title, seniority, department, country, state, city, linkedin_url,
  company_id, source_updated_at`;
const ORDER = ['country_key', 'seniority', 'id'] as const;
const LIST = 'prospect-catalogue.people';

type Position = [countryKey: string, seniority: string, id: string];

/**
 * Lists matching people by country, seniority and id. The cursor is bound to the filters.
 * @throws AppError invalid_b2b_filter, invalid_cursor, b2b_unavailable, b2b_query_failed
 */
export async function searchCataloguePeople(
  ctx: Ctx,
  page: PageRequest,
  asked: PeopleFilters,
): Promise<Page<CataloguePerson>> {
  refuseSearch({ ...asked, cursor: page.cursor });
  const filters = definedFilters(asked);
  const at = decodeBodyCursor<Position>(LIST, filters, page.cursor, [isKey, isKey, isCatalogueId]);
  const { where, lookup } = compileFilters(filters, 'people');
  const fixed = equalityConditions(filters, where);
  if (filters.seniority) fixed.seniority = `seniority = ${where.bind(filters.seniority, 'text')}`;
  const rows = await searchInOrder<PersonRow & { country_key: string }>(ctx, {
    table: 'catalogue_people',
    order: ORDER,
    columns: `${PERSON}, country_key`,
    where,
    lookup,
    fixed,
    isRare: filters.domain !== undefined || filters.company_id !== undefined || (filters.q?.includes('@') ?? false),
    isNarrow: isNarrow(filters),
    after: at,
    limit: page.limit + 1,
    total: (await catalogueMetadata(ctx)).people,
  });
  const { rows: people, nextCursor } = pageOf(rows, page.limit, (last) =>
    encodeCursor(LIST, filters, [last.country_key, last.seniority, last.id]),
  );
  return { rows: await withCompanies(ctx, people), nextCursor };
}

/** Returns the people with these ids, in the order of the ids. Unknown ids are omitted. */
export async function cataloguePeople(ctx: Ctx, ids: readonly string[]): Promise<CataloguePerson[]> {
  const rows = await queryCatalogue<PersonRow>(
    ctx,
    `select ${PERSON} from catalogue_people where id = any(cast(:ids as text[]))`,
    { ids },
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return withCompanies(
    ctx,
    ids.flatMap((id) => byId.get(id) ?? []),
  );
}

async function withCompanies(ctx: Ctx, people: readonly PersonRow[]): Promise<CataloguePerson[]> {
  const companies = await companiesById(
    ctx,
    people.flatMap(({ company_id: id }) => id ?? []),
  );
  return people.map((person) => ({ ...person, company: companies.get(person.company_id ?? '') ?? null }));
}
