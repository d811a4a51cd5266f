import type { MessageCode } from '../../../messages/index.ts';

/** Kinds of files that are not tables, by the suffix of their message code (`file_kind.pdf`). */
export type OtherFile = Extract<MessageCode, `file_kind.${string}`> extends `file_kind.${infer Kind}` ? Kind : never;

/** The kinds of files that an import reads. */
export type TableFormat = 'csv' | 'xlsx' | 'ods';

/** First bytes of binary files that cannot be imported, with the kind of file. */
const BINARY: readonly (readonly [start: string | readonly number[], kind: OtherFile])[] = [
  ['%PDF', 'pdf'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'old_excel'],
  [[0x1f, 0x8b], 'gzip'],
  ['7z\xbc\xaf', 'seven_zip'],
  ['Rar!', 'rar'],
  ['BZh', 'bzip2'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'xz'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstandard'],
  [[0x89, 0x50, 0x4e, 0x47], 'png'],
  [[0xff, 0xd8, 0xff], 'jpeg'],
  ['GIF8', 'gif'],
  ['RIFF', 'media'],
  ['{\\rtf', 'rtf'],
  ['SQLite format 3', 'sqlite'],
  ['PAR1', 'parquet'],
  ['!BDN', 'pst'],
  [[0x7f, 0x45, 0x4c, 0x46], 'program'],
  ['MZ\x90', 'program'],
];

/** Patterns for the beginning of text files that cannot be imported, with the kind of file. */
const TEXT: readonly (readonly [start: RegExp, kind: OtherFile])[] = [
  [/^(?:<!doctype html|<html|<table|<meta|<head|<body)/i, 'html'],
  [/^<\?xml|^<[a-z][\w:.-]*[\s>]/i, 'xml'],
  [/^BEGIN:VCARD/i, 'vcard'],
  [/^BEGIN:VCALENDAR/i, 'calendar'],
  [/^(?:\[\s*[[{]|\{\s*"|\[\s*"[^"]*"\s*,)/, 'json'],
  [/^(?:From |Return-Path:|Received:|MIME-Version:)/i, 'email'],
  [/^(?:dn: |version: 1\s+dn: )/, 'ldif'],
  [/^(?=--|\/\*|SET |DROP TABLE |CREATE TABLE |INSERT INTO )[^]*?\b(?:CREATE TABLE|INSERT INTO) /i, 'sql'],
];

/** Number of bytes at the start of a file that {@link binaryKind} needs. */
export const KIND_BYTES = 64;
/** Share (0 to 1) of control characters above which a file is treated as binary. */
const MOST_CONTROLS = 0.1;

/**
 * Returns `zip` if the first bytes are those of a ZIP archive, as in XLSX and ODS files, or another binary format.
 * Undefined if neither is recognized.
 */
export function binaryKind(head: Buffer): 'zip' | { other: OtherFile } | undefined {
  if (head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5)) return 'zip';
  const start = head.subarray(0, KIND_BYTES).toString('latin1');
  const found = BINARY.find(([sign]) =>
    start.startsWith(typeof sign === 'string' ? sign : Buffer.from(sign).toString('latin1')),
  );
  if (found) return { other: found[1] };
  return start.slice(4, 8) === 'ftyp' ? { other: 'media' } : undefined;
}

/** Detects by its beginning that a decoded text is not a table, and returns its kind. Undefined for all other texts. */
export function textKind(text: string): OtherFile | undefined {
  const start = text.slice(0, 4096);
  const found = TEXT.find(([sign]) => sign.test(start.trimStart()));
  if (found) return found[1];
  // oxlint-disable-next-line no-control-regex -- control characters are what is counted
  const controls = start.match(/[\x00-\x08\x0e-\x1f\x7f]/g)?.length ?? 0;
  return controls > MOST_CONTROLS * start.length ? 'no_text' : undefined;
}
