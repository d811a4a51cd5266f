/** A value during rendering, with the paths of the missing fields from which it was computed. */
export interface Traced {
  readonly value: unknown;
  readonly missing: readonly (readonly string[])[];
}

interface TemplateFunction {
  readonly minArgs: number;
  readonly maxArgs: number;
  /**
   * Returns true if the argument at `index` may be missing without leaving a gap in the text, because it is only tested
   * or has a default.
   */
  readonly covers: (index: number, count: number) => boolean;
  readonly call: (args: readonly Traced[]) => Traced;
  /** Work units per character of the arguments. Defaults to 1. */
  readonly workPerCharacter?: number;
}

type Scalar = string | number | bigint | boolean;

const NONE: readonly (readonly string[])[] = [];

/** Wraps a value without missing fields. */
export function known(value: unknown): Traced {
  return { value, missing: NONE };
}

/** Returns true for a value that `default` replaces: absent, null, or only white space. Zero and false are values. */
function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/**
 * Returns true if Go templates treat a value as true. They treat false, zero, empty texts, empty lists, empty objects
 * and missing values as false.
 */
export function isTruthy(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
  }
  return Boolean(value);
}

/**
 * Prints a value: scalars as text, a list of scalars joined by commas. Returns undefined for objects and nested lists,
 * which have no sensible form in an email. The caller reports these as unresolved.
 */
export function printValue(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') {
    const items = Array.isArray(value) ? value : undefined;
    return items?.every((item) => typeof item !== 'object') ? items.map(String).join(', ') : undefined;
  }
  return String(value as Scalar);
}

/** Returns the number of characters of a printed value, without printing lists. */
export function printedLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 1;
  return value.reduce((sum: number, item) => sum + 2 + (typeof item === 'string' ? item.length : 1), 0);
}

function toText({ value }: Traced): string {
  return printValue(value) ?? '';
}

function textFunction(change: (text: string) => string): TemplateFunction {
  return {
    minArgs: 1,
    maxArgs: 1,
    covers: () => false,
    call: ([subject]) => ({ value: change(toText(subject!)), missing: subject!.missing }),
  };
}

function testFunction(minArgs: number, maxArgs: number, test: (args: readonly Traced[]) => boolean): TemplateFunction {
  return { minArgs, maxArgs, covers: () => true, call: (args) => known(test(args)) };
}

function comparison(test: (order: number) => boolean): TemplateFunction {
  return testFunction(2, 2, ([left, right]) => {
    const [a, b] = [toText(left!), toText(right!)];
    const [x, y] = [Number(a), Number(b)];
    if (a.trim() !== '' && b.trim() !== '' && !Number.isNaN(x) && !Number.isNaN(y)) return test(x - y);
    return test(a < b ? -1 : a > b ? 1 : 0);
  });
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Number of characters segmented in one call, because the segmenter takes quadratic time. */
const SEGMENT_WINDOW = 256;

/** Returns the first `length` characters (graphemes). If the text was shortened, its last character is an ellipsis. */
function truncate(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept: string[] = [];
  for (const segment of characters(text)) {
    if (kept.length === length) return length === 0 ? '' : `${kept.slice(0, -1).join('').trimEnd()}…`;
    kept.push(segment);
  }
  return text;
}

/** Yields the characters of a text as perceived by readers (graphemes). */
export function* characters(text: string): Generator<string> {
  let at = 0;
  let window = SEGMENT_WINDOW;
  while (at < text.length) {
    const segments = Array.from(graphemes.segment(text.slice(at, at + window)), ({ segment }) => segment);
    const isLast = at + window >= text.length;
    // The last character of a window may continue in the next window. If one character fills the whole window, the
    // window is enlarged.
    if (!isLast && segments.length === 1) {
      window *= 2;
      continue;
    }
    for (const segment of isLast ? segments : segments.slice(0, -1)) {
      at += segment.length;
      yield segment;
    }
    window = SEGMENT_WINDOW;
  }
}

/**
 * The functions of Heron's templates. As in Go, a piped value is the last argument.
 *
 * | function | result |
 * |---|---|
 * | `default "x" .A` | `.A`, or `x` when `.A` is missing, null or blank (zero and false are values) |
 * | `upper .A`, `lower .A`, `trim .A` | the obvious |
 * | `title .A` | first letter of each word in upper case, the rest untouched |
 * | `truncate 20 .A` | at most 20 characters, the last one `…` when something was cut |
 * | `urlquery .A` | percent-encoded for a URL's query |
 * | `eq .A "x" …`, `ne .A "x"` | equal to any, or not equal; compared as printed |
 * | `lt`, `le`, `gt`, `ge` | order: as numbers when both read as numbers, else as text |
 * | `and`, `or`, `not` | Go's: `and` and `or` give back the deciding argument |
 *
 * `index . "Job Title"` reads fields whose names are not plain words; the parser turns it into a field read.
 */
export const TEMPLATE_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  [
    'default',
    {
      minArgs: 2,
      maxArgs: 2,
      covers: (index) => index === 1,
      call: ([fallback, subject]) => (isBlank(subject!.value) ? fallback! : subject!),
    },
  ],
  ['upper', textFunction((text) => text.toUpperCase())],
  ['lower', textFunction((text) => text.toLowerCase())],
  ['trim', textFunction((text) => text.trim())],
  [
    'title',
    {
      ...textFunction((text) => text.replace(/(?<=^|[\s-])\p{Ll}/gu, (letter) => letter.toUpperCase())),
      workPerCharacter: 2,
    },
  ],
  ['urlquery', textFunction((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')))],
  [
    'truncate',
    {
      minArgs: 2,
      maxArgs: 2,
      covers: () => false,
      workPerCharacter: 8,
      call: ([length, subject]) => ({
        value: truncate(toText(subject!), Math.max(0, Math.trunc(Number(length!.value)) || 0)),
        missing: subject!.missing,
      }),
    },
  ],
  ['eq', testFunction(2, 16, ([subject, ...others]) => others.some((other) => toText(other) === toText(subject!)))],
  ['ne', testFunction(2, 2, ([left, right]) => toText(left!) !== toText(right!))],
  ['lt', comparison((order) => order < 0)],
  ['le', comparison((order) => order <= 0)],
  ['gt', comparison((order) => order > 0)],
  ['ge', comparison((order) => order >= 0)],
  ['not', testFunction(1, 1, ([subject]) => !isTruthy(subject!.value))],
  [
    'and',
    {
      minArgs: 1,
      maxArgs: 16,
      covers: (index, count) => index < count - 1,
      call: (args) => args.find((argument) => !isTruthy(argument.value)) ?? args.at(-1)!,
    },
  ],
  [
    'or',
    {
      minArgs: 1,
      maxArgs: 16,
      covers: (index, count) => index < count - 1,
      call: (args) => args.find((argument) => isTruthy(argument.value)) ?? args.at(-1)!,
    },
  ],
]);
