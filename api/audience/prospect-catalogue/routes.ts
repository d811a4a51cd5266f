import type { z } from 'zod';
import {
  searchCatalogueCompanies,
  type CatalogueCompany,
} from '../../../domain/audience/prospect-catalogue/companies.ts';
import {
  filterRefusal,
  searchProblems,
  type PeopleFilters,
} from '../../../domain/audience/prospect-catalogue/filters.ts';
import { importPeople, selectionProblems, selectPeople } from '../../../domain/audience/prospect-catalogue/import.ts';
import { catalogueMetadata } from '../../../domain/audience/prospect-catalogue/metadata.ts';
import { searchCataloguePeople, type CataloguePerson } from '../../../domain/audience/prospect-catalogue/people.ts';
import { presentContact } from '../contacts/present.ts';
import { route } from '../../http/route.ts';
import { presentPage } from '../../http/schemas.ts';
import {
  catalogueCompanyPage,
  cataloguePeoplePage,
  companiesSearch,
  imported,
  metadata,
  peopleSearch,
  selection,
  type catalogueCompany,
  type cataloguePerson,
} from './schemas.ts';

const area = 'prospect-catalogue';
const shared = { area, scope: ['READ_CONTACTS'], permission: 'view_contacts' } as const;
const search = { ...shared, method: 'post', readOnly: true, refusal: filterRefusal } as const;
const SEARCH =
  'A result must match all given filters. Text is trimmed and compared without case. A cursor is valid only with the same filters.';
const furtherProblems = async (_ctx: unknown, body: PeopleFilters & { cursor?: string | undefined }) =>
  searchProblems(body);
const FAILS = ['b2b_unavailable', 'b2b_query_failed'] as const;

/** Routes of the installation's prospect catalogue: people and companies that are no contacts yet. */
export const prospectCatalogueRoutes = [
  route({
    ...shared,
    operationId: 'prospectCatalogue.getMetadata',
    method: 'get',
    path: '/b2b-database/metadata',
    summary: 'Read totals and facets of the catalogue',
    description: 'Counts the whole catalogue, regardless of search filters. Cached for an hour.',
    success: { status: 200, body: metadata },
    errors: FAILS,
    handler: (ctx) => catalogueMetadata(ctx),
  }),
  route({
    ...search,
    operationId: 'prospectCatalogue.searchPeople',
    path: '/b2b-database/people',
    summary: 'Search people',
    description: `${SEARCH} Sorted by country, seniority and id, each with the company.`,
    body: peopleSearch,
    furtherProblems,
    success: { status: 200, body: cataloguePeoplePage },
    errors: ['invalid_b2b_filter', 'invalid_limit', 'invalid_cursor', ...FAILS],
    handler: async (ctx, { body: { limit, cursor, ...filters } }) =>
      presentPage(await searchCataloguePeople(ctx, { limit, cursor }, filters), presentPerson),
  }),
  route({
    ...search,
    operationId: 'prospectCatalogue.searchCompanies',
    path: '/b2b-database/companies',
    summary: 'Search companies',
    description: `${SEARCH} Sorted by country, number of employees (unknown counts as zero) and id.`,
    body: companiesSearch,
    furtherProblems,
    success: { status: 200, body: catalogueCompanyPage },
    errors: ['invalid_b2b_filter', 'invalid_limit', 'invalid_cursor', ...FAILS],
    handler: async (ctx, { body: { limit, cursor, ...filters } }) =>
      presentPage(await searchCatalogueCompanies(ctx, { limit, cursor }, filters), presentCompany),
  }),
  route({
    area,
    scope: ['READ_CONTACTS', 'WRITE_CONTACTS'],
    permission: { allOf: ['view_contacts', 'manage_contacts'] },
    operationId: 'prospectCatalogue.importPeople',
    method: 'post',
    path: '/b2b-database/import',
    summary: 'Import people of the catalogue as contacts',
    description:
      "All ids must be in the catalogue and have a valid email address, otherwise nothing is imported. The contacts join no campaign. A known address keeps its values and gets the missing ones. Addresses are verified soon after. The custom field source_email_status holds the catalogue's own status.",
    body: selection,
    furtherProblems: async (_ctx, { person_ids: ids }) => selectionProblems(ids ?? []),
    refusal: () => 'invalid_selection',
    success: { status: 200, body: imported },
    errors: ['invalid_selection', 'b2b_email_required', ...FAILS],
    prepare: (ctx, { body }) => selectPeople(ctx, body.person_ids),
    handler: async (ctx, { prepared }) => {
      const { contacts, existingIds, suppressedIds } = await importPeople(ctx, prepared);
      return {
        data: contacts.map(presentContact),
        count: contacts.length,
        existing_ids: existingIds,
        suppressed_ids: suppressedIds,
      };
    },
  }),
];

function presentCompany(company: CatalogueCompany): z.input<typeof catalogueCompany> {
  return {
    id: company.id,
    name: company.name,
    domain: company.domain,
    industries: company.industries,
    technologies: company.technologies,
    employees: company.employees,
    country: company.country,
    state: company.state,
    city: company.city,
    website: company.website,
    linkedin_url: company.linkedin_url,
    phone: company.phone,
    founded_year: company.founded_year,
    source_updated_at: company.source_updated_at,
  };
}

function presentPerson(person: CataloguePerson): z.input<typeof cataloguePerson> {
  return {
    id: person.id,
    first_name: person.first_name,
    last_name: person.last_name,
    email: person.email,
    email_status: person.email_status,
    phone: person.phone,
    title: person.title,
    seniority: person.seniority,
    department: person.department,
    country: person.country,
    state: person.state,
    city: person.city,
    linkedin_url: person.linkedin_url,
    company_id: person.company_id,
    company: person.company ? presentCompany(person.company) : null,
    source_updated_at: person.source_updated_at,
  };
}
