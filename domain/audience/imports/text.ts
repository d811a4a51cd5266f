type Bytes = AsyncIterable<Buffer>;

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const SNIFFED_BYTES = 4096;
/** The share of zeros among the bytes at even or odd positions above which text is UTF-16. */
const ZEROS_OF_UTF16 = 0.4;

/**
 * The encoding of a text file: by its byte order mark, by the zeros of UTF-16, by being valid UTF-8; anything else is read
 * as windows-1252, in which every byte is a character. Reads the whole file.
 */
export async function detectEncoding(file: Bytes): Promise<TextEncoding> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  let start = true;
  try {
    for await (const chunk of file) {
      if (start) {
        const wide = sniffUtf16(chunk);
        if (wide) return wide;
        start = false;
      }
      utf8.decode(chunk, { stream: true });
    }
    utf8.decode();
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

function sniffUtf16(head: Buffer): TextEncoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const length = Math.min(head.length, SNIFFED_BYTES) & ~1;
  let even = 0;
  let odd = 0;
  for (let i = 0; i < length; i += 2) {
    if (head[i] === 0) even += 1;
    if (head[i + 1] === 0) odd += 1;
  }
  const least = (length / 2) * ZEROS_OF_UTF16;
  if (length >= 4 && odd > least && even < odd) return 'utf-16le';
  if (length >= 4 && even > least && odd < even) return 'utf-16be';
  return undefined;
}

/** The text of a file in pieces: without byte order mark, every line end as one `\n`. */
export async function* decodeText(file: Bytes, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  // A carriage return at the end of a piece may belong to a line feed that comes with the next.
  let held = '';
  for await (const chunk of file) {
    let text = held + decoder.decode(chunk, { stream: true });
    held = text.endsWith('\r') ? '\r' : '';
    if (held) text = text.slice(0, -1);
    yield oneLineEnd(text);
  }
  yield oneLineEnd(held + decoder.decode());
}

function oneLineEnd(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
