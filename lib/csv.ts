import { stringify } from 'csv-stringify/sync';

/** The first line of a CSV file for people: behind a byte order mark, by which Excel knows UTF-8. */
export function csvHeader(columns: readonly string[]): string {
  return `\ufeff${csvLines([columns])}`;
}

/**
 * Rows as CSV (RFC 4180). Cells that a spreadsheet would take for formulas get an apostrophe; so does what begins like one behind a semicolon, a tab or a line
 * end within a cell, where spreadsheets of many countries begin a new cell.
 */
export function csvLines(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => cell.replace(/([;\t\r\n][^\S\t\r\n]*)(?=[=+\-@＝＋－＠])/g, "$1'")));
  return stringify(safe, { escape_formulas: true, record_delimiter: '\r\n' });
}
