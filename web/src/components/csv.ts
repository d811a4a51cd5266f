import { saveAs } from './download.ts';

export type Cell = string | number | null | undefined;

/** Saves a table as CSV (RFC 4180, UTF-8 with the byte order mark that spreadsheets need for umlauts). */
export function saveCsv(filename: string, header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [header, ...rows].map((row) => row.map(toField).join(','));
  saveAs(new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv;charset=utf-8' }), `${filename}.csv`);
}

/**
 * Encodes a CSV field. Text that a spreadsheet could read as a formula gets a leading apostrophe. So does such text
 * after a semicolon, tab or line break, because spreadsheets of some countries start a new cell there.
 */
function toField(value: Cell): string {
  const text =
    typeof value === 'string'
      ? value.replace(/^(?=[=+\-@＝＋－＠\t\r\n])/, "'").replace(/([;\t\r\n][^\S\t\r\n]*)(?=[=+\-@＝＋－＠])/g, "$1'")
      : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
