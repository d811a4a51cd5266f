import { createReadStream } from 'node:fs';
import { detectDelimiter } from './dialect.ts';
import { csvRecords, type CsvRecord } from './records.ts';
import { decodeText, detectEncoding, type TextEncoding } from './text.ts';

const DELIMITER_SAMPLE_CHARS = 32 * 1024;

/** How a file has to be read. */
export interface Dialect {
  encoding: TextEncoding;
  delimiter: string;
}

/** What to find out about a file. It keeps a processor busy for as long as a second per 20 MB: see inspect-thread.ts. */
export interface Inspection {
  path: string;
  /** Used without detection. */
  delimiter?: string | undefined;
  /** Rows to give, from the first one that can be parsed on. */
  headRows: number;
  /** Rows beyond which they are not counted. Without it all are. */
  most?: number;
}

/** What a file is like. */
export interface Inspected {
  dialect: Dialect;
  head: string[][];
  /** Rows in the file, blank ones left out. With `most` it is exact only beyond it. */
  rows: number;
}

/** Reads a file as an import would, without keeping more than its first rows. */
export async function inspectFile({ path, delimiter, headRows, most }: Inspection): Promise<Inspected> {
  const dialect = await detectDialect(path, delimiter);
  // Lines are counted first, which is quick and never too few; only a file that has too many of them is parsed for its rows.
  const countAll = most === undefined || (await countLines(path)) > most;
  const head: string[][] = [];
  let rows = 0;
  for await (const records of csvRecords(decodeText(createReadStream(path), dialect.encoding), dialect.delimiter)) {
    for (const { values } of records.filter(isFilled)) {
      rows += 1;
      if (values && head.length < headRows) head.push(values);
    }
    if (head.length >= headRows && (!countAll || (most !== undefined && rows > most))) break;
  }
  return { dialect, head, rows };
}

function isFilled({ values }: CsvRecord): boolean {
  return !values?.every((value) => !value.trim());
}

/** Detects the format of a file. A given delimiter is used without detection. */
async function detectDialect(path: string, delimiter: string | undefined): Promise<Dialect> {
  const encoding = await detectEncoding(createReadStream(path));
  if (delimiter) return { encoding, delimiter };
  let sample = '';
  for await (const text of decodeText(createReadStream(path), encoding)) {
    sample += text;
    if (sample.length >= DELIMITER_SAMPLE_CHARS) break;
  }
  return { encoding, delimiter: detectDelimiter(sample) };
}

async function countLines(path: string): Promise<number> {
  const counts = { '\n': 0, '\r': 0 };
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const end of ['\n', '\r'] as const)
      for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 1)) counts[end] += 1;
  }
  return Math.max(counts['\n'], counts['\r']) + 1;
}
