import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { badRequest } from '../../../lib/errors.ts';
import { runInThread } from '../../../lib/thread.ts';
import { columnNames, looksLikeHeader, suggestMapping } from './dialect.ts';
import type { Dialect, Inspected, Inspection } from './inspect.ts';

const SAMPLE_ROWS = 20;
const THREAD = new URL('./inspect-thread', import.meta.url);

/** The format of a file, and a suggestion for its columns. */
interface ImportPreview extends Dialect {
  totalRows: number;
  columns: string[];
  hasHeader: boolean;
  sampleRows: string[][];
  suggestedMapping: ColumnMapping[];
}

/**
 * Reads the whole file once: columns, the first rows, how many rows there are, and what to map.
 * @throws AppError bad_request when it is empty
 */
export async function previewFile(path: string): Promise<ImportPreview> {
  const { dialect, head, rows } = await inspectApart({ path, headRows: SAMPLE_ROWS + 1 });
  const first = firstOf(head);
  const hasHeader = looksLikeHeader(first);
  const sampleRows = head.slice(hasHeader ? 1 : 0).slice(0, SAMPLE_ROWS);
  const columns = columnNames(first, { hasHeader });
  return {
    ...dialect,
    totalRows: hasHeader ? rows - 1 : rows,
    columns,
    hasHeader,
    sampleRows,
    suggestedMapping: suggestMapping(columns, { hasHeader, sample: sampleRows }),
  };
}

/**
 * How to read a file, and its first row.
 * @param most rows it may have, the header not counted
 * @throws AppError bad_request when it is empty or has too many rows
 */
export async function readHead(
  path: string,
  delimiter: string | undefined,
  most: number,
): Promise<{ dialect: Dialect; first: string[] }> {
  const { dialect, head, rows } = await inspectApart({ path, delimiter, headRows: 1, most: most + 1 });
  const first = firstOf(head);
  if (rows > most + 1)
    throw badRequest(`The file has more than ${most} rows`, [
      { path: 'body.file', message: `At most ${most} rows; divide it` },
    ]);
  return { dialect, first };
}

/** Parsing takes a second per 20 MB: it is not done on the event loop. */
function inspectApart(inspection: Inspection): Promise<Inspected> {
  return runInThread<Inspection, Inspected>(THREAD, inspection);
}

function firstOf(head: readonly string[][]): string[] {
  const first = head[0];
  if (!first) throw badRequest('The file has no rows', [{ path: 'body.file', message: 'Empty' }]);
  return first;
}
