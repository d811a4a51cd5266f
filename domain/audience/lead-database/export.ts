import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { inSnapshot } from '../../../db/transaction.ts';
import { csvLines } from '../../../lib/csv.ts';
import { tooManyRequests } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { compileLeadQuery, type LeadQuery } from './query.ts';
import { PEOPLE_ORDERS, PERSON, type LeadPerson, type PeopleSort } from './people.ts';

const MAX_ROWS = 50_000;
const BATCH = 500;
/** Each holds a connection of the pool while its client reads. */
const MAX_OPEN = 4;
/** Of one workspace: clients that read slowly keep nobody else from theirs. */
const MAX_OPEN_EACH = 2;
/** A client that takes nothing for so long (ms) has gone. */
const STALLED_MS = 30_000;
/** The longest (ms) that a client may take for all of it. */
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
] as const satisfies readonly (keyof LeadPerson)[];

/** Workspaces of the exports under way, each as often as it has one. */
const open: string[] = [];

/**
 * The contacts that match as CSV, at most 50,000, as they are at one moment. Rows are read as the client takes them; a client that goes away ends the
 * query. Cells that a spreadsheet would take for formulas get an apostrophe. The audit trail says who exported how many.
 * @returns the number of rows that follow, and the text
 * @throws AppError invalid_lead_query; rate_limit_exceeded while too many exports run in this process
 */
export async function exportLeadPeople(
  ctx: Ctx,
  query: LeadQuery,
  sort: PeopleSort,
): Promise<{ rows: number; csv: Readable }> {
  const where = await compileLeadQuery(reader(ctx), query);
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
    inSnapshot(ctx.db, end.signal, async (trx) => {
      const org = reader({ ...ctx, trx });
      const [{ rows } = { rows: 0 }] = await org.sql<{ rows: number }>(
        `select count(*)::int as rows from (select ${found} limit ${MAX_ROWS}) listed`,
        where.bindings,
      );
      await recordExport(ctx, query, sort, rows);
      resolve({ rows, csv });
      csv.write(csvLines([[...COLUMNS]]));
      const select =
        `select ${PERSON} ${found} order by ${key} ${direction}, ${id} ${direction} limit ${MAX_ROWS}` as const;
      for await (const batch of org.inBatches<LeadPerson>(select, where.bindings, BATCH))
        if (!csv.write(csvLines(batch.map((person) => COLUMNS.map((column) => cell(person[column]))))))
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

function cell(value: string | number | Date | null): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}

/** What was asked for, without the values: they may be addresses. */
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
