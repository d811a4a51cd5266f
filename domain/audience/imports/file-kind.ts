/** The kinds of files that an import reads. */
export type TableFormat = 'csv' | 'xlsx' | 'ods';

/** Beginnings of files that are no table, with the name that people know them by. */
const BINARY: readonly (readonly [start: string | readonly number[], name: string])[] = [
  ['%PDF', 'a PDF document'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an Excel file of the old form (.xls), or one with a password'],
  [[0x1f, 0x8b], 'a gzip archive'],
  ['7z\xbc\xaf', 'a 7-Zip archive'],
  ['Rar!', 'a RAR archive'],
  ['BZh', 'a bzip2 archive'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz archive'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a Zstandard archive'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
  [[0xff, 0xd8, 0xff], 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['RIFF', 'a media file'],
  ['{\\rtf', 'an RTF document'],
  ['SQLite format 3', 'an SQLite database'],
  ['PAR1', 'a Parquet file'],
  ['!BDN', 'an Outlook data file (.pst)'],
  [[0x7f, 0x45, 0x4c, 0x46], 'a program'],
  ['MZ\x90', 'a program'],
];

/** Beginnings of text that is no table of cells. */
const TEXT: readonly (readonly [start: RegExp, name: string])[] = [
  [/^(?:<!doctype html|<html|<table|<meta|<head|<body)/i, 'an HTML page'],
  [/^<\?xml|^<[a-z][\w:.-]*[\s>]/i, 'an XML file'],
  [/^BEGIN:VCARD/i, 'a vCard file'],
  [/^BEGIN:VCALENDAR/i, 'a calendar file'],
  [/^(?:\[\s*[[{]|\{\s*"|\[\s*"[^"]*"\s*,)/, 'a JSON file'],
  [/^(?:From |Return-Path:|Received:|MIME-Version:)/i, 'an email'],
  [/^(?:dn: |version: 1\s+dn: )/, 'an LDIF file'],
];

/** Bytes at the beginning of a file by which {@link binaryKind} tells it. */
export const KIND_BYTES = 64;
/** Share of control characters above which bytes are no text. */
const MOST_CONTROLS = 0.1;

/** Tells from its first bytes that a file is a ZIP archive, as XLSX and ODS are, or the name of another binary format. */
export function binaryKind(head: Buffer): 'zip' | { name: string } | undefined {
  if (head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5)) return 'zip';
  const start = head.subarray(0, KIND_BYTES).toString('latin1');
  const found = BINARY.find(([sign]) =>
    start.startsWith(typeof sign === 'string' ? sign : Buffer.from(sign).toString('latin1')),
  );
  if (found) return { name: found[1] };
  return start.slice(4, 8) === 'ftyp' ? { name: 'a media file' } : undefined;
}

/** Tells from the beginning of a decoded text that it is no table, by the name of what it is; undefined for all else. */
export function textKind(text: string): string | undefined {
  const start = text.slice(0, 4096);
  const found = TEXT.find(([sign]) => sign.test(start.trimStart()));
  if (found) return found[1];
  // oxlint-disable-next-line no-control-regex -- control characters are what is counted
  const controls = start.match(/[\x00-\x08\x0e-\x1f\x7f]/g)?.length ?? 0;
  return controls > MOST_CONTROLS * start.length ? 'a file that holds no text' : undefined;
}
