import type { TextReader } from './charset.ts';

/** Headers whose value can contain encoded words. */
const WORDS = /^(?:subject|from|to|cc|bcc|reply-to|sender)$/;
/** Headers that contain message ids. Some systems write these as encoded words. */
const IDS = /^(?:references|in-reply-to|message-id)$/;
/**
 * Consecutive encoded words (RFC 2047) of one charset and encoding. A character may begin in one word and end in the
 * next.
 */
const ENCODED_WORDS = /=\?([\w.:*-]{1,60})\?([bq])\?[^?\r\n]*\?=(?:\s*=\?\1\?\2\?[^?\r\n]*\?=)*/gi;
const ENCODED_WORD = /=\?[\w.:*-]{1,60}\?[bq]\?([^?\r\n]*)\?=/gi;

/**
 * Converts a header line to UTF-8 from any charset and any encoded words. Words for people stay encoded as one word, so
 * that a comma in a name does not separate addresses.
 * @param line the whole line, one character per byte
 * @param label charset that the message names for its text; raw bytes are probably in this charset
 * @returns the line in UTF-8, one character per byte
 */
export function readableHeader(key: string, line: string, read: TextReader, label: string | undefined): string {
  const raw = /[\x80-\xff]/.test(line) || line.includes('\u001b$') ? read(Buffer.from(line, 'latin1'), [label]) : line;
  const readable = WORDS.test(key)
    ? raw.replace(ENCODED_WORDS, (words) => `=?utf-8?B?${Buffer.from(decoded(words, read)).toString('base64')}?=`)
    : IDS.test(key)
      ? raw.replace(ENCODED_WORDS, (words) => decoded(words, read))
      : raw;
  return Buffer.from(readable, 'utf8').toString('latin1');
}

/** Decodes encoded words of one charset. */
function decoded(words: string, read: TextReader): string {
  const [, charset = '', encoding = ''] = /^=\?([^?*]+)[^?]*\?(.)/.exec(words) ?? [];
  const texts = Array.from(words.matchAll(ENCODED_WORD), ([, text = '']) => text);
  return read(encoding.toLowerCase() === 'b' ? fromBase64(texts) : fromQuoted(texts.join('')), [charset]);
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
