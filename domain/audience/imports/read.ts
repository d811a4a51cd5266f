import { ContactImports, type ContactImportRow } from '../../../db/models/contact-import.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { csvHeader, csvLines } from '../../../lib/csv.ts';
import { PROBLEM_COLUMNS } from './columns.ts';
import {
  decodeCursor,
  decodeIdCursor,
  encodeCursor,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

export type { ContactImportRow } from '../../../db/models/contact-import.ts';

/** A row that was not imported. */
interface ImportProblem {
  line: number;
  email: string;
  row_values: string[];
  reason: string;
}

const DOWNLOAD_PAGE = 1000;

/** Lists imports, newest first. */
export async function listImports(ctx: Ctx, page: PageRequest): Promise<Page<ContactImportRow>> {
  const after = decodeIdCursor('imports.list', null, page.cursor);
  const query = reader(ctx)
    .query(ContactImports)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor('imports.list', null, [last.id]));
}

/** Returns one import. @throws AppError not_found */
export async function getImport(ctx: Ctx, id: string): Promise<ContactImportRow> {
  const job = isUuid(id) ? await reader(ctx).query(ContactImports).findById(id) : undefined;
  if (!job) throw notFound('import');
  return job;
}

/** Largest line number that PostgreSQL's integer holds. */
const MAX_LINE = 2_147_483_647;

/**
 * Lists the rows that were not imported, by line.
 * @throws AppError not_found, bad_request (cursor)
 */
export async function listProblems(ctx: Ctx, id: string, page: PageRequest): Promise<Page<ImportProblem>> {
  await getImport(ctx, id);
  const at = decodeCursor<[line: number, reason: string]>('imports.problems', id, page.cursor, [
    (line): line is number => Number.isInteger(line) && Math.abs(line as number) <= MAX_LINE,
    (reason): reason is string => typeof reason === 'string' && !reason.includes('\0'),
  ]);
  const rows = await problemsAfter(reader(ctx), id, at && { line: at[0], reason: at[1] }, page.limit + 1);
  return pageOf(rows, page.limit, (last) => encodeCursor('imports.problems', id, [last.line, last.reason]));
}

/**
 * Returns the rows with problems as a CSV file: the original columns, line, reason, and the cells after the last
 * column. A cell that a spreadsheet could read as a formula gets an apostrophe, which a repeated import removes.
 * @throws AppError not_found
 */
export async function problemsCsv(ctx: Ctx, id: string): Promise<AsyncGenerator<string>> {
  const { options } = await getImport(ctx, id);
  const org = reader(ctx);
  const width = options.columns.length;
  return (async function* () {
    yield csvHeader([...options.columns, ...PROBLEM_COLUMNS]);
    let last: ImportProblem | undefined;
    do {
      const page: ImportProblem[] = await problemsAfter(org, id, last, DOWNLOAD_PAGE);
      last = page.length === DOWNLOAD_PAGE ? page.at(-1) : undefined;
      if (page.length > 0) {
        yield csvLines(
          page.map((problem) => [
            ...Array.from({ length: width }, (_, column) => problem.row_values[column] ?? ''),
            String(problem.line),
            problem.reason,
            problem.row_values.slice(width).join(', '),
          ]),
        );
      }
    } while (last);
  })();
}

async function problemsAfter(
  org: OrgScope,
  id: string,
  after: { line: number; reason: string } | undefined,
  limit: number,
): Promise<ImportProblem[]> {
  return org.sql<ImportProblem>(
    `select line, email, row_values, reason from contact_import_problems
     where organization_id = :org and import_id = :id and (line, reason) > (:line, :reason) order by line, reason limit :limit`,
    { id, line: after?.line ?? 0, reason: after?.reason ?? '', limit },
  );
}
