import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Columns } from '../../../db/rows.ts';
import { inSnapshot } from '../../../db/transaction.ts';
import { csvHeader, csvLines } from '../../../lib/csv.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { readSelection, type Selection } from '../contacts/selection.ts';
import { compileLeadQuery, type LeadQuery } from './query.ts';
import { PEOPLE_ORDERS, PERSON, type LeadPerson, type PeopleSort } from './people.ts';

const MAX_ROWS = 50_000;
const BATCH = 500;
/** Maximum open exports of a process. Each holds a pool connection while its client reads. */
const MAX_OPEN = 4;
/** Maximum open exports per workspace, so that slow clients of one workspace do not block others. */
const MAX_OPEN_EACH = 2;
/** Time (ms) without progress after which a client counts as gone. */
const STALLED_MS = 30_000;
/** Maximum run time (ms) of a statement of an export. */
const STATEMENT_MS = 15_000;
/** Maximum duration (ms) of an export. */
const MAX_MS = 5 * 60_000;

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
/** Maximum columns for custom fields; the most frequent ones are exported. */
const MAX_FIELDS = 500;

/** A person with all fields needed to import the same contact again. */
type ExportedPerson = LeadPerson &
  Columns<'contacts', 'phone' | 'subscribed' | 'custom_fields'> & { categories: string };

const EXPORTED = `${PERSON}, c.phone, c.subscribed, c.custom_fields,
  coalesce((select string_agg(n.title, ';' order by n.title) from contact_categories f join labels n on n.id = f.label_id
    where f.contact_id = c.id), '') as categories`;

/** Workspace ids of open exports, one entry per export. */
const open: string[] = [];

/**
 * Exports the matching contacts as CSV from one snapshot, at most 50,000, with a column `custom:<key>` for each custom
 * field. An import of the file creates the same contacts. Rows are read as fast as the client accepts them; a
 * disconnected client ends the query. Cells that a spreadsheet would read as formulas get an apostrophe. The audit log
 * records who exported how many.
 * @param selection contacts that the query is narrowed to
 * @returns the number of rows that follow, and the text
 * @throws AppError invalid_lead_query; rate_limit_exceeded while too many exports run in this process; for a selection as
 * {@link readSelection}
 */
export async function exportLeadPeople(
  ctx: Ctx,
  query: LeadQuery,
  sort: PeopleSort,
  selection?: Selection,
): Promise<{ rows: number; csv: Readable }> {
  const where = await compileLeadQuery(reader(ctx), query);
  if (selection) {
    const ids = await readSelection(reader(ctx), selection, ctx.clock.now());
    where.add(`c.id = any(${where.bind(ids, 'uuid[]')})`);
  }
  const workspace = organizationOf(ctx);
  if (open.length >= MAX_OPEN || open.filter((each) => each === workspace).length >= MAX_OPEN_EACH)
    throw tooManyRequests(5_000, message('audience.exports_running'));
  open.push(workspace);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), MAX_MS);
  const csv = new PassThrough();
  csv.once('close', () => end.abort());
  const { from, organization, key, id, direction } = PEOPLE_ORDERS[sort];
  const found = `from ${from} where :org::uuid is not null and ${organization} and ${where.all()}` as const;
  return new Promise((resolve, reject) => {
    inSnapshot(ctx.db, { signal: end.signal, statementMs: STATEMENT_MS }, async (trx) => {
      const org = reader({ ...ctx, trx });
      const [{ rows } = { rows: 0 }] = await org.sql<{ rows: number }>(
        `select count(*)::int as rows from (select ${found} limit ${MAX_ROWS}) listed`,
        where.bindings,
      );
      await recordExport(ctx, query, sort, rows);
      resolve({ rows, csv });
      const keys = await org.sql<{ key: string }>(
        `select k.key from (select c.custom_fields ${found} limit ${MAX_ROWS}) listed
         cross join lateral jsonb_object_keys(listed.custom_fields) as k(key) group by k.key order by count(*) desc, k.key limit ${MAX_FIELDS}`,
        where.bindings,
      );
      const fields = keys.map(({ key }) => key).sort();
      csv.write(csvHeader([...COLUMNS, ...fields.map((key) => `custom:${key}`)]));
      const select =
        `select ${EXPORTED} ${found} order by ${key} ${direction}, ${id} ${direction} limit ${MAX_ROWS}` as const;
      for await (const batch of org.inBatches<ExportedPerson>(select, where.bindings, BATCH))
        if (!csv.write(csvLines(batch.map((person) => cellsOf(person, fields)))))
          await once(csv, 'drain', { signal: AbortSignal.any([end.signal, AbortSignal.timeout(STALLED_MS)]) });
    })
      .then(
        () => csv.end(),
        (error: Error) => {
          reject(error);
          csv.destroy(end.signal.aborted ? undefined : error);
        },
      )
      .finally(() => {
        clearTimeout(timer);
        open.splice(open.indexOf(workspace), 1);
      });
  });
}

function cellsOf(person: ExportedPerson, fields: readonly string[]): string[] {
  return [...COLUMNS.map((column) => cell(person[column])), ...fields.map((key) => person.custom_fields[key] ?? '')];
}

function cell(value: string | number | boolean | Date | null): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}

/** Records the export in the audit log. The query is recorded without its values, which may be addresses. */
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
