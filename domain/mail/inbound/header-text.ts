import type { TextReader } from './charset.ts';

/** Headers in which words are written for people. */
const WORDS = /^(?:subject|from|to|cc|bcc|reply-to|sender)$/;
/** Encoded words (RFC 2047) of one charset and encoding that follow each other: a character may begin in one and end in the next. */
const ENCODED_WORDS = /=\?([\w.:*-]{1,60})\?([bq])\?[^?\r\n]*\?=(?:\s*=\?\1\?\2\?[^?\r\n]*\?=)*/gi;
const ENCODED_WORD = /=\?[\w.:*-]{1,60}\?[bq]\?([^?\r\n]*)\?=/gi;

/**
 * A header line in UTF-8, whatever its bytes and encoded words are in.
 *
 * @param line the whole line, one character for each byte
 * @param label the charset that the message names for its text, which is likely that of raw bytes
 * @returns the line in UTF-8, one character for each byte
 */
export function readableHeader(key: string, line: string, read: TextReader, label: string | undefined): string {
  const raw = /[\x80-\xff]/.test(line) || line.includes('\u001b$') ? read(Buffer.from(line, 'latin1'), [label]) : line;
  const readable = WORDS.test(key) ? raw.replace(ENCODED_WORDS, (words) => inUtf8(words, read)) : raw;
  return Buffer.from(readable, 'utf8').toString('latin1');
}

/** Encoded words as one in UTF-8. They stay encoded, so that a comma in a name does not become one between addresses. */
function inUtf8(words: string, read: TextReader): string {
  const [, charset = '', encoding = ''] = /^=\?([^?*]+)[^?]*\?(.)/.exec(words) ?? [];
  const texts = Array.from(words.matchAll(ENCODED_WORD), ([, text = '']) => text);
  const text = read(encoding.toLowerCase() === 'b' ? fromBase64(texts) : fromQuoted(texts.join('')), [charset]);
  return `=?utf-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

function fromBase64(texts: readonly string[]): Buffer {
  const isWhole = texts.every((text) => text.length % 4 === 0);
  return isWhole
    ? Buffer.concat(texts.map((text) => Buffer.from(text, 'base64')))
    : Buffer.from(texts.join('').replaceAll('=', ''), 'base64');
}

function fromQuoted(text: string): Buffer {
  const bytes = text
    .replaceAll('_', ' ')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
