import { findActionEnd } from './actions.ts';
import { createBoundedCache } from './bounded-cache.ts';
import { MAX_CACHED_LENGTH, MAX_NESTING, MAX_SOURCE_LENGTH } from './limits.ts';

/** A piece of a parsed source: text, or a group of which one option is taken. */
type Part = string | Group;

interface Group {
  /** Ordinal of the group in its source; part of the seed, so that groups choose independently. */
  readonly ordinal: number;
  readonly options: readonly (readonly Part[])[];
}

interface Spintax {
  readonly parts: readonly Part[];
  /** Offsets of the characters that are spintax syntax: braces and bars of groups, and escaping backslashes. */
  readonly syntax: readonly number[];
}

/** A group whose closing brace has not come yet. Whether it is one is known only then: it needs a bar. */
interface OpenGroup {
  readonly opening: number;
  readonly options: Part[][];
  readonly bars: number[];
  /** Syntax of what is inside the group, which stays syntax even if the group turns out to be text. */
  readonly inner: number[];
}

const plainSources = createBoundedCache<Spintax>(MAX_CACHED_LENGTH);
const htmlSources = createBoundedCache<Spintax>(MAX_CACHED_LENGTH);

/**
 * Expands spintax: of each group `{a|b|{c|d}}` one option is taken, the same one every time for the same seed, so that
 * a retry builds the same message. Choices of different groups are independent and about evenly spread.
 *
 * Braces without a bar of their own (`{ color: red }`), unbalanced braces, template actions `{{…}}` and, with `html`,
 * style and script elements and comments stay as they are. `\{` and `\}` print a brace, `\|` inside a group a bar.
 * To keep merge values out of it, expand the source first and render afterwards.
 */
export function expandSpintax(source: string, seed: string, { html = false }: { html?: boolean } = {}): string {
  if (!hasSpintaxSyntax(source)) return source;
  const { parts } = parseSpintax(source, { html });
  const start = hashText(seed);
  const expand = (pieces: readonly Part[]): string => {
    let text = '';
    for (const piece of pieces) {
      text += typeof piece === 'string' ? piece : expand(choose(piece, start));
    }
    return text;
  };
  return expand(parts);
}

/**
 * The source with the syntax of its spintax blanked out and every option kept, character positions unchanged: what a
 * check of merge fields should parse, as it must see the fields of all options.
 */
export function maskSpintax(source: string, { html = false }: { html?: boolean } = {}): string {
  if (!hasSpintaxSyntax(source)) return source;
  const { syntax } = parseSpintax(source, { html });
  if (syntax.length === 0) return source;
  let masked = '';
  let from = 0;
  for (const offset of [...syntax].sort((a, b) => a - b)) {
    masked += `${source.slice(from, offset)} `;
    from = offset + 1;
  }
  return masked + source.slice(from);
}

function hasSpintaxSyntax(source: string): boolean {
  return (source.includes('{') || source.includes('\\}')) && source.length <= MAX_SOURCE_LENGTH;
}

function parseSpintax(source: string, { html }: { html: boolean }): Spintax {
  return (html ? htmlSources : plainSources).getOrCreate(source, () => parseSource(source, { html }));
}

function parseSource(source: string, { html }: { html: boolean }): Spintax {
  const root: OpenGroup = { opening: 0, options: [[]], bars: [], inner: [] };
  const stack: OpenGroup[] = [root];
  let groups = 0;
  let textStart = 0;
  let index = 0;
  const top = (): OpenGroup => stack.at(-1)!;
  const flushText = (end: number): void => {
    if (end > textStart) top().options.at(-1)!.push(source.slice(textStart, end));
    textStart = end;
  };

  while (index < source.length) {
    const character = source[index];
    if (character === '\\' && isEscape(source, index, stack.length > 1)) {
      flushText(index);
      top().inner.push(index);
      textStart = index + 1;
      index += 2;
    } else if (character === '{') {
      const actionEnd = findActionEnd(source, index);
      if (actionEnd >= 0) {
        index = actionEnd;
        continue;
      }
      // Deeper than anyone writes: not spintax, and no deep recursion either.
      if (stack.length > MAX_NESTING) return { parts: [source], syntax: [] };
      flushText(index);
      stack.push({ opening: index, options: [[]], bars: [], inner: [] });
      index += 1;
      textStart = index;
    } else if (character === '|' && stack.length > 1) {
      flushText(index);
      top().options.push([]);
      top().bars.push(index);
      index += 1;
      textStart = index;
    } else if (character === '}' && stack.length > 1) {
      flushText(index);
      const group = stack.pop()!;
      if (closeGroup(group, top(), { closing: index, ordinal: groups })) groups += 1;
      index += 1;
      textStart = index;
    } else if (html && character === '<') {
      index = skipOpaqueMarkup(source, index);
    } else {
      index += 1;
    }
  }
  flushText(source.length);
  while (stack.length > 1) {
    const group = stack.pop()!;
    restoreBraces(group, top(), '');
    for (const offset of group.inner) top().inner.push(offset);
  }
  return { parts: root.options[0]!, syntax: root.inner };
}

/**
 * Puts a group whose closing brace has come into the one around it.
 * @returns false when it has no bar and so is text
 */
function closeGroup(group: OpenGroup, outer: OpenGroup, place: { closing: number; ordinal: number }): boolean {
  const isGroup = group.options.length > 1;
  if (isGroup) {
    outer.options.at(-1)!.push({ ordinal: place.ordinal, options: group.options });
    outer.inner.push(group.opening, place.closing);
    for (const offset of group.bars) outer.inner.push(offset);
  } else {
    restoreBraces(group, outer, '}');
  }
  for (const offset of group.inner) outer.inner.push(offset);
  return isGroup;
}

/** Turns what looked like a group back into text; the groups inside it stay groups. */
function restoreBraces(group: OpenGroup, outer: OpenGroup, closing: '}' | ''): void {
  const target = outer.options.at(-1)!;
  target.push('{');
  group.options.forEach((option, position) => {
    if (position > 0) target.push('|');
    for (const part of option) target.push(part);
  });
  if (closing) target.push(closing);
}

function isEscape(source: string, index: number, insideGroup: boolean): boolean {
  const next = source[index + 1];
  if (next === '{') return findActionEnd(source, index + 1) < 0;
  return next === '}' || (next === '|' && insideGroup);
}

const OPAQUE_OPENING = /<(?:(style|script)\b|!--)/iy;
const OPAQUE_CLOSING = { style: /<\/style/gi, script: /<\/script/gi, comment: /-->/g };

/** At a `<`: the index after the style or script element or the comment that starts here, else after the `<`. */
export function skipOpaqueMarkup(source: string, index: number): number {
  OPAQUE_OPENING.lastIndex = index;
  const opening = OPAQUE_OPENING.exec(source);
  if (!opening) return index + 1;
  const closing = OPAQUE_CLOSING[(opening[1]?.toLowerCase() ?? 'comment') as keyof typeof OPAQUE_CLOSING];
  closing.lastIndex = index + opening[0].length;
  // As in HTML, what is never closed runs to the end.
  return closing.exec(source) ? closing.lastIndex : source.length;
}

function choose(group: Group, seedHash: number): readonly Part[] {
  const mixed = mix(seedHash + Math.imul(group.ordinal + 1, 0x9e3779b9));
  return group.options[mixed % group.options.length]!;
}

/** FNV-1a over UTF-16 code units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** The finalizer of MurmurHash3: spreads neighbouring seeds over all 32 bits. */
function mix(seed: number): number {
  let hash = seed | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
