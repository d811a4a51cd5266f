import { parse } from 'csv-parse/sync';

/** One row of the file. `values` is null when the row is no valid CSV; `raw` is then its text. */
export interface CsvRecord {
  /** Physical line (1-based) on which the row starts; of a sheet, the row. */
  line: number;
  values: string[] | null;
  raw: string;
}

/** Characters of the largest accepted row. A quote that is not closed within them means that its line is broken. */
export const MAX_RECORD_CHARS = 64 * 1024;
/** Rows passed to the parser, and to the caller, at once. */
const ROWS_PER_PARSE = 500;

interface RawRecord {
  line: number;
  text: string;
  broken: boolean;
}

/** False for a row of blanks: spreadsheets write rows with separators only below their last one. */
export function isFilled({ values }: CsvRecord): boolean {
  return !values?.every((value) => !value.trim());
}

/** Separator of cells, and the way in which rows are counted. */
interface RowFormat {
  delimiter: string;
  /** Rows of a sheet are counted as such, and not the lines inside of their cells. */
  format: string;
}

/**
 * The rows of a CSV text, in groups, in order; empty lines are left out. Rows are separated here, so that a quote that is not
 * closed breaks only its own line and not the rest of the file; csv-parse parses each row.
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
  /** The rest of a line that is too long is passed over as it comes, and not kept. */
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
    // The rest is read again with what follows: work stays linear when that is at least as much.
    if (size < rest.length) continue;
    yield* take(rest + arrived.join(''), false);
    arrived = [];
    size = 0;
  }
  yield* take(rest + arrived.join(''), true);
}

/** Where the line after a position begins; beyond the end of the text when it has none. */
function lineAfter(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed === -1 ? text.length + 1 : feed + 1;
}

/**
 * Where the row that begins at `start` ends (the position of its line feed), or undefined when more text is needed. `endless`
 * is a line that is too long and whose line feed has not come.
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
  // The row is too long, or its quote is not closed: its line is broken, and reading continues on the next line.
  const feed = text.indexOf('\n', start);
  if (feed === -1 && !final) return { end: text.length, broken: true, endless: true };
  return { end: feed === -1 ? text.length : feed, broken: true };
}

/** The quote is still open at the end of the text. */
const OPEN = -1;
/** A quote that spans lines meets one that closes nothing: that one opens a later cell. */
const BROKEN = -2;

/**
 * For every position of a text where a row may begin, where that row ends, as csv-parse (relax_quotes) reads it. All are
 * found in one pass from the end to the beginning: searching ahead from each row would take quadratic time
 * when many quotes are left open.
 */
class RowEnds {
  readonly #text: string;
  readonly #delimiter: string;
  /** Without quotes the line feed ends a row; the pass is made at the first quote. */
  #atFieldStart: Int32Array | undefined;
  #nextQuote: number;

  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#nextQuote = text.indexOf('"');
  }

  /** The position of the line feed that ends the row, the length of the text when it has none, or OPEN or BROKEN. */
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
        // A quote behind blanks opens a cell, too: people write ", " between cells.
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
  // One odd row must not spoil its neighbours: where the count differs, each is parsed alone.
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
