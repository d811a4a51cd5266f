import type { Readable } from 'node:stream';
import { csvHeader, csvLines } from '../../../lib/csv.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { Conditions } from '../../platform/conditions.ts';
import { CONTACT_VIEW, type ContactView } from '../../directory/contact-view.ts';
import { compileFilters, type ContactFilters } from '../../directory/contact-filters.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { streamContacts } from './stream.ts';

/** Columns of an export, in the order of the default file. Custom fields follow as `custom:<key>`. */
export const EXPORT_FIELDS = [
  'id',
  'email',
  'first_name',
  'last_name',
  'company',
  'phone',
  'subscribed',
  'verification_status',
  'categories',
  'campaigns',
  'created_at',
  'updated_at',
] as const;
type ExportField = (typeof EXPORT_FIELDS)[number];
const CUSTOM = 'custom:';

/** Selection of contacts to export, and the format of the file. */
interface ContactExportRequest {
  format: 'csv' | 'json';
  scope: 'all' | 'filtered' | 'selected';
  contact_ids?: readonly string[] | undefined;
  filters?: ContactFilters | undefined;
  /** Columns in their order; empty or omitted for all. */
  fields?: readonly string[] | undefined;
}

/** Returns a problem for each column that an export does not have. */
export function exportFieldProblems(fields: readonly string[]): Problem[] {
  return fields.flatMap((field, index) =>
    (EXPORT_FIELDS as readonly string[]).includes(field) || (field.startsWith(CUSTOM) && field.length > CUSTOM.length)
      ? []
      : [{ path: `body.fields.${index}`, message: message('audience.no_export_field') }],
  );
}

/**
 * Exports contacts, newest first, at most 50,000. In CSV, cells that a spreadsheet would read as formulas get an
 * apostrophe. The audit log records the exporting person and the number of contacts.
 * @returns the number of rows, and the text as a stream
 * @throws AppError bad_request (unknown columns, missing ids or filters of the scope); rate_limit_exceeded while too
 * many exports run in this process
 */
export async function exportContacts(
  ctx: Ctx,
  request: ContactExportRequest,
): Promise<{ rows: number; text: Readable }> {
  const { format, scope, contact_ids: ids, filters, fields: asked = [] } = request;
  refuseProblems([
    ...exportFieldProblems(asked),
    ...(scope === 'selected' && !ids?.length ? [{ path: 'body.contact_ids', message: message('field.required') }] : []),
    ...(scope === 'filtered' && !filters ? [{ path: 'body.filters', message: message('field.required') }] : []),
  ]);
  const where = scope === 'filtered' ? compileFilters(filters!, ctx.clock.now()) : new Conditions('f');
  if (scope === 'selected') where.add(`c.id = any(${where.bind(ids!.filter(isUuid), 'uuid[]')})`);
  const columnsOf = (keys: readonly string[]): readonly string[] =>
    asked.length > 0 ? asked : [...EXPORT_FIELDS, ...keys.map((key) => CUSTOM + key)];
  const isCsv = format === 'csv';
  let isFirst = true;
  return streamContacts<ContactView>(ctx, {
    found: `from contacts c where c.organization_id = :org and ${where.all()}`,
    bindings: where.bindings,
    select: CONTACT_VIEW,
    order: 'c.id desc',
    record: (rows) =>
      transact(ctx, async (tx) =>
        tx.audit({ action: 'export', entityType: 'contact', metadata: { rows, scope, format } }),
      ),
    begin: (keys) => (isCsv ? csvHeader(columnsOf(keys)) : '['),
    lines(contacts, keys) {
      const columns = columnsOf(keys);
      if (isCsv) return csvLines(contacts.map((contact) => columns.map((column) => cell(valueOf(contact, column)))));
      const objects = contacts.map((contact) =>
        JSON.stringify(Object.fromEntries(columns.map((column) => [column, valueOf(contact, column)]))),
      );
      const text = (isFirst ? '\n' : ',\n') + objects.join(',\n');
      isFirst = false;
      return text;
    },
    end: isCsv ? '' : '\n]\n',
  });
}

function valueOf(contact: ContactView, column: string): string | boolean | string[] | null {
  if (column.startsWith(CUSTOM)) return contact.custom_fields[column.slice(CUSTOM.length)] ?? null;
  switch (column as ExportField) {
    case 'categories':
      return contact.categories.map(({ title }) => title);
    case 'campaigns':
      return contact.campaigns.map(({ name }) => name);
    case 'created_at':
    case 'updated_at':
      return contact[column as 'created_at'].toISOString();
    default:
      return contact[column as 'email'];
  }
}

function cell(value: ReturnType<typeof valueOf>): string {
  return Array.isArray(value) ? value.join(';') : String(value ?? '');
}
