import { createReadStream } from 'node:fs';
import type { ColumnMapping } from '../../db/models/contact-import.ts';
import { badRequest } from '../../lib/errors.ts';
import { columnNames, detectDelimiter, looksLikeHeader, suggestMapping } from './dialect.ts';
import { csvRecords } from './records.ts';
import { decodeText, detectEncoding, type TextEncoding } from './text.ts';

const SAMPLE_ROWS = 20;
const DELIMITER_SAMPLE_CHARS = 32 * 1024;

/** How a file has to be read. */
export interface Dialect {
  encoding: TextEncoding;
  delimiter: string;
}

/** The format of a file, and a suggestion for its columns. */
export interface ImportPreview extends Dialect {
  totalRows: number;
  columns: string[];
  hasHeader: boolean;
  sampleRows: string[][];
  suggestedMapping: ColumnMapping[];
}

/** Detects the format of a file. A given delimiter is used without detection. */
export async function detectDialect(path: string, delimiter?: string): Promise<Dialect> {
  const encoding = await detectEncoding(createReadStream(path));
  if (delimiter) return { encoding, delimiter };
  let sample = '';
  for await (const text of decodeText(createReadStream(path), encoding)) {
    sample += text;
    if (sample.length >= DELIMITER_SAMPLE_CHARS) break;
  }
  return { encoding, delimiter: detectDelimiter(sample) };
}

/**
 * Reads the whole file once: columns, the first rows, how many rows there are, and what to map.
 * @throws AppError bad_request when it is empty
 */
export async function previewFile(
  path: string,
  given: { delimiter?: string | undefined } = {},
): Promise<ImportPreview> {
  const dialect = await detectDialect(path, given.delimiter);
  const head: string[][] = [];
  let rows = 0;
  for await (const records of csvRecords(decodeText(createReadStream(path), dialect.encoding), dialect.delimiter)) {
    for (const { values } of records) {
      if (values?.every((value) => !value.trim())) continue;
      rows += 1;
      if (values && head.length <= SAMPLE_ROWS) head.push(values);
    }
  }
  const first = head[0];
  if (!first) throw badRequest('The file has no rows', [{ path: 'body.file', message: 'Empty' }]);
  const hasHeader = looksLikeHeader(first);
  const sampleRows = head.slice(hasHeader ? 1 : 0).slice(0, SAMPLE_ROWS);
  const columns = columnNames(first, hasHeader);
  return {
    ...dialect,
    totalRows: hasHeader ? rows - 1 : rows,
    columns,
    hasHeader,
    sampleRows,
    suggestedMapping: suggestMapping(columns, hasHeader, sampleRows),
  };
}

/** The first row of a file that can be parsed. Reads no further. */
export async function firstRow(path: string, dialect: Dialect): Promise<string[] | undefined> {
  for await (const records of csvRecords(decodeText(createReadStream(path), dialect.encoding), dialect.delimiter)) {
    const found = records.find(({ values }) => values?.some((value) => value.trim()));
    if (found?.values) return found.values;
  }
  return undefined;
}

/**
 * Refuses a file with too many rows. Lines are counted first, which is quick and never too few; only a file that has too many
 * of them is parsed for its rows.
 * @param most rows, the header not counted
 * @throws AppError bad_request
 */
export async function assertRows(path: string, dialect: Dialect, most: number): Promise<void> {
  if ((await countLines(path)) <= most) return;
  let rows = 0;
  for await (const records of csvRecords(decodeText(createReadStream(path), dialect.encoding), dialect.delimiter)) {
    rows += records.filter(({ values }) => !values?.every((value) => !value.trim())).length;
    if (rows > most + 1) break;
  }
  if (rows > most + 1)
    throw badRequest(`The file has more than ${most} rows`, [
      { path: 'body.file', message: `At most ${most} rows; divide it` },
    ]);
}

async function countLines(path: string): Promise<number> {
  const counts = { '\n': 0, '\r': 0 };
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const end of ['\n', '\r'] as const)
      for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 1)) counts[end] += 1;
  }
  return Math.max(counts['\n'], counts['\r']) + 1;
}
