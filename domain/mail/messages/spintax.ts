import { findActionEnd } from './actions.ts';
import { createBoundedCache } from './bounded-cache.ts';
import { MAX_CACHED_LENGTH, MAX_NESTING, MAX_SOURCE_LENGTH } from './limits.ts';

/** A part of a parsed source: text, or a group of options. */
type Part = string | Group;

interface Group {
  /** Number of the group in its source. It is part of the seed, so that each group chooses its option independently. */
  readonly ordinal: number;
  readonly options: readonly (readonly Part[])[];
}

interface Spintax {
  readonly parts: readonly Part[];
  /** Offsets of the characters that are spintax syntax: braces and bars of groups, and escaping backslashes. */
  readonly syntax: readonly number[];
}

/**
 * A group whose closing brace has not been read yet. The parser knows only at the closing brace if the group contains a
 * bar and is spintax.
 */
interface OpenGroup {
  readonly opening: number;
  readonly options: Part[][];
  readonly bars: number[];
  /** Offsets of nested spintax inside the group. They stay syntax even if the outer group is plain text. */
  readonly inner: number[];
}

const plainSources = createBoundedCache<Spintax>(MAX_CACHED_LENGTH);
const htmlSources = createBoundedCache<Spintax>(MAX_CACHED_LENGTH);

/**
 * Expands spintax: takes one option of each group `{a|b|{c|d}}`. The same seed always gives the same option, so that a
 * retry builds the same message. Groups choose independently of each other, with about equal probability per option.
 *
 * Braces without their own bar (`{ color: red }`), unbalanced braces and template actions `{{…}}` are kept, and with
 * `html` also style and script elements and comments. `\{` and `\}` print a brace, `\|` inside a group prints a bar.
 * Expand the source first and render afterwards, so that merge values are never read as spintax.
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
 * Replaces the spintax syntax of a source by blanks and keeps every option at its position. The check of merge fields
 * parses the result and so finds the fields of all options.
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
      // Treats a source with very deep nesting as plain text, to avoid deep recursion.
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
 * Adds a closed group to the group around it.
 * @returns false if the group has no bar and so is text
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

/** Converts a group without a bar back to text. The groups inside it stay groups. */
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

/**
 * Returns, for a `<`, the index after the style or script element or comment that starts there. If none starts there,
 * returns the index after the `<`.
 */
export function skipOpaqueMarkup(source: string, index: number): number {
  OPAQUE_OPENING.lastIndex = index;
  const opening = OPAQUE_OPENING.exec(source);
  if (!opening) return index + 1;
  const closing = OPAQUE_CLOSING[(opening[1]?.toLowerCase() ?? 'comment') as keyof typeof OPAQUE_CLOSING];
  closing.lastIndex = index + opening[0].length;
  // As in HTML, an unclosed element extends to the end.
  return closing.exec(source) ? closing.lastIndex : source.length;
}

function choose(group: Group, seedHash: number): readonly Part[] {
  const mixed = mix(seedHash + Math.imul(group.ordinal + 1, 0x9e3779b9));
  return group.options[mixed % group.options.length]!;
}

/** Returns the FNV-1a hash over UTF-16 code units. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** Applies the finalizer of MurmurHash3, which spreads similar seeds over all 32 bits. */
function mix(seed: number): number {
  let hash = seed | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
