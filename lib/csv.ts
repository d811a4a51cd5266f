import { stringify } from 'csv-stringify/sync';

/**
 * Returns the header line of a CSV file for people. It starts with a byte order mark, by which Excel detects UTF-8.
 */
export function csvHeader(columns: readonly string[]): string {
  return `\ufeff${csvLines([columns])}`;
}

/**
 * Returns rows as CSV (RFC 4180). Cells that a spreadsheet would read as formulas get a leading apostrophe. So does
 * text after a semicolon, tab or line break within a cell, because spreadsheets of many countries start a new cell
 * there.
 */
export function csvLines(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => cell.replace(/([;\t\r\n][^\S\t\r\n]*)(?=[=+\-@＝＋－＠])/g, "$1'")));
  return stringify(safe, { escape_formulas: true, record_delimiter: '\r\n' });
}
