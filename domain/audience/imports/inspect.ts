import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import type { Problem } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import { AddressSet } from './address-set.ts';
import { columnNames, suggestMapping } from './columns.ts';
import { decodeText, detectEncoding } from './encoding.ts';
import { binaryKind, KIND_BYTES, textKind, type OtherFile, type TableFormat } from './file-kind.ts';
import { detectDelimiter, findLayout, HEADER_ROWS, namedDelimiter, type Layout } from './layout.ts';
import { csvRecords, isFilled, type CsvRecord } from './records.ts';
import { rowReader, type Person, type RowMeaning, type RowReason } from './rows.ts';
import { Archive, SheetError } from './sheets/archive.ts';
import { workbookKind, writeSheet, type SheetFile } from './sheets/to-csv.ts';

const TEXT_SAMPLE_CHARS = 32 * 1024;
/** Number of rows shown and used to detect columns. */
const SAMPLE_ROWS = 20;

/** A person's choices for reading a file. A choice that is missing is detected from the file. */
export interface ReadingChoices {
  encoding?: string | undefined;
  delimiter?: string | undefined;
  skipRows?: number | undefined;
  hasHeader?: boolean | undefined;
  /** Name of a sheet of a workbook. */
  sheet?: string | undefined;
}

/** Request to inspect a file. An inspection takes one second of CPU per 20 MB (inspect-thread.ts). */
export interface Inspection {
  path: string;
  choices: ReadingChoices;
  /** Number of rows at which counting stops. If absent, all rows are counted. */
  most?: number;
  /** If set, reads all rows as an import would and returns the results. */
  preview?: { mapping?: readonly ColumnMapping[] | undefined };
}

/** Properties of a file, and how to read it. */
export interface Inspected {
  format: TableFormat;
  encoding: string;
  /** Confidence of the detected encoding, from 0 to 1. */
  confidence: number;
  delimiter: string;
  skipRows: number;
  hasHeader: boolean;
  /** Names of columns. */
  columns: string[];
  /** The first rows below the header. */
  sample: string[][];
  suggestedMapping: ColumnMapping[];
  /**
   * Number of rows below the header, without blank ones. If `most` is given, the rows are counted only if there may be
   * more than `most`, and the number is otherwise 0.
   */
  rows: number;
  /**
   * The sheet of a workbook, which was written to a CSV file. The caller must delete the file. Null for other files.
   */
  sheet: SheetFile | null;
  outcome: Outcome | null;
}

/** Expected result of importing a file. */
export interface Outcome {
  /** The first rows, as they would be stored. */
  stored: StoredRow[];
  /** Number of rows that would be skipped or changed, by reason. */
  problems: { reason: RowReason; rows: number; firstLine: number }[];
  /** Number of rows that would be imported without permission to mail. */
  unsubscribed: number;
}

/** A row as it would be stored. `person` is absent if the row would be refused. */
interface StoredRow {
  line: number;
  person: Person | null;
  reason: RowReason | null;
}

/** Result of an inspection, or the reason why the file cannot be read. */
export type InspectionAnswer = { inspected: Inspected } | { refused: Problem };

/** Inspects a file, and reads it as an import would. Only the first rows stay in memory. */
export async function inspectFile(inspection: Inspection): Promise<InspectionAnswer> {
  try {
    return await inspectTable(inspection);
  } catch (error) {
    if (!(error instanceof SheetError)) throw error;
    const said = message(`imports.workbook_${error.kind}`);
    return refused(said, error.kind === 'no_such_sheet' ? 'body.options.sheet' : 'body.file');
  }
}

function refused(said: Message, path = 'body.file'): { refused: Problem } {
  return { refused: { path, message: said } };
}

async function inspectTable({ path, choices, most, preview }: Inspection): Promise<InspectionAnswer> {
  const kind = binaryKind(await firstBytes(path));
  if (typeof kind === 'object') return notATable(kind.other);
  if (kind !== 'zip') return inspectText({ path, choices, most, preview }, null);
  const archive = await Archive.open(path);
  try {
    const format = workbookKind(archive);
    if (typeof format === 'object') return notATable(format.other);
    const sheet = await writeSheet(archive, format, `${path}.csv`, choices.sheet);
    const answer = await inspectText({ path: sheet.path, choices, most, preview }, sheet);
    if ('refused' in answer) await rm(sheet.path, { force: true });
    return answer;
  } catch (error) {
    await rm(`${path}.csv`, { force: true });
    throw error;
  } finally {
    archive.close();
  }
}

function notATable(kind: OtherFile): { refused: Problem } {
  return refused(message('imports.not_a_table', { kind: message(`file_kind.${kind}`) }));
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(KIND_BYTES), 0, KIND_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function inspectText(
  { path, choices, most, preview }: Inspection,
  sheet: SheetFile | null,
): Promise<InspectionAnswer> {
  const { encoding, confidence } = sheet
    ? { encoding: 'utf-8', confidence: 1 }
    : choices.encoding
      ? { encoding: choices.encoding, confidence: 1 }
      : await detectEncoding(path);
  const text = await textSample(path, encoding);
  const other = sheet ? undefined : textKind(text);
  if (other) return notATable(other);
  const named = sheet ? undefined : namedDelimiter(text);
  const format: TableFormat = sheet?.format ?? 'csv';
  const delimiter = sheet ? ',' : (choices.delimiter ?? named ?? detectDelimiter(text));
  const head = await firstRows(path, encoding, { delimiter, format });
  const listed = named ? head.filter(({ line }) => line > 1) : head;
  if (listed.length === 0) return refused(message('imports.no_rows'));
  const layout = findLayout(listed, choices);
  if (named && layout.skipRows < 1) layout.skipRows = 1;
  const { hasHeader, skipRows, header } = layout;
  const columns = columnNames(header);
  const sample = listed
    .filter(({ line }) => line > skipRows)
    .slice(hasHeader ? 1 : 0)
    .slice(0, SAMPLE_ROWS)
    .map(({ values }) => values);
  const suggestedMapping = suggestMapping(columns, { hasHeader, sample });
  const meaning = { mapping: preview?.mapping ?? suggestedMapping, columns, delimiter };
  const { rows, outcome } = await readRows(
    { path, encoding, format, delimiter, layout, most },
    preview ? meaning : null,
  );
  const reading = { format, encoding, confidence, delimiter, skipRows, hasHeader, columns };
  return { inspected: { ...reading, sample, suggestedMapping, rows, sheet, outcome } };
}

async function textSample(path: string, encoding: string): Promise<string> {
  let sample = '';
  for await (const text of decodeText(createReadStream(path), encoding)) {
    sample += text;
    if (sample.length >= TEXT_SAMPLE_CHARS) break;
  }
  return sample;
}

type FilledRow = CsvRecord & { values: string[] };

/** Returns the first rows that are valid and not blank. */
async function firstRows(
  path: string,
  encoding: string,
  rowFormat: { delimiter: string; format: TableFormat },
): Promise<FilledRow[]> {
  const head: FilledRow[] = [];
  for await (const records of csvRecords(decodeText(createReadStream(path), encoding), rowFormat)) {
    head.push(...records.filter((record): record is FilledRow => record.values !== null && isFilled(record)));
    if (head.length >= HEADER_ROWS + SAMPLE_ROWS) break;
  }
  return head.slice(0, HEADER_ROWS + SAMPLE_ROWS);
}

interface Rows {
  path: string;
  encoding: string;
  format: TableFormat;
  delimiter: string;
  layout: Layout;
  most: number | undefined;
}

/** Counts the rows, and reads them if a mapping is given. */
async function readRows(
  { path, encoding, format, delimiter, layout, most }: Rows,
  meaning: RowMeaning | null,
): Promise<{ rows: number; outcome: Outcome | null }> {
  // Counts lines first, which is fast and gives an upper bound of the rows. Parses rows only if the bound exceeds the
  // limit.
  if (!meaning && most !== undefined && (await countLines(path)) <= most + layout.skipRows + 1)
    return { rows: 0, outcome: null };
  const reader = meaning && rowReader(meaning);
  const seen = new AddressSet();
  const outcome: Outcome = { stored: [], problems: [], unsubscribed: 0 };
  let header = layout.hasHeader;
  let rows = 0;
  const text = decodeText(createReadStream(path), encoding);
  for await (const records of csvRecords(text, { delimiter, format })) {
    for (const record of records) {
      if (record.line <= layout.skipRows) continue;
      if (header) {
        header = false;
        continue;
      }
      if (!isFilled(record)) continue;
      rows += 1;
      if (reader) addRow(outcome, record.line, reader.read(record), seen);
    }
    if (most !== undefined && rows > most) break;
  }
  return { rows, outcome: reader ? outcome : null };
}

function addRow(
  outcome: Outcome,
  line: number,
  read: ReturnType<ReturnType<typeof rowReader>['read']>,
  seen: AddressSet,
): void {
  const isPerson = 'draft' in read;
  const isRepeated = isPerson && !seen.add(read.draft.email);
  const isUnclear = isPerson && read.optOut?.state === 'unclear';
  const reason = !isPerson ? read.reason : isRepeated ? 'duplicate_in_file' : isUnclear ? 'unclear_permission' : null;
  const person = isPerson && !isRepeated ? read : null;
  if (person && !person.draft.subscribed) outcome.unsubscribed += 1;
  if (outcome.stored.length < SAMPLE_ROWS) outcome.stored.push({ line, person, reason });
  if (reason === null) return;
  const known = outcome.problems.find((each) => each.reason === reason);
  if (known) known.rows += 1;
  else outcome.problems.push({ reason, rows: 1, firstLine: line });
}

async function countLines(path: string): Promise<number> {
  const counts = { '\n': 0, '\r': 0 };
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const end of ['\n', '\r'] as const)
      for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 1)) counts[end] += 1;
  }
  return Math.max(counts['\n'], counts['\r']) + 1;
}
