import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

/**
 * This file decodes bytes whose charset is missing, unknown or wrong. It tries, in this order, a byte order mark,
 * escape sequences of seven-bit charsets, valid UTF-8, the message's labels, and a detector.
 */

/** Maximum number of bytes of a text that are decoded. A longer text is cut at the end of a line. */
const MAX_DECODED = 256 * 1024;
/** Maximum number of bytes that the charset detector reads. */
const MAX_DETECTED = 16 * 1024;
/**
 * Maximum share (0 to 1) of non-ASCII bytes among the letters of a text in Latin script. A text with a larger share is
 * in another script.
 */
const MOST_ACCENTS = 0.4;

/** Decodes bytes as text. `labels` are charset names given by the message, the most trusted first. */
export type TextReader = (bytes: Buffer, labels?: readonly (string | null | undefined)[]) => string;

/** Charsets that mail is written in. The detector supports forty more, but wrongly detects them in short texts. */
const CANDIDATES = (
  'windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 ' +
  'windows-874 iso-8859-2 iso-8859-5 iso-8859-7 iso-8859-8 koi8-r koi8-u cp866 cp932 euc-jp gb18030 big5 cp949'
).split(' ');

/** Charset names found in mail that the Encoding Standard does not list. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  ms932: 'shift_jis',
  'windows-932': 'shift_jis',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  eucjp: 'euc-jp',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp936: 'gb18030',
  cp950: 'big5',
  euccn: 'gb18030',
  'euc-cn': 'gb18030',
  'gb2312-80': 'gb18030',
  cp874: 'windows-874',
  'iso-8859-8-e': 'iso-8859-8',
  'iso-8859-6-i': 'iso-8859-6',
  'iso-8859-6-e': 'iso-8859-6',
};
/** Characters of windows-1252 for the bytes 0x80 to 0x9F. */
const WESTERN_80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
/** Charsets that Node decodes without their later characters, with their names in iconv-lite. */
const COMPLETE: Readonly<Record<string, string>> = { 'euc-kr': 'cp949', big5: 'big5hkscs' };
const MULTIBYTE = /^(?:shift_jis|euc-jp|euc-kr|gbk|gb18030|big5)$/;
const LATIN = /^(?:windows-1252|windows-1254|iso-8859-15|iso-8859-3|macintosh)$/;
/** Signs within words: Central European text that was decoded as Western. */
const SIGN_IN_WORD = /\p{L}(?:[¡¢£¤¥¦¶¹³¼¾¿](?=\p{L})|[¶¼¾](?=\s))/u;
/** Characters of two regions. A text with both is Central European text that was decoded as Western. */
const CENTRAL = /[šž]/i;
const WESTERN = /[ìøèùò]/i;
/** A character of UTF-8 with its following bytes, or one byte that is none. One character per byte. */
const UTF8_OR_BYTE = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;
const ESCAPED = '\u001b';
const SHIFT_OUT = '\u000e';
const SHIFT_IN = '\u000f';
/** Escape sequences at the start of a text, each with the charset of the characters between the shift sequences. */
const SHIFTED_BY = [
  ['\u001b$)C', 'euc-kr'],
  ['\u001b$)A', 'gb18030'],
] as const;

/**
 * Loads the charset detector and returns the decoder. Loaded on demand, because only processes that read mail need it.
 */
export async function loadTextReader(): Promise<TextReader> {
  const { detect } = (await import('jschardet')).default;
  const guess = (bytes: Buffer): string | null =>
    canonicalLabel(
      detect(bytes.subarray(0, MAX_DETECTED), { detectEncodings: CANDIDATES, minimumThreshold: 0 }).encoding,
    );
  return (bytes, labels = []) =>
    readText(
      lineBounded(bytes),
      labels.flatMap((label) => canonicalLabel(label) ?? []),
      guess,
    );
}

function lineBounded(bytes: Buffer): Buffer {
  if (bytes.length <= MAX_DECODED) return bytes;
  const end = bytes.lastIndexOf(0x0a, MAX_DECODED);
  return bytes.subarray(0, end > 0 ? end : MAX_DECODED);
}

function readText(bytes: Buffer, labels: readonly string[], guess: (bytes: Buffer) => string | null): string {
  const marked = markedText(bytes);
  if (marked !== null) return marked;
  if (bytes.every((byte) => byte < 0x80 && byte !== 0)) return sevenBitText(bytes.toString('latin1'), labels);
  const wide = labels.find((label) => label.startsWith('utf-16'));
  if (wide !== undefined && bytes.includes(0)) return utf16Text(bytes, wide);
  const label = labels.find((each) => !each.startsWith('utf-'));
  const utf8 = utf8Text(bytes);
  // Two bytes can be one UTF-8 character or one character of an East Asian charset. Therefore a label of such a charset
  // is overruled only if the text contains a valid UTF-8 character of three bytes.
  if (utf8 !== null && !(label !== undefined && MULTIBYTE.test(label) && !/[\u0800-\u{10ffff}]/u.test(utf8)))
    return utf8;
  const labelled = label === undefined ? null : strictly(label, bytes);
  if (labelled !== null && !(LATIN.test(label!) && isForeign(bytes, labelled, guess))) return labelled;
  if (utf8 === null) {
    const mixed = mixedText(bytes, label, guess) ?? patchedText(bytes);
    if (mixed !== null) return mixed;
  }
  return detected(bytes, label, guess);
}

function detected(bytes: Buffer, label: string | undefined, guess: (bytes: Buffer) => string | null): string {
  const found = guess(bytes);
  for (const charset of [found, label, 'gb18030']) {
    if (!charset || (charset === 'gb18030' && found !== charset && label !== charset)) continue;
    const text = strictly(charset, bytes);
    if (text !== null) return text;
  }
  // Decodes leniently, so that a single broken character does not change the charset of all others.
  const lenient = [label, found].find((charset) => charset && MULTIBYTE.test(charset));
  return lenient ? iconv.decode(bytes, COMPLETE[lenient] ?? lenient) : westernText(bytes);
}

/**
 * Decodes text with some lines in UTF-8 and others in another charset. Gateways produce such text when they add a
 * footer. Also decodes UTF-8 text that is cut within a character. Returns null if most lines are not UTF-8.
 */
function mixedText(bytes: Buffer, label: string | undefined, guess: (bytes: Buffer) => string | null): string | null {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    const next = end < 0 ? bytes.length : end + 1;
    lines.push(bytes.subarray(start, next));
    start = next;
  }
  const read = lines.map((line) => strictly('utf-8', line));
  const isBeyondAscii = (line: Buffer): boolean => line.some((byte) => byte >= 0x80);
  const inUtf8 = read.filter((text, at) => text !== null && isBeyondAscii(lines[at]!)).length;
  const others = Buffer.concat(lines.filter((_, at) => read[at] === null));
  const otherLines = read.filter((text) => text === null).length;
  if (inUtf8 === 0 || inUtf8 < otherLines) return null;
  const charset = label ?? guess(others);
  return read
    .map((text, at) => text ?? (charset && strictly(charset, lines[at]!)) ?? new TextDecoder().decode(lines[at]))
    .join('');
}

/**
 * Decodes UTF-8 with a few invalid bytes, as when a program inserts text in another charset. Returns null if more bytes
 * are invalid than characters are valid.
 */
function patchedText(bytes: Buffer): string | null {
  const text = bytes.toString('latin1');
  let valid = 0;
  let invalid = 0;
  const patched = text.replace(UTF8_OR_BYTE, (character) => {
    const read = character.length > 1 ? strictly('utf-8', Buffer.from(character, 'latin1')) : null;
    if (read === null) invalid += 1;
    else valid += 1;
    return read ?? westernText(Buffer.from(character, 'latin1'));
  });
  return valid > invalid ? patched : null;
}

/** Decodes valid UTF-8, without a last character that is incomplete. Returns null for any other bytes. */
function utf8Text(bytes: Buffer): string | null {
  const text = strictly('utf-8', bytes);
  if (text !== null) return text;
  const cut = bytes.subarray(-3).findLastIndex((byte) => byte >= 0xc0);
  if (cut < 0) return null;
  const rest = strictly('utf-8', bytes.subarray(0, Math.max(0, bytes.length - 3) + cut));
  return rest !== null && /[^\0-\x7f]/.test(rest) ? rest : null;
}

/** Decodes the text after a byte order mark. Returns null if there is no mark. */
function markedText(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return strictly('utf-8', bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return null;
}

/**
 * Decodes UTF-16. Without a byte order mark, the position of the zero bytes in ASCII characters determines the byte
 * order.
 */
function utf16Text(bytes: Buffer, label: string): string {
  let zeros = 0;
  for (let at = 0; at < Math.min(bytes.length, 400); at += 1) if (bytes[at] === 0) zeros += at % 2 === 0 ? 1 : -1;
  const order = label === 'utf-16le' && zeros <= 0 ? 'utf-16le' : zeros > 0 ? 'utf-16be' : label;
  return new TextDecoder(order).decode(bytes);
}

/** Decodes text of bytes below 128: ASCII, or a charset with escape sequences (RFC 1468, 1557, 1842, 1922, 2152). */
function sevenBitText(text: string, labels: readonly string[]): string {
  if (labels.includes('utf-7')) return utf7Text(text);
  for (const [announced, charset] of SHIFTED_BY)
    if (text.includes(announced)) return shiftedText(text.replaceAll(announced, ''), SHIFT_OUT, SHIFT_IN, charset);
  // Joined encoded words repeat the escape sequences, which the decoder refuses.
  if (text.includes(ESCAPED))
    return new TextDecoder('iso-2022-jp').decode(
      Buffer.from(text.replaceAll(`${ESCAPED}(B${ESCAPED}`, ESCAPED), 'latin1'),
    );
  if (labels.includes('hz-gb-2312') || /~\{(?:[!-w][!-~])+~\}/.test(text))
    return shiftedText(text, '~{', '~}', 'gb18030').replaceAll('~\n', '').replaceAll('~~', '~');
  return text;
}

/**
 * Decodes the characters between shift sequences. They are bytes of an eight-bit charset whose highest bit was cleared.
 */
function shiftedText(text: string, open: string, close: string, charset: string): string {
  const [start = '', ...rest] = text.split(open);
  const decoder = new TextDecoder(charset);
  const read = rest.map((piece) => {
    const end = piece.includes(close) ? piece.indexOf(close) : piece.length;
    const bytes = Buffer.from(piece.slice(0, end), 'latin1').map((byte) => (byte > 0x20 ? byte | 0x80 : byte));
    return decoder.decode(bytes) + piece.slice(end + close.length);
  });
  return start + read.join('');
}

function utf7Text(text: string): string {
  const decoder = new TextDecoder('utf-16be');
  return text.replace(/\+([A-Za-z0-9+/]*)-?/g, (_, encoded: string) => {
    if (encoded === '') return '+';
    const bytes = Buffer.from(encoded, 'base64');
    return decoder.decode(bytes.subarray(0, bytes.length & ~1));
  });
}

/**
 * Returns true if a text labelled with a Latin charset is in a non-Latin one, because some programs label every text as
 * Latin. The signs are more non-ASCII bytes than a text in Latin script has, or symbols within words that the detector
 * reads as letters.
 */
function isForeign(bytes: Buffer, text: string, guess: (bytes: Buffer) => string | null): boolean {
  const start = bytes.subarray(0, MAX_DETECTED);
  const beyond = start.reduce((sum, byte) => sum + (byte >= 0x80 && byte !== 0xa0 ? 1 : 0), 0);
  const letters = start.reduce((sum, byte) => sum + ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a ? 1 : 0), 0);
  if (beyond >= 4 && beyond > MOST_ACCENTS * (beyond + letters)) return true;
  const isMixed = CENTRAL.test(text) && WESTERN.test(text);
  if (isMixed || SIGN_IN_WORD.test(text)) return !LATIN.test(guess(bytes) ?? 'windows-1252');
  return /[ýþð]/i.test(text) && guess(bytes) === 'windows-1254';
}

function strictly(charset: string, bytes: Buffer): string | null {
  if (charset === 'windows-1252') return westernText(bytes);
  if (charset === 'utf-8') return isUtf8(bytes) ? new TextDecoder().decode(bytes) : null;
  const complete = COMPLETE[charset];
  if (complete !== undefined) {
    const text = iconv.decode(bytes, complete);
    return text.includes('\ufffd') ? null : text;
  }
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    // This charset has accents as separate characters.
    return charset === 'windows-1258' ? text.normalize('NFC') : text;
  } catch {
    return null;
  }
}

/** Decodes windows-1252, because Node's `latin1` decoder returns the bytes 0x80 to 0x9F as control characters. */
function westernText(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => WESTERN_80[character.charCodeAt(0) - 0x80]!);
}

/**
 * Returns the name of a charset in the Encoding Standard, or `utf-7` or `hz-gb-2312`. Null for an unknown charset.
 */
function canonicalLabel(label: string | null | undefined): string | null {
  const name = (label ?? '')
    .trim()
    .toLowerCase()
    .replace(/^["']|["']$/g, '');
  // Ignores a label for ASCII if the text has other bytes, because their charset is then unknown.
  if (name === '' || /ascii|^ansi_x3|^(?:iso-?)?646/.test(name)) return null;
  if (/^(?:unicode-1-1-)?utf-?7$/.test(name)) return 'utf-7';
  if (/^(?:iso-2022-(?:kr|cn)|hz-gb-2312)/.test(name)) return name;
  const known =
    ALIASES[name] ?? name.replace(/^(?:cp|win|windows)[-_]?(125\d)$/, 'windows-$1').replace(/^(?:x-)?utf_?8$/, 'utf-8');
  try {
    const { encoding } = new TextDecoder(known);
    return encoding === 'gbk' ? 'gb18030' : encoding;
  } catch {
    return null;
  }
}
