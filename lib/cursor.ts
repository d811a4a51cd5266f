import { AppError, type Problem } from './errors.ts';
import { sha256 } from './crypto.ts';
import { isUuid } from './ids.ts';
import { message } from '../messages/index.ts';

const VERSION = 1;

type CursorPosition = readonly (string | number | null)[];

/** One page of a keyset list. */
export interface Page<Row> {
  rows: Row[];
  nextCursor: string | null;
  /** Exact number of matching rows. Undefined for lists that do not count their rows. */
  total?: number;
}

export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

function fingerprint(list: string, filters: unknown): string {
  return sha256(JSON.stringify([list, filters ?? null])).slice(0, 12);
}

/**
 * Returns an opaque cursor, bound to its list and filters. Another list refuses the cursor instead of returning wrong
 * rows.
 */
export function encodeCursor(list: string, filters: unknown, position: CursorPosition): string {
  return Buffer.from(JSON.stringify([VERSION, fingerprint(list, filters), ...position])).toString('base64url');
}

/** Returns a problem if the search cursor in a request body is not a cursor of any list. */
export function bodyCursorProblems(cursor: string | undefined): Problem[] {
  if (!cursor) return [];
  const parts = partsOf(cursor);
  return Array.isArray(parts) && parts[0] === VERSION
    ? []
    : [{ path: 'body.cursor', message: message('field.cursor') }];
}

function partsOf(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the 400 error for a cursor that was changed, or that belongs to another list or other filters. */
export function badCursor(): AppError {
  return refusal('bad_request', 'query.cursor');
}

function refusal(code: 'bad_request' | 'invalid_cursor', path: string): AppError {
  return new AppError(code, message('cursor.invalid'), {
    problems: [{ path, message: message('field.cursor_other') }],
    fix: message('cursor.invalid.fix'),
  });
}

/** Type guard for one part of a list's position. Only valid values reach the database. */
type IsPart<Part> = (value: unknown) => value is Part;

const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:[+-](?:0\d|1[0-4])(?::[0-5]\d)?)?$/;

/**
 * Returns true for a position that is a timestamp in PostgreSQL's text form, with or without its zone, on an existing
 * day.
 */
export function isTimestampText(value: unknown): value is string {
  const day = typeof value === 'string' ? TIMESTAMP.exec(value)?.[1] : undefined;
  if (day === undefined || day < '0001') return false;
  const begin = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(begin.getTime()) && begin.toISOString().startsWith(day);
}

/** Returns true for a position that is a time in JSON form (ISO 8601, UTC). */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const moment = new Date(value);
  return !Number.isNaN(moment.getTime()) && moment.toISOString() === value && /^\d{4}-/.test(value);
}

/** Returns true for a position that is a whole number. */
export function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * Returns the position in a cursor. Returns undefined if there is no cursor.
 * @param parts type guards of the position's parts, in their order
 * @throws AppError bad_request for a malformed cursor, a cursor of another list or filter, and a forged position
 */
export function decodeCursor<Position extends CursorPosition>(
  list: string,
  filters: unknown,
  cursor: string | undefined,
  parts: { [Index in keyof Position]: IsPart<Position[Index]> },
): Position | undefined {
  const position = positionOf(list, filters, cursor, parts);
  if (position === 'bad') throw badCursor();
  return position;
}

/**
 * Variant of {@link decodeCursor} for a search with the cursor in its body.
 * @throws AppError invalid_cursor
 */
export function decodeBodyCursor<Position extends CursorPosition>(
  ...given: Parameters<typeof decodeCursor<Position>>
): Position | undefined {
  const position = positionOf<Position>(...given);
  if (position === 'bad') throw refusal('invalid_cursor', 'body.cursor');
  return position;
}

function positionOf<Position extends CursorPosition>(
  ...[list, filters, cursor, parts]: Parameters<typeof decodeCursor<Position>>
): Position | 'bad' | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  const decoded = partsOf(cursor);
  if (!Array.isArray(decoded) || decoded.length !== parts.length + 2) return 'bad';
  const [version, bound, ...position] = decoded as unknown[];
  if (version !== VERSION || bound !== fingerprint(list, filters)) return 'bad';
  return position.every((part, index) => parts[index]!(part)) ? (position as unknown as Position) : 'bad';
}

/**
 * Returns the id in a cursor of a list that is ordered only by id. Returns undefined if there is no cursor.
 * @throws AppError bad_request as {@link decodeCursor}
 */
export function decodeIdCursor(list: string, filters: unknown, cursor: string | undefined): string | undefined {
  return decodeCursor<[string]>(list, filters, cursor, [isUuid])?.[0];
}

/** Cuts one page from `limit + 1` fetched rows. The next cursor contains the position of the page's last row. */
export function pageOf<Row>(fetched: Row[], limit: number, cursorFor: (last: Row) => string): Page<Row> {
  const rows = fetched.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: fetched.length > limit && last !== undefined ? cursorFor(last) : null };
}
