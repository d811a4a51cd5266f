import { z } from 'zod';
import { MAX_SELECTED } from '../../../domain/audience/prospect-catalogue/import.ts';
import { CATALOGUE_ID, MAX_TEXT_BYTES, searchKey } from '../../../domain/audience/prospect-catalogue/records.ts';
import { contact } from '../contacts/schemas.ts';
import { paged, pageDescriptions, resource, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

/** Trimmed text in lower case, as in the catalogue's columns. */
const text = (description: string) =>
  z
    .string()
    .transform(searchKey)
    .pipe(
      z
        .string()
        .refine(
          (value) => Buffer.byteLength(value) <= MAX_TEXT_BYTES,
          ruleMessage('audience.too_many_bytes', { max: MAX_TEXT_BYTES }),
        ),
    )
    .optional()
    .meta({ description });
const size = (description: string) => z.int().min(0).optional().meta({ description });

const companyFilters = {
  q: text('Part of the name or of the domain'),
  country: text('Exact, whatever the case'),
  state: text('Exact, whatever the case'),
  city: text('Exact, whatever the case'),
  domain: text('The primary domain; a leading www. does not count'),
  industry: text('One of the industries of the company'),
  technology: text('One of the technologies of the company'),
  min_employees: size('At least so many; companies of unknown size are left out'),
  max_employees: size('At most so many; companies of unknown size are left out'),
  company_id: z.string().regex(CATALOGUE_ID, ruleMessage('audience.not_catalogue_id')).optional(),
};
const page = {
  limit: z.int().min(1).max(100).default(50).meta({ description: pageDescriptions.limit }),
  cursor: z.string().optional().meta({ description: pageDescriptions.cursor }),
};

export const companiesSearch = z.strictObject({ ...companyFilters, ...page });
export const peopleSearch = z.strictObject({
  ...companyFilters,
  q: text('Part of the name; with an @, the whole email address'),
  title: text('Part of the title'),
  seniority: text('Exact; GET /b2b-database/metadata lists them'),
  department: text('Exact; GET /b2b-database/metadata lists them'),
  email: z.enum(['present', 'missing', 'valid']).optional().meta({ description: 'valid refers to the syntax only' }),
  ...page,
});

const catalogueId = z.string().regex(CATALOGUE_ID);
const moment = z.string().meta({ description: 'Last time (UTC) that the source saw it; empty if unknown' });
export const catalogueCompany = resource('CatalogueCompany', {
  id: catalogueId,
  name: z.string(),
  domain: z.string(),
  industries: z.array(z.string()),
  technologies: z.array(z.string()),
  employees: z.int().nullable(),
  country: z.string(),
  state: z.string(),
  city: z.string(),
  website: z.string(),
  linkedin_url: z.string(),
  phone: z.string(),
  founded_year: z.int().nullable(),
  source_updated_at: moment,
});
export const cataloguePerson = resource('CataloguePerson', {
  id: catalogueId,
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  email_status: z.string().meta({ description: "The source's own status of the address" }),
  phone: z.string(),
  title: z.string(),
  seniority: z.string(),
  department: z.string(),
  country: z.string(),
  state: z.string(),
  city: z.string(),
  linkedin_url: z.string(),
  company_id: catalogueId.nullable(),
  company: catalogueCompany.nullable(),
  source_updated_at: moment,
});
export const cataloguePeoplePage = paged(cataloguePerson);
export const catalogueCompanyPage = paged(catalogueCompany);

const facet = z.array(z.strictObject({ key: z.string(), count: z.int() }));
export const metadata = resource('CatalogueMetadata', {
  people: z.int(),
  companies: z.int(),
  countries: facet.meta({ description: 'Number of people by country, highest first; an empty key is unknown' }),
  seniorities: facet,
  departments: facet,
  source: z.string(),
  source_period: z.string(),
});

export const selection = z.strictObject({ person_ids: z.array(z.string()).min(1).max(MAX_SELECTED) });
export const imported = resource('CatalogueImport', {
  data: z.array(contact),
  count: z.int(),
  existing_ids: z.array(uuid).meta({ description: 'Ids from `data` that were contacts before' }),
  suppressed_ids: z
    .array(uuid)
    .meta({ description: 'Ids from `data` whose address is suppressed; they are stored as unsubscribed' }),
});
