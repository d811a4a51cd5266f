import { createReadStream } from 'node:fs';
import iconv from 'iconv-lite';
import { ENCODINGS } from '../../../lib/encodings.ts';

type Bytes = AsyncIterable<Buffer>;

/** A guessed encoding of a text file, with its confidence: 1 is certain. */
export interface EncodingGuess {
  encoding: string;
  confidence: number;
}

/** Encoding names that the Encoding Standard does not list. */
const ALIASES: Readonly<Record<string, string>> = {
  utf32: 'utf-32le',
  'utf-32': 'utf-32le',
  utf8bom: 'utf-8',
  ansi: 'windows-1252',
  gbk: 'gb18030',
  cp932: 'shift_jis',
  cp936: 'gb18030',
  cp949: 'euc-kr',
  cp950: 'big5',
  ibm437: 'cp437',
  ibm850: 'cp850',
  ibm852: 'cp852',
  'x-mac-roman': 'macintosh',
};

const SNIFFED_BYTES = 4096;
/** Maximum size (bytes) of the non-ASCII lines that the detector of older encodings gets. */
const SAMPLED_BYTES = 16 * 1024;
/** Share (0 to 1) of zero bytes above which a text must have an encoding with several bytes per character. */
const ZEROS_OF_WIDE = 0.4;

/** Returns the encoding for a label, as named in `lib/encodings.ts`. Returns null for an unknown label. */
export function encodingNamed(label: string): string | null {
  const name = label.trim().toLowerCase();
  const known: readonly string[] = ENCODINGS;
  if (known.includes(name)) return name;
  let standard = ALIASES[name] ?? ALIASES[name.replace(/[-_ ]/g, '')];
  try {
    standard ??= new TextDecoder(name.replace(/^(?:cp|win)-?(125\d)$/, 'windows-$1')).encoding;
  } catch {
    return null;
  }
  standard = ALIASES[standard] ?? standard;
  return known.includes(standard) ? standard : null;
}

/**
 * Detects the encoding of a text file by its byte order mark, the zeros of wide characters, or a majority of UTF-8
 * sequences. Otherwise guesses the encoding by the script of the words. Reads the whole file.
 */
export async function detectEncoding(path: string): Promise<EncodingGuess> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let start = true;
  try {
    for await (const chunk of createReadStream(path) as Bytes) {
      if (start) {
        const wide = sniffWide(chunk);
        if (wide) return { encoding: wide, confidence: 1 };
        start = false;
      }
      utf8.decode(chunk, { stream: true });
    }
    utf8.decode();
    return { encoding: 'utf-8', confidence: 1 };
  } catch {
    return broken(path);
  }
}

/** Decides between UTF-8 with some invalid bytes and an older encoding. */
async function broken(path: string): Promise<EncodingGuess> {
  const decoder = new TextDecoder('utf-8');
  let whole = 0;
  let wrong = 0;
  let marked = false;
  const lines: Buffer[] = [];
  let sampled = 0;
  let first = true;
  for await (const chunk of createReadStream(path) as Bytes) {
    if (first) marked = chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    first = false;
    for (const char of decoder.decode(chunk, { stream: true })) {
      if (char === '\ufffd') wrong += 1;
      else if (char > '\x7f') whole += 1;
    }
    if (sampled >= SAMPLED_BYTES) continue;
    for (const line of linesBeyondAscii(chunk)) {
      lines.push(line);
      sampled += line.length;
      if (sampled >= SAMPLED_BYTES) break;
    }
  }
  // Bytes of older encodings rarely form valid UTF-8 characters, so at least as many valid as invalid ones mean UTF-8.
  if (marked || whole >= wrong) return { encoding: 'utf-8', confidence: whole / (whole + wrong) };
  // Loads the detector on demand, because its tables are large and most files are UTF-8.
  const { legacyEncoding } = await import('./legacy-encoding.ts');
  return legacyEncoding(Buffer.concat(lines));
}

function* linesBeyondAscii(chunk: Buffer): Generator<Buffer> {
  for (let start = 0; start < chunk.length;) {
    const feed = chunk.indexOf(0x0a, start);
    const end = feed === -1 ? Math.min(chunk.length, start + SAMPLED_BYTES) : feed + 1;
    const line = chunk.subarray(start, end);
    if (line.some((byte) => byte >= 0x80)) yield line;
    start = end;
  }
}

function sniffWide(head: Buffer): string | undefined {
  const starts = (...bytes: number[]) => bytes.every((byte, at) => head[at] === byte);
  if (starts(0xff, 0xfe, 0, 0)) return 'utf-32le';
  if (starts(0, 0, 0xfe, 0xff)) return 'utf-32be';
  if (starts(0xff, 0xfe)) return 'utf-16le';
  if (starts(0xfe, 0xff)) return 'utf-16be';
  const length = Math.min(head.length, SNIFFED_BYTES) & ~3;
  if (length < 4) return undefined;
  const zeros = [0, 0, 0, 0];
  for (let at = 0; at < length; at += 1) if (head[at] === 0) zeros[at % 4]! += 1;
  const [a, b, c, d] = zeros.map((count) => count > (length / 4) * ZEROS_OF_WIDE);
  if (b && c && d && !a) return 'utf-32le';
  if (a && b && c && !d) return 'utf-32be';
  if (b && d && !a && !c) return 'utf-16le';
  if (a && c && !b && !d) return 'utf-16be';
  return sniffSigns(head.subarray(0, length));
}

/**
 * Detects UTF-16 of scripts without zero bytes, such as Cyrillic, by the signs of a list. Zeros stand on one side only,
 * and both an @ and a line end have one.
 */
function sniffSigns(head: Buffer): string | undefined {
  for (const [encoding, signByte, zeroByte] of [
    ['utf-16le', 0, 1],
    ['utf-16be', 1, 0],
  ] as const) {
    const found = new Set<number>();
    let isOther = false;
    for (let at = 0; at < head.length; at += 2) {
      if (head[at + signByte] === 0) isOther = true;
      if (head[at + zeroByte] === 0) found.add(head[at + signByte]!);
    }
    if (!isOther && found.has(AT_SIGN) && (found.has(LINE_FEED) || found.has(CARRIAGE_RETURN))) return encoding;
  }
  return undefined;
}

const AT_SIGN = 0x40;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Decodes a file to pieces of text, without byte order mark and NUL. Every line end is converted to one line feed. */
export async function* decodeText(file: Bytes, encoding: string): AsyncGenerator<string> {
  const decoder = decoderOf(encoding);
  // Carriage return at the end of the previous piece, to which a line feed in the next piece may belong.
  let held = '';
  for await (const chunk of file) {
    let text = held + decoder.write(chunk);
    held = text.endsWith('\r') ? '\r' : '';
    if (held) text = text.slice(0, -1);
    yield plain(text);
  }
  yield plain(held + decoder.end());
}

/**
 * Returns a decoder. For UTF-8 and UTF-16 this is the platform's decoder, which is faster and never splits a surrogate
 * pair.
 */
function decoderOf(encoding: string): { write(bytes: Buffer): string; end(): string } {
  if (!/^utf-(?:8|16)/.test(encoding)) {
    const decoder = iconv.getDecoder(encoding, { stripBOM: true });
    return { write: (bytes) => decoder.write(bytes), end: () => decoder.end() ?? '' };
  }
  const decoder = new TextDecoder(encoding);
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

function plain(text: string): string {
  const stored = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return stored.includes('\r') ? stored.replace(/\r\n?/g, '\n') : stored;
}
