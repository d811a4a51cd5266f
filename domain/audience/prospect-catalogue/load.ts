import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { createInterface } from 'node:readline';
import { CatalogueWriter, type CopyRow, type LoadProgress } from '../../../db/catalogue/writer.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { csvRecords } from '../imports/records.ts';
import { COMPANY_COLUMNS, PERSON_COLUMNS, readRecord } from './records.ts';

export interface LoadOptions {
  /** URL of the catalogue database, with the role that owns it. */
  url: string;
  /** Database role for searches, if different from the loading role. The role gets read access. */
  reader?: string | undefined;
  file: string;
  /** Defaults to the format of the file name's extension. */
  format?: 'csv' | 'jsonl' | undefined;
  /** Owner and period of the data, returned with the metadata. */
  source?: string | undefined;
  sourcePeriod?: string | undefined;
  /** Number of lines stored in one transaction. */
  chunkLines?: number;
  /** Called for each line that was skipped, with its faults. */
  onRefused?: (line: number, faults: readonly string[]) => void;
  onProgress?: (progress: LoadProgress, step?: string) => void;
}

/** Result of a load. `resumedAt` is the line after which the load resumed, 0 for a load from the beginning. */
export interface LoadReport extends LoadProgress {
  resumedAt: number;
  /** True if the search indexes were created after the rows, because the catalogue was empty. */
  indexedAfter: boolean;
}

/** Thrown when a file is not in a format of the catalogue. */
export class CatalogueFileError extends Error {
  override readonly name = 'CatalogueFileError';
}

const CHUNK_LINES = 50_000;
const FINGERPRINT_BYTES = 1024 * 1024;

/**
 * Loads a file into the catalogue. Rows are stored by id; the later of two rows with one id wins. Faulty lines are
 * skipped and reported. A load that was interrupted resumes after its last stored chunk when it gets the same file
 * again.
 * @throws CatalogueFileError for a file of another format, CatalogueBusy while another process loads
 */
export async function loadCatalogue(options: LoadOptions): Promise<LoadReport> {
  const format = formatOf(options);
  const fingerprint = await fingerprintOf(options.file);
  const { size } = await stat(options.file);
  const writer = await CatalogueWriter.open(
    options.url,
    { person: PERSON_COLUMNS, company: COMPANY_COLUMNS },
    options.reader,
  );
  try {
    const indexedAfter = await writer.dropIndexesWhereEmpty();
    const progress = await writer.begin(fingerprint, basename(options.file), size);
    const resumedAt = progress.linesDone;
    await storeLines(writer, fingerprint, progress, linesOf(options.file, format), options);
    await writer.finish(fingerprint, options, (step) => options.onProgress?.(progress, step));
    return { ...progress, resumedAt, indexedAfter };
  } finally {
    await writer.close();
  }
}

/**
 * Creates indexes that the catalogue lacks, for example after an upgrade. Searches stay possible in the meantime, but
 * are slow. After an interruption, a new call resumes with the unfinished index. Returns the names of the created
 * indexes.
 * @throws CatalogueBusy while another process writes
 */
export async function indexCatalogue(
  { url, reader }: Pick<LoadOptions, 'url' | 'reader'>,
  onStep: (what: string) => void = () => {},
): Promise<string[]> {
  const writer = await CatalogueWriter.open(url, { person: PERSON_COLUMNS, company: COMPANY_COLUMNS }, reader);
  try {
    return await writer.index(onStep);
  } finally {
    await writer.close();
  }
}

interface Line {
  line: number;
  fields: unknown;
  fault?: string;
}

/** Stores the lines of a file in chunks. Reads the next chunk while PostgreSQL stores the previous one. */
async function storeLines(
  writer: CatalogueWriter,
  fingerprint: string,
  progress: LoadProgress,
  lines: AsyncIterable<Line>,
  { chunkLines = CHUNK_LINES, onRefused, onProgress }: LoadOptions,
): Promise<void> {
  const skipTo = progress.linesDone;
  let rows = emptyChunk();
  let read = 0;
  let storing: Promise<void> = Promise.resolve();
  const store = async () => {
    await storing;
    const [chunk, done] = [rows, { ...progress }];
    rows = emptyChunk();
    read = 0;
    storing = writer.store(fingerprint, done, chunk).then(() => onProgress?.(done));
    // Avoids an unhandled rejection: the promise is awaited by the next chunk, or at the end.
    storing.catch(() => {});
  };
  for await (const { line, fields, fault } of lines) {
    if (line <= skipTo) continue;
    progress.linesDone = line;
    const record = fault === undefined ? readRecord(fields) : { kind: 'refused' as const, faults: [fault] };
    if (record.kind === 'refused') {
      progress.refused += 1;
      onRefused?.(line, record.faults);
    } else {
      progress[record.kind === 'person' ? 'people' : 'companies'] += 1;
      rows[record.kind].set(record.id, record.row);
    }
    read += 1;
    if (read >= chunkLines) await store();
  }
  await store();
  await storing;
}

function emptyChunk(): { person: Map<string, CopyRow>; company: Map<string, CopyRow> } {
  return { person: new Map(), company: new Map() };
}

function formatOf({ file, format }: LoadOptions): 'csv' | 'jsonl' {
  if (format) return format;
  const ending = extname(file).toLowerCase();
  if (ending === '.csv') return 'csv';
  if (ending === '.jsonl' || ending === '.ndjson') return 'jsonl';
  throw new CatalogueFileError(`${basename(file)} ends neither in .csv nor in .jsonl: say which with --format`);
}

/**
 * Returns a fingerprint of a file that does not depend on its path: its size, and a digest of its first and last
 * megabyte.
 */
async function fingerprintOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(Math.min(size, FINGERPRINT_BYTES));
    const last = Buffer.alloc(first.length);
    await handle.read(first, 0, first.length, 0);
    await handle.read(last, 0, last.length, size - last.length);
    return sha256(`${size}:${sha256(first)}:${sha256(last)}`);
  } finally {
    await handle.close();
  }
}

function linesOf(file: string, format: 'csv' | 'jsonl'): AsyncGenerator<Line> {
  return format === 'csv' ? csvLines(file) : jsonLines(file);
}

async function* jsonLines(file: string): AsyncGenerator<Line> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    line += 1;
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (json.trim() === '') continue;
    try {
      yield { line, fields: JSON.parse(json) as unknown };
    } catch {
      yield { line, fields: undefined, fault: 'is no JSON' };
    }
  }
}

async function* csvLines(file: string): AsyncGenerator<Line> {
  let columns: string[] | undefined;
  for await (const records of csvRecords(createReadStream(file, 'utf8'), { delimiter: ',', format: 'csv' })) {
    for (const { line, values } of records) {
      if (!columns) {
        columns = headerOf(values, file);
        continue;
      }
      const names: string[] = columns;
      if (values === null) yield { line, fields: undefined, fault: 'is no valid CSV' };
      else if (values.length > names.length) yield { line, fields: undefined, fault: 'has more cells than the header' };
      else yield { line, fields: Object.fromEntries(values.map((value, index) => [names[index], value])) };
    }
  }
}

function headerOf(values: readonly string[] | null, file: string): string[] {
  const names = (values ?? []).map((name) =>
    name
      .replace(/^\uFEFF/, '')
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_'),
  );
  if (!names.includes('id')) throw new CatalogueFileError(`${basename(file)} has no column "id" in its first line`);
  return names;
}
