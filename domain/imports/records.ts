import { parse } from 'csv-parse/sync';

/** One row of the file. `values` is null when the row is no valid CSV; `raw` is then its text. */
export interface CsvRecord {
  /** Physical line (1-based) on which the row starts. */
  line: number;
  values: string[] | null;
  raw: string;
}

/** Characters of the largest accepted row. An opened quote that is not closed within them belongs to a broken line. */
export const MAX_RECORD_CHARS = 64 * 1024;
/** Rows handed to the parser, and on to the caller, at once. */
const ROWS_PER_PARSE = 500;

interface RawRecord {
  line: number;
  text: string;
  broken: boolean;
}

/**
 * The rows of a CSV text, in groups, in order; empty lines are left out. Rows are told apart here, so that a quote nobody
 * closed costs its own line and not the rest of the file; what is inside a row is csv-parse's business.
 */
export async function* csvRecords(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<CsvRecord[]> {
  let rows: RawRecord[] = [];
  for await (const row of splitRecords(text, delimiter)) {
    rows.push(row);
    if (rows.length < ROWS_PER_PARSE) continue;
    yield parseRows(rows, delimiter);
    rows = [];
  }
  if (rows.length > 0) yield parseRows(rows, delimiter);
}

async function* splitRecords(text: AsyncIterable<string>, delimiter: string): AsyncGenerator<RawRecord> {
  let buffer = '';
  let line = 1;
  const take = function* (final: boolean): Generator<RawRecord> {
    let start = 0;
    while (start < buffer.length) {
      const cut = nextCut(buffer, start, delimiter, final);
      if (!cut) break;
      const record = buffer.slice(start, cut.end);
      if (record.trim()) yield { line, text: record, broken: cut.broken };
      line += newlines(record) + 1;
      start = cut.end + 1;
    }
    buffer = buffer.slice(start);
  };
  for await (const piece of text) {
    buffer += piece;
    yield* take(false);
  }
  yield* take(true);
}

/** Where the row that begins at `start` ends (the place of its line feed), or undefined when more text is needed. */
function nextCut(
  text: string,
  start: number,
  delimiter: string,
  final: boolean,
): { end: number; broken: boolean } | undefined {
  const feed = text.indexOf('\n', start);
  const lineEnd = feed === -1 ? text.length : feed;
  const quote = text.indexOf('"', start);
  if (quote === -1 || quote > lineEnd) {
    if (feed === -1 && !final) return undefined;
    return { end: lineEnd, broken: lineEnd - start > MAX_RECORD_CHARS };
  }
  const limit = Math.min(text.length, start + MAX_RECORD_CHARS);
  const end = closedEnd(text, start, limit, delimiter);
  if (end !== undefined && (end < text.length || final)) return { end, broken: false };
  if (limit === text.length && !final) return undefined;
  // The quote is not closed: its line is broken, and what follows is read afresh.
  if (feed === -1 && !final) return undefined;
  return { end: lineEnd, broken: true };
}

/**
 * Walks a row with quotes as csv-parse (relax_quotes) reads it: the place of the line feed outside quotes, or of the end.
 * Undefined when a quote stays open, or runs over lines into a quote that closes nothing: that one opens a later cell.
 */
function closedEnd(text: string, start: number, limit: number, delimiter: string): number | undefined {
  let fieldStart = true;
  let quoted = false;
  let overLines = false;
  for (let i = start; i < limit; i += 1) {
    const char = text[i]!;
    if (quoted) {
      if (char === '\n') overLines = true;
      if (char !== '"') continue;
      const next = text[i + 1];
      if (next === '"') {
        i += 1;
        continue;
      }
      if (overLines && next !== undefined && next !== delimiter && next !== '\n') return undefined;
      quoted = false;
    } else if (char === '\n') {
      return i;
    } else if (char === '"' && fieldStart) {
      quoted = true;
      overLines = false;
      fieldStart = false;
    } else {
      fieldStart = char === delimiter;
    }
  }
  return quoted || limit < text.length ? undefined : limit;
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function parseRows(rows: readonly RawRecord[], delimiter: string): CsvRecord[] {
  const parsed = rows.some((row) => row.broken)
    ? undefined
    : parseText(rows.map((row) => row.text).join('\n'), delimiter);
  // One odd row must not cost its neighbours: where the count differs, each is parsed by itself.
  const values =
    parsed?.length === rows.length
      ? parsed
      : rows.map((row) => {
          const alone = row.broken ? undefined : parseText(row.text, delimiter);
          return alone?.length === 1 ? alone[0]! : null;
        });
  return rows.map((row, index) => ({ line: row.line, values: values[index] ?? null, raw: row.text }));
}

function parseText(text: string, delimiter: string): string[][] | undefined {
  try {
    return parse(text, { delimiter, record_delimiter: '\n', relax_column_count: true, relax_quotes: true });
  } catch {
    return undefined;
  }
}
