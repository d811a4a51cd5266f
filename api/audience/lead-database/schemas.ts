import { z } from 'zod';
import { COMPANY_SORTS } from '../../../domain/audience/lead-database/companies.ts';
import { FACETS } from '../../../domain/audience/lead-database/facets.ts';
import { PEOPLE_SORTS } from '../../../domain/audience/lead-database/people.ts';
import { OUTREACH_STATUSES } from '../../../domain/directory/segments/fields.ts';
import { selection } from '../contacts/schemas.ts';
import { conditions, match } from '../segments/schemas.ts';
import { paged, pageDescriptions, resource, timestamp, uuid } from '../../http/schemas.ts';

const question = {
  conditions: conditions.default([]),
  match: match.default('all'),
  segment_id: z.string().max(64).optional().meta({ description: 'A saved segment; an unknown one has no contacts' }),
  q: z.string().max(200).optional().meta({ description: 'Part of name, email or company' }),
};
const page = {
  limit: z.int().min(1).max(200).default(50).meta({ description: pageDescriptions.limit }),
  cursor: z.string().optional().meta({ description: pageDescriptions.cursor }),
};
const peopleSort = z.enum(PEOPLE_SORTS).default('last_contacted');

export const leadQuestion = z.strictObject(question);
export const peopleQuestion = z.strictObject({ ...question, sort: peopleSort, ...page });
export const companiesQuestion = z.strictObject({
  ...question,
  sort: z.enum(COMPANY_SORTS).default('people'),
  ...page,
});
export const exportQuestion = z.strictObject({
  ...question,
  sort: peopleSort,
  selection: z
    .strictObject(selection)
    .optional()
    .meta({ description: 'Only these contacts, selected as in PATCH /contacts' }),
});

export const leadPerson = resource('LeadPerson', {
  id: uuid,
  email: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  company: z.string(),
  company_domain: z.string(),
  job_title: z.string(),
  seniority: z.string(),
  department: z.string(),
  esp_provider: z.string(),
  verification_status: z.enum(['valid', 'risky', 'invalid', 'unknown']),
  outreach_status: z.enum(OUTREACH_STATUSES),
  campaigns: z.int().meta({ description: 'Number of campaigns of the contact' }),
  emails_received: z.int().meta({ description: 'Number of campaign emails sent and not bounced' }),
  last_contacted_at: timestamp.nullable(),
  last_replied_at: timestamp.nullable(),
  created_at: timestamp,
});

const leadCompany = resource('LeadCompany', {
  domain: z.string(),
  name: z.string().meta({ description: 'Most common name among its people' }),
  people: z.int(),
  contacted: z.int(),
  replied: z.int(),
  positive: z.int(),
  meetings: z.int(),
  bounced: z.int(),
  unsubscribed: z.int(),
  fresh: z.int(),
  last_contacted_at: timestamp.nullable(),
  esp_provider: z.string().meta({ description: 'Most common known provider' }),
});

export const coverage = resource('LeadCoverage', {
  total: z.int(),
  contacted: z.int(),
  contacted_90d: z.int(),
  enrolled: z.int().meta({ description: 'Number of people in a campaign without an email so far' }),
  replied: z.int(),
  positive: z.int(),
  meetings: z.int(),
  bounced: z.int(),
  unsubscribed: z.int(),
  fresh: z.int(),
  fresh_reachable: z.int().meta({ description: 'Fresh people without invalid or suppressed addresses' }),
  companies: z.int(),
  companies_contacted: z.int(),
  contacted_share: z.number().nullable().meta({ description: 'From 0 to 1; null when no contact matches' }),
});

const counts = z.array(z.strictObject({ key: z.string(), count: z.int() }));
export const facets = resource(
  'LeadFacets',
  Object.fromEntries(FACETS.map((name) => [name, counts])) as Record<(typeof FACETS)[number], typeof counts>,
);

export const leadPeoplePage = paged(leadPerson);
export const leadCompanyPage = paged(leadCompany);
