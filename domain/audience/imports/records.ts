import { parse } from 'csv-parse/sync';

/** One row of the file. `values` is null for invalid CSV; `raw` is then its text. */
export interface CsvRecord {
  /** Physical line (1-based) at which the row starts. For a sheet, the row number. */
  line: number;
  values: string[] | null;
  raw: string;
}

/**
 * Maximum number of characters of a row. If a quote is not closed within this length, its line is reported as broken.
 */
export const MAX_RECORD_CHARS = 64 * 1024;
/** Maximum number of rows that are parsed and yielded together. */
const ROWS_PER_PARSE = 500;

interface RawRecord {
  line: number;
  text: string;
  broken: boolean;
}

/** Returns false for a row of blanks. Spreadsheets write rows with only separators below their last row. */
export function isFilled({ values }: CsvRecord): boolean {
  return !values?.every((value) => !value.trim());
}

/** Separator of cells, and the format that determines how rows are numbered. */
interface RowFormat {
  delimiter: string;
  /** For formats other than `csv`, each row counts as one, even with line breaks inside its cells. */
  format: string;
}

/**
 * Yields the rows of a CSV text in order, in groups, without empty lines. This function separates rows, so that an
 * unclosed quote breaks only its own line and not the rest of the file. csv-parse then parses each row.
 */
export async function* csvRecords(
  text: AsyncIterable<string>,
  { delimiter, format }: RowFormat,
): AsyncGenerator<CsvRecord[]> {
  let rows: RawRecord[] = [];
  for await (const row of splitRecords(text, delimiter, format !== 'csv')) {
    rows.push(row);
    if (rows.length < ROWS_PER_PARSE) continue;
    yield parseRows(rows, delimiter);
    rows = [];
  }
  if (rows.length > 0) yield parseRows(rows, delimiter);
}

async function* splitRecords(
  text: AsyncIterable<string>,
  delimiter: string,
  countsRows: boolean,
): AsyncGenerator<RawRecord> {
  let rest = '';
  let line = 1;
  /** True while the rest of an overlong line is skipped without being kept. */
  let skipping = false;
  const take = function* (buffer: string, final: boolean): Generator<RawRecord> {
    let start = skipping ? lineAfter(buffer, 0) : 0;
    if (skipping && start <= buffer.length) {
      skipping = false;
      line += 1;
    }
    const ends = new RowEnds(buffer, delimiter);
    while (start < buffer.length) {
      const cut = nextCut(buffer, start, ends, final);
      if (!cut) break;
      const record = buffer.slice(start, cut.end);
      if (cut.endless || record.trim()) yield { line, text: record, broken: cut.broken };
      skipping = cut.endless ?? false;
      line += (countsRows ? 0 : newlines(record)) + (skipping ? 0 : 1);
      start = cut.end + 1;
    }
    rest = buffer.slice(start);
  };
  let arrived: string[] = [];
  let size = 0;
  for await (const piece of text) {
    arrived.push(piece);
    size += piece.length;
    // Waits until the new pieces are at least as long as the unread rest, which is scanned again with them. The work
    // then grows only linearly.
    if (size < rest.length) continue;
    yield* take(rest + arrived.join(''), false);
    arrived = [];
    size = 0;
  }
  yield* take(rest + arrived.join(''), true);
}

/**
 * Returns the start of the next line after a position. If there is none, returns a position after the end of the text.
 */
function lineAfter(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed === -1 ? text.length + 1 : feed + 1;
}

/**
 * Returns the end of the row that begins at `start` (the position of its line feed), or undefined if more text is
 * needed. `endless` is true if the line is too long and its line feed has not been read yet.
 */
function nextCut(
  text: string,
  start: number,
  ends: RowEnds,
  final: boolean,
): { end: number; broken: boolean; endless?: boolean } | undefined {
  const end = ends.from(start);
  const isWhole = end !== OPEN && end !== BROKEN && end - start <= MAX_RECORD_CHARS;
  if (isWhole && (end < text.length || final)) return { end, broken: false };
  const dependsOnMore = end === OPEN || end === text.length;
  if (!final && dependsOnMore && text.length - start <= MAX_RECORD_CHARS) return undefined;
  // The row is too long, or a quote in it is not closed. Its line is reported as broken, and reading continues on the
  // next line.
  const feed = text.indexOf('\n', start);
  if (feed === -1 && !final) return { end: text.length, broken: true, endless: true };
  return { end: feed === -1 ? text.length : feed, broken: true };
}

/** Result for a row whose quote is still open at the end of the text. */
const OPEN = -1;
/** Result for a row whose quote spans lines and contains a stray quote. */
const BROKEN = -2;

/**
 * Computes the end of the row for every position where a row may begin, as csv-parse (relax_quotes) reads it. One pass
 * from end to beginning computes all row ends. A forward search from each row would take quadratic time if many quotes
 * are left open.
 */
class RowEnds {
  readonly #text: string;
  readonly #delimiter: string;
  /**
   * Ends of rows, by the position at which a row begins. Computed only if there is a quote; otherwise the next line
   * feed ends the row.
   */
  #atFieldStart: Int32Array | undefined;
  #nextQuote: number;

  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#nextQuote = text.indexOf('"');
  }

  /**
   * Returns the position of the line feed that ends the row that begins at `start`. Without a line feed it is the
   * text's length. May also return OPEN or BROKEN.
   */
  from(start: number): number {
    if (this.#atFieldStart) return this.#atFieldStart[start]!;
    const feed = this.#text.indexOf('\n', start);
    const lineEnd = feed === -1 ? this.#text.length : feed;
    if (this.#nextQuote === -1 || this.#nextQuote > lineEnd) return lineEnd;
    this.#atFieldStart = this.#walkBack();
    return this.#atFieldStart[start]!;
  }

  #walkBack(): Int32Array {
    const [text, delimiter, length] = [this.#text, this.#delimiter.charCodeAt(0), this.#text.length];
    const atFieldStart = new Int32Array(length + 1).fill(length);
    const inField = new Int32Array(length + 1).fill(length);
    const quoted = new Int32Array(length + 1).fill(OPEN);
    const quotedOverLines = new Int32Array(length + 1).fill(OPEN);
    for (let at = length - 1; at >= 0; at -= 1) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) {
        const next = text.charCodeAt(at + 1);
        const closes = Number.isNaN(next) || next === delimiter || next === LINE_FEED;
        inField[at] = inField[at + 1]!;
        atFieldStart[at] = quoted[at + 1]!;
        quoted[at] = next === QUOTE ? quoted[at + 2]! : inField[at + 1]!;
        quotedOverLines[at] = next === QUOTE ? quotedOverLines[at + 2]! : closes ? inField[at + 1]! : BROKEN;
      } else if (char === LINE_FEED) {
        inField[at] = at;
        atFieldStart[at] = at;
        quoted[at] = quotedOverLines[at + 1]!;
        quotedOverLines[at] = quotedOverLines[at + 1]!;
      } else {
        inField[at] = char === delimiter ? atFieldStart[at + 1]! : inField[at + 1]!;
        // A quote after spaces also opens a cell, because people write ", " between cells.
        atFieldStart[at] = char === SPACE ? atFieldStart[at + 1]! : inField[at]!;
        quoted[at] = quoted[at + 1]!;
        quotedOverLines[at] = quotedOverLines[at + 1]!;
      }
    }
    return atFieldStart;
  }
}

const QUOTE = 34;
const SPACE = 32;
const LINE_FEED = 10;

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function parseRows(rows: readonly RawRecord[], delimiter: string): CsvRecord[] {
  const whole = rows.filter((row) => !row.broken);
  const together = parseText(whole.map((row) => row.text).join('\n'), delimiter);
  // If the parser returns another number of rows, parses each row alone, so that a malformed row does not affect its
  // neighbours.
  const parsed = together?.length === whole.length ? together : whole.map((row) => parseRow(row.text, delimiter));
  let next = 0;
  return rows.map((row) => ({
    line: row.line,
    values: row.broken ? null : (parsed[next++]?.map((cell) => cell.normalize('NFC')) ?? null),
    raw: row.text,
  }));
}

function parseRow(text: string, delimiter: string): string[] | null {
  const alone = parseText(text, delimiter);
  return alone?.length === 1 ? alone[0]! : null;
}

function parseText(text: string, delimiter: string): string[][] | undefined {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      ltrim: true,
    });
  } catch {
    return undefined;
  }
}
