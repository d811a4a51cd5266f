import { utcDay } from '../../../lib/clock.ts';
import type { z } from 'zod';
import { searchLeadCompanies } from '../../../domain/audience/lead-database/companies.ts';
import { measureLeadCoverage } from '../../../domain/audience/lead-database/coverage.ts';
import { exportLeadPeople } from '../../../domain/audience/lead-database/export.ts';
import { countLeadFacets } from '../../../domain/audience/lead-database/facets.ts';
import { searchLeadPeople, type LeadPerson } from '../../../domain/audience/lead-database/people.ts';
import { leadProblems, leadRefusal } from '../../../domain/audience/lead-database/query.ts';
import { SELECTION_BODY } from '../contacts/schemas.ts';
import { route } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import {
  companiesQuestion,
  coverage,
  exportQuestion,
  facets,
  leadCompanyPage,
  leadPeoplePage,
  leadPerson,
  leadQuestion,
  peopleQuestion,
} from './schemas.ts';

const shared = {
  area: 'lead-database',
  scope: ['READ_CONTACTS'],
  permission: 'view_contacts',
  method: 'post',
  readOnly: true,
  refusal: leadRefusal,
} as const;
const FILTER =
  'Conditions are the same as for segments (GET /v1/segments/fields). A person must match conditions, segment and q.';

type Question = Partial<z.output<typeof leadQuestion>> & { cursor?: string | undefined };
const furtherProblems = async (_ctx: unknown, { cursor, ...query }: Question) => leadProblems(query, cursor);

/** Routes of the lead database: all contacts of the workspace, with the progress of outreach to each. */
export const leadDatabaseRoutes = [
  route({
    ...shared,
    operationId: 'leadDatabase.listPeople',
    path: '/lead-database/people',
    isQuestion: true,
    summary: 'List people with the progress of outreach to them',
    description: `${FILTER} With last_contacted, people without an email come last. Name and company sort alphabetically; all other orders are newest or highest first.`,
    body: peopleQuestion,
    furtherProblems,
    success: { status: 200, body: leadPeoplePage },
    errors: ['invalid_lead_query', 'invalid_sort', 'invalid_limit', 'invalid_cursor'],
    handler: async (ctx, { body: { limit, cursor, sort, ...query } }) =>
      presentPage(await searchLeadPeople(ctx, { limit, cursor }, query, sort), presentPerson),
  }),
  route({
    ...shared,
    operationId: 'leadDatabase.listCompanies',
    path: '/lead-database/companies',
    isQuestion: true,
    summary: 'List the same people by company',
    description: `${FILTER} A company is a domain; people without one are omitted. replied, positive, meetings, bounced and unsubscribed count people to whom it ever happened.`,
    body: companiesQuestion,
    furtherProblems,
    success: { status: 200, body: leadCompanyPage },
    errors: ['invalid_lead_query', 'invalid_sort', 'invalid_limit', 'invalid_cursor'],
    handler: async (ctx, { body: { limit, cursor, sort, ...query } }) =>
      presentPage(
        await searchLeadCompanies(ctx, { limit, cursor }, query, sort),
        ({ last_contacted_at: at, ...row }) => ({
          domain: row.domain,
          name: row.name,
          people: row.people,
          contacted: row.contacted,
          replied: row.replied,
          positive: row.positive,
          meetings: row.meetings,
          bounced: row.bounced,
          unsubscribed: row.unsubscribed,
          fresh: row.fresh,
          last_contacted_at: iso(at),
          esp_provider: row.esp_provider,
        }),
      ),
  }),
  route({
    ...shared,
    operationId: 'leadDatabase.getCoverage',
    path: '/lead-database/coverage',
    isQuestion: true,
    summary: 'Report the outreach coverage of an audience',
    description: `${FILTER} contacted counts everyone who received at least one campaign email. replied, positive, meetings, bounced and unsubscribed count people to whom it ever happened.`,
    body: leadQuestion,
    furtherProblems,
    success: { status: 200, body: coverage },
    errors: ['invalid_lead_query'],
    handler: (ctx, { body }) => measureLeadCoverage(ctx, body),
  }),
  route({
    ...shared,
    operationId: 'leadDatabase.countFacets',
    path: '/lead-database/facets',
    isQuestion: true,
    summary: 'Count people by status, seniority, department, provider and verdict',
    description: `${FILTER} An empty key stands for an unknown seniority or department. Lists the hundred most common keys of each.`,
    body: leadQuestion,
    furtherProblems,
    success: { status: 200, body: facets },
    errors: ['invalid_lead_query'],
    handler: (ctx, { body }) => countLeadFacets(ctx, body),
  }),
  route({
    ...shared,
    operationId: 'leadDatabase.export',
    path: '/lead-database/export',
    summary: 'Export people as CSV',
    description: `${FILTER} At most 50,000 rows; X-Total-Rows has the number. Each custom field has a column custom:<key>; POST /contacts/import accepts the file without loss. Cells that a spreadsheet could read as formulas begin with an apostrophe. The export is recorded in the audit log.`,
    body: exportQuestion,
    furtherProblems,
    success: {
      status: 200,
      body: 'stream',
      contentType: 'text/csv',
      headers: {
        'X-Total-Rows': { description: 'Number of rows, without the heading', schema: { type: 'integer' } },
      },
    },
    errors: ['invalid_lead_query', 'invalid_sort', 'too_many_contacts', 'selection_too_large'],
    bodyLimit: SELECTION_BODY,
    handler: async (ctx, { body: { sort, selection, ...query } }) => {
      const { rows, text } = await exportLeadPeople(ctx, query, sort, selection);
      return {
        stream: text,
        contentType: 'text/csv; charset=utf-8',
        headers: {
          'X-Total-Rows': String(rows),
          'Content-Disposition': `attachment; filename="people-${utcDay(ctx.clock.now())}.csv"`,
        },
      };
    },
  }),
];

function presentPerson(row: LeadPerson): z.input<typeof leadPerson> {
  return {
    id: row.id,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    company: row.company,
    company_domain: row.company_domain,
    job_title: row.job_title,
    seniority: row.seniority,
    department: row.department,
    esp_provider: row.esp_provider,
    verification_status: row.verification_status,
    outreach_status: row.outreach_status,
    campaigns: row.campaigns,
    emails_received: row.emails_received,
    last_contacted_at: iso(row.last_contacted_at),
    last_replied_at: iso(row.last_replied_at),
    created_at: iso(row.created_at),
  };
}
