import { message, type Message } from '../../../messages/index.ts';
import { findActionEnd } from './actions.ts';

/** A part of the source: literal text, or one `{{…}}` action. */
type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly body: string; readonly raw: string; readonly offset: number }
  | { readonly kind: 'broken'; readonly raw: string; readonly offset: number };

/** One token of an action: a field, a function name, a literal, or a symbol. */
export type Token =
  | { readonly kind: 'field'; readonly path: readonly string[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'symbol'; readonly symbol: '|' | '(' | ')' };

/** A fault in an action, with a message for the author. */
export class TemplateSyntaxError extends Error {
  readonly said: Message;

  constructor(said: Message) {
    super(said.code);
    this.said = said;
  }
}

/**
 * Splits a source into text and actions, drops comments and applies the trim markers `{{- ` and ` -}}`. A `{{` that
 * opens no valid action is returned as a segment of kind `broken`.
 */
export function splitSegments(source: string): Segment[] {
  const segments: Segment[] = [];
  let textStart = 0;
  let trimNext = false;
  const pushText = (end: number, trimEnd: boolean): void => {
    let text = source.slice(textStart, end);
    if (trimNext) text = text.trimStart();
    if (trimEnd) text = text.trimEnd();
    trimNext = false;
    if (text) segments.push({ kind: 'text', text });
  };

  let open = source.indexOf('{{');
  while (open >= 0) {
    const end = findActionEnd(source, open);
    if (end < 0) {
      // In `{{{.Name}}` the first brace is text, and the action opens at the second brace.
      if (findActionEnd(source, open + 1) >= 0) {
        open += 1;
        continue;
      }
      pushText(open, false);
      segments.push({ kind: 'broken', raw: '{{', offset: open });
      textStart = open + 2;
    } else {
      const raw = source.slice(open, end);
      const trimLeft = /^\{\{-\s/.test(raw);
      const trimRight = /\s-\}\}$/.test(raw);
      pushText(open, trimLeft);
      const body = raw.slice(trimLeft ? 3 : 2, trimRight ? -3 : -2).trim();
      if (!body.startsWith('/*')) segments.push({ kind: 'action', body, raw, offset: open });
      trimNext = trimRight;
      textStart = end;
    }
    open = source.indexOf('{{', textStart);
  }
  pushText(source.length, false);
  return segments;
}

const SEGMENT = String.raw`[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*`;
const TOKEN = new RegExp(
  [
    String.raw`(?<field>\.(?:${SEGMENT}(?:\.${SEGMENT})*)?)`,
    String.raw`(?<name>[\p{L}_][\p{L}\p{N}_]*)`,
    String.raw`(?<number>[+-]?\d+(?:\.\d+)?)`,
    String.raw`"(?<string>(?:[^"\\\n]|\\.)*)"`,
    '`(?<raw>[^`]*)`',
    String.raw`(?<symbol>[|()])`,
  ].join('|'),
  'yu',
);

/** HTML entities that editors write for quotes and blanks inside an action. */
const HTML_ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  amp: '&',
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  vert: '|',
  verbar: '|',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  lsquo: '‘',
  rsquo: '’',
  shy: '',
  zwnj: '',
  zwj: '',
};

/** Decodes the quotes and spaces of an action that an HTML editor has encoded. */
export function decodeActionEntities(body: string): string {
  return body.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (entity, decimal, hex, name: string) => {
    if (name !== undefined) return HTML_ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** Invisible characters that editors and messengers leave between the characters of an action. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u2060\ufeff]/g;

/**
 * Splits one action's body into tokens.
 * @throws {TemplateSyntaxError} at the first character that belongs to no token
 */
export function tokenize(written: string): Token[] {
  const body = written.replace(INVISIBLE, '');
  const tokens: Token[] = [];
  let index = 0;
  for (;;) {
    while (index < body.length && /\s/.test(body[index]!)) index += 1;
    if (index >= body.length) return tokens;
    TOKEN.lastIndex = index;
    const match = TOKEN.exec(body);
    if (!match?.groups) throw new TemplateSyntaxError(unexpectedCharacter(body, index));
    tokens.push(toToken(match.groups));
    index = TOKEN.lastIndex;
  }
}

function toToken(groups: Record<string, string | undefined>): Token {
  const { field, name, number, string, raw, symbol } = groups;
  if (field !== undefined) return { kind: 'field', path: field === '.' ? [] : field.slice(1).split('.') };
  if (name !== undefined) {
    return name === 'true' || name === 'false' ? { kind: 'literal', value: name === 'true' } : { kind: 'name', name };
  }
  if (number !== undefined) return { kind: 'literal', value: Number(number) };
  if (string !== undefined) return { kind: 'literal', value: unescapeString(string) };
  if (raw !== undefined) return { kind: 'literal', value: raw };
  return { kind: 'symbol', symbol: symbol as '|' | '(' | ')' };
}

const STRING_ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
};

function unescapeString(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gi, (_all, unicode, hex, character: string) =>
    character === undefined
      ? String.fromCharCode(Number.parseInt(unicode ?? hex, 16))
      : (STRING_ESCAPES[character] ?? character),
  );
}

function unexpectedCharacter(body: string, index: number): Message {
  const text = String.fromCodePoint(body.codePointAt(index)!);
  if (text === '$') return message('template.no_variables');
  return message(/[“”„‟«»‘’']/u.test(text) ? 'template.unexpected_quote' : 'template.unexpected', { text });
}
