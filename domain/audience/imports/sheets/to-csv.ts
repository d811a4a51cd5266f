import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { once } from 'node:events';
import { stringify } from 'csv-stringify/sync';
import { parseAddresses } from '../../../../lib/address.ts';
import { SheetError, type Archive } from './archive.ts';
import type { Workbook } from './book.ts';
import { openOds } from './ods.ts';
import { openXlsx } from './xlsx.ts';

/** A sheet that was written as CSV (UTF-8, commas), with one line per row. */
export interface SheetFile {
  format: 'xlsx' | 'ods';
  path: string;
  sheet: string;
  /** Names of all sheets that are not hidden. */
  sheets: string[];
  sizeBytes: number;
}

/** Number of rows of a sheet in which an address is searched. */
const SAMPLED_ROWS = 50;
/** Maximum size (bytes) of the CSV file, because a small archive can contain a very large sheet. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Returns the kind of document in a ZIP archive: a workbook, or another kind. */
export function workbookKind(
  archive: Archive,
): 'xlsx' | 'ods' | { other: 'xlsb' | 'word' | 'powerpoint' | 'iwork' | 'zip' } {
  const names = archive.names();
  const has = (start: string) => names.some((name) => name.startsWith(start));
  if (names.some((name) => /^xl\/workbook\.bin$/.test(name))) return { other: 'xlsb' };
  if (has('xl/')) return 'xlsx';
  if (has('word/')) return { other: 'word' };
  if (has('ppt/')) return { other: 'powerpoint' };
  if (has('Index/') || has('Index.zip')) return { other: 'iwork' };
  if (archive.has('content.xml')) return 'ods';
  return { other: 'zip' };
}

/**
 * Writes a sheet as CSV. The default is the first visible sheet with an address in its first rows. Without one, it is
 * the first visible sheet.
 * @throws SheetError
 */
export async function writeSheet(
  archive: Archive,
  format: 'xlsx' | 'ods',
  path: string,
  wanted: string | undefined,
): Promise<SheetFile> {
  const book = await (format === 'xlsx' ? openXlsx(archive) : openOds(archive));
  const visible = book.sheets.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
  const sheet = wanted ?? (await listSheet(book, visible)) ?? visible[0];
  if (sheet === undefined || !book.sheets.some(({ name }) => name === sheet)) throw new SheetError('no_such_sheet');
  const file = createWriteStream(path, { mode: 0o600 });
  let sizeBytes = 0;
  let row = 1;
  try {
    for await (const rows of book.rows(sheet)) {
      let text = '';
      for (const { row: number, cells } of rows) {
        text += '\n'.repeat(Math.max(0, number - row));
        row = Math.max(row, number) + 1;
        text += cells.length === 0 ? '\n' : stringify([cells.map(storable)]);
      }
      sizeBytes += Buffer.byteLength(text);
      if (sizeBytes > MAX_BYTES) throw new SheetError('too_large');
      if (!file.write(text)) await once(file, 'drain');
    }
  } finally {
    file.end();
    await finished(file);
  }
  return { format, path, sheet, sheets: visible, sizeBytes };
}

/** Replaces unpaired surrogates, which escape sequences can contain and PostgreSQL cannot store. */
function storable(cell: string): string {
  return cell.replace(/\p{Surrogate}/gu, '\ufffd').replace(/\r\n?/g, '\n');
}

async function listSheet(book: Workbook, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    let seen = 0;
    for await (const rows of book.rows(name)) {
      if (rows.some(({ cells }) => cells.some((cell) => parseAddresses(cell).length > 0))) return name;
      seen += rows.length;
      if (seen >= SAMPLED_ROWS) break;
    }
  }
  return undefined;
}
