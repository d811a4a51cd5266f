import { parseAddress, parseAddresses } from '../../../lib/address.ts';
import { namesAddresses } from './columns.ts';
import type { CsvRecord } from './records.ts';

/** Separators that spreadsheets write. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Matches a line such as `sep=;`, which names the separator for Excel. */
const SEPARATOR_LINE = /^\s*"?sep=(.)"?\s*$/i;

/**
 * Returns the separator of a first line such as `sep=;`, which Excel understands. Returns undefined without such a
 * line.
 */
export function namedDelimiter(text: string): string | undefined {
  const first = text.slice(0, 20).split('\n', 1)[0]!;
  const named = SEPARATOR_LINE.exec(first)?.[1];
  return named === '"' ? undefined : named;
}

/**
 * Returns the separator that splits the first lines most evenly; a comma if none does. A line of several addresses, as
 * mail programs copy them, stays one cell.
 */
export function detectDelimiter(sample: string): string {
  const lines = sample
    .split('\n')
    .filter((line) => line.trim())
    .slice(0, 30);
  if (lines.every(listsAddresses)) return '\t';
  let best: string = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => countOutsideQuotes(line, delimiter)).filter((count) => count > 0);
    const usual = mostFrequent(counts);
    const agreeing = counts.filter((count) => count === usual).length;
    const score = usual === 0 ? 0 : usual + (10 * agreeing) / lines.length;
    if (score > bestScore) [best, bestScore] = [delimiter, score];
  }
  return best;
}

function listsAddresses(line: string): boolean {
  const parts = line.split(/[,;\s]+/).filter(Boolean);
  return parts.length > 1 && parts.every((part) => parseAddress(part) !== null);
}

function countOutsideQuotes(line: string, delimiter: string): number {
  let count = 0;
  let quoted = false;
  for (const char of line) {
    if (char === '"') quoted = !quoted;
    else if (char === delimiter && !quoted) count += 1;
  }
  return count;
}

function mostFrequent(counts: readonly number[]): number {
  let best = 0;
  let times = 0;
  for (const count of new Set(counts)) {
    const found = counts.filter((each) => each === count).length;
    if (found > times) [best, times] = [count, found];
  }
  return best;
}

/** Position of the header and the data rows in a file. */
export interface Layout {
  /** Number of lines above the header, or above the first row if there is no header. */
  skipRows: number;
  hasHeader: boolean;
  /** Header cells; without a header, as many empty cells as the first rows have. */
  header: string[];
}

/** A valid row with its cells. */
type Row = CsvRecord & { values: string[] };

/** Number of first rows in which the header is searched. */
export const HEADER_ROWS = 30;

/**
 * Finds the header among the first rows, below title lines. Choices of a person override the detection.
 * @param rows the first rows of the file, without blank ones
 */
export function findLayout(
  rows: readonly Row[],
  given: { skipRows?: number | undefined; hasHeader?: boolean | undefined },
): Layout {
  const below = given.skipRows === undefined ? rows : rows.filter(({ line }) => line > given.skipRows!);
  const found = given.hasHeader === false ? undefined : headerOf(below, given);
  if (found) return { skipRows: given.skipRows ?? found.line - 1, hasHeader: true, header: found.values };
  const first = given.hasHeader === false ? below[0] : (below.find(hasAddress) ?? below[0]);
  const width = Math.max(0, ...below.slice(0, HEADER_ROWS).map(({ values }) => filledWidth(values)));
  return {
    skipRows: given.skipRows ?? (first ? first.line - 1 : 0),
    hasHeader: false,
    header: Array.from({ length: width }, () => ''),
  };
}

function headerOf(
  rows: readonly Row[],
  { skipRows, hasHeader }: { skipRows?: number | undefined; hasHeader?: boolean | undefined },
): Row | undefined {
  const [first] = rows;
  if (!first) return undefined;
  // If a person chose the number of skipped lines, the next line is the header.
  if (skipRows !== undefined && (hasHeader || !hasAddress(first))) return first;
  const addressed = rows.findIndex(hasAddress);
  const above = addressed === -1 ? rows.slice(0, 10) : rows.slice(0, addressed);
  const belowTitles = headerBelowTitles(rows);
  if (belowTitles) return belowTitles;
  const named = above.find(
    ({ values }) => values.some(namesAddresses) && (filled(values) > 1 || widthOf(rows, addressed) === 1),
  );
  if (named) return named;
  const least = Math.max(1, Math.ceil(widthOf(rows, addressed) / 2));
  return above.find(({ values }) => filled(values) >= least) ?? (hasHeader ? first : undefined);
}

/**
 * Returns a header below title lines that contain an address, such as that of the exporting person. No row above it has
 * an address in its column, so no person is skipped.
 */
function headerBelowTitles(rows: readonly Row[]): Row | undefined {
  return rows.slice(0, HEADER_ROWS).find((row, index) => {
    if (index === 0 || hasAddress(row) || filled(row.values) < 2) return false;
    const column = row.values.findIndex(namesAddresses);
    const isAddress = ({ values }: Row) => parseAddresses(values[column] ?? '').length > 0;
    return column !== -1 && !rows.slice(0, index).some(isAddress) && rows.slice(index + 1, index + 3).some(isAddress);
  });
}

function widthOf(rows: readonly Row[], addressed: number): number {
  return filledWidth(rows[addressed === -1 ? 0 : addressed]!.values);
}

function hasAddress({ values }: Row): boolean {
  return values.some((cell) => parseAddresses(cell).length > 0);
}

function filled(values: readonly string[]): number {
  return values.filter((cell) => cell.trim()).length;
}

function filledWidth(values: readonly string[]): number {
  return values.findLastIndex((cell) => cell.trim()) + 1;
}
