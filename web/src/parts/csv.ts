import { saveAs } from './download.ts';

export type Cell = string | number | null | undefined;

/** Saves a table as CSV (RFC 4180, UTF-8 with a byte order mark, which spreadsheets need for umlauts). */
export function saveCsv(filename: string, header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [header, ...rows].map((row) => row.map(toField).join(','));
  saveAs(new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv;charset=utf-8' }), `${filename}.csv`);
}

/**
 * A field; text that a spreadsheet would take for a formula gets an apostrophe before it, behind a semicolon, a tab or a line end too: spreadsheets
 * of many countries begin a new cell there.
 */
function toField(value: Cell): string {
  const text =
    typeof value === 'string'
      ? value.replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'").replace(/([;\t\r\n][^\S\t\r\n]*)(?=[=+\-@＝＋－＠])/g, "$1'")
      : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
