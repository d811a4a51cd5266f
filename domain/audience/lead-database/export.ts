import type { Readable } from 'node:stream';
import type { Columns } from '../../../db/rows.ts';
import { csvHeader, csvLines } from '../../../lib/csv.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { readSelection, type Selection } from '../contacts/selection.ts';
import { streamContacts } from '../contacts/stream.ts';
import { compileLeadQuery, type LeadQuery } from './query.ts';
import { PEOPLE_ORDERS, PERSON, type LeadPerson, type PeopleSort } from './people.ts';

const COLUMNS = [
  'id',
  'email',
  'first_name',
  'last_name',
  'company',
  'company_domain',
  'job_title',
  'seniority',
  'department',
  'esp_provider',
  'verification_status',
  'outreach_status',
  'campaigns',
  'emails_received',
  'last_contacted_at',
  'last_replied_at',
  'created_at',
  'phone',
  'subscribed',
  'categories',
] as const satisfies readonly (keyof ExportedPerson)[];
/** A person with all fields needed to import the same contact again. */
type ExportedPerson = LeadPerson &
  Columns<'contacts', 'phone' | 'subscribed' | 'custom_fields'> & { categories: string };

const EXPORTED = `${PERSON}, c.phone, c.subscribed, c.custom_fields,
  coalesce((select string_agg(n.title, ';' order by n.title) from contact_categories f join labels n on n.id = f.label_id
    where f.contact_id = c.id), '') as categories`;

/**
 * Exports the matching contacts as CSV from one snapshot, at most 50,000, with a column `custom:<key>` for each custom
 * field. An import of the file creates the same contacts. Cells that a spreadsheet would read as formulas get an
 * apostrophe. The audit log records the exporting person and the number of contacts.
 * @param selection contacts to which the query is restricted
 * @returns the number of rows, and the text as a stream
 * @throws AppError invalid_lead_query; rate_limit_exceeded while too many exports run in this process; the errors of
 * {@link readSelection}
 */
export async function exportLeadPeople(
  ctx: Ctx,
  query: LeadQuery,
  sort: PeopleSort,
  selection?: Selection,
): Promise<{ rows: number; text: Readable }> {
  const where = await compileLeadQuery(reader(ctx), query);
  if (selection) {
    const ids = await readSelection(reader(ctx), selection, ctx.clock.now());
    where.add(`c.id = any(${where.bind(ids, 'uuid[]')})`);
  }
  const { from, organization, key, id, direction } = PEOPLE_ORDERS[sort];
  return streamContacts<ExportedPerson>(ctx, {
    found: `from ${from} where :org::uuid is not null and ${organization} and ${where.all()}`,
    bindings: where.bindings,
    select: EXPORTED,
    order: `${key} ${direction}, ${id} ${direction}`,
    record: (rows) => recordExport(ctx, query, sort, rows),
    begin: (fields) => csvHeader([...COLUMNS, ...fields.map((field) => `custom:${field}`)]),
    lines: (people, fields) => csvLines(people.map((person) => cellsOf(person, fields))),
  });
}

function cellsOf(person: ExportedPerson, fields: readonly string[]): string[] {
  return [...COLUMNS.map((column) => cell(person[column])), ...fields.map((key) => person.custom_fields[key] ?? '')];
}

function cell(value: string | number | boolean | Date | null): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}

/**
 * Records the export in the audit log. Records only the fields of the query and not its values, which may be addresses.
 */
function recordExport(ctx: Ctx, query: LeadQuery, sort: PeopleSort, rows: number): Promise<void> {
  return transact(ctx, async (tx) =>
    tx.audit({
      action: 'export',
      entityType: 'contact',
      metadata: {
        rows,
        sort,
        match: query.match,
        conditions: query.conditions.map(({ field, operator }) => `${field} ${operator}`),
        ...(query.segment_id === undefined ? {} : { segment_id: query.segment_id }),
        searched: Boolean(query.q?.trim()),
      },
    }),
  );
}
