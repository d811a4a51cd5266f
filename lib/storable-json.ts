import type { Problem } from './errors.ts';
import { message, type Message } from '../messages/index.ts';

/** Maximum depth of nesting. Real data is never deeper, and deeper recursion could overflow the stack. */
const MAX_DEPTH = 64;

/**
 * Returns the problem that prevents storing an external JSON value in a jsonb column, or undefined. PostgreSQL stores
 * neither NUL characters nor unpaired surrogates. JavaScript numbers lose digits of whole numbers beyond 2^53.
 */
export function jsonProblem(value: unknown, depth = 0): Message | undefined {
  if (typeof value === 'string') return textProblem(value);
  if (typeof value === 'number') return numberProblem(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return message('field.nested', { max: MAX_DEPTH });
  for (const [key, element] of Object.entries(value)) {
    const problem = textProblem(key) ?? jsonProblem(element, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** Maximum number of listed problems per value. */
const MAX_LISTED = 20;

/**
 * Lists every part of an external value that cannot be stored, each with its path. Such parts are strings and keys that
 * PostgreSQL cannot store, numbers that lost digits, and parts nested too deeply.
 * @param path path of the value itself
 */
export function unstorableParts(value: unknown, path: string): Problem[] {
  const problems: Problem[] = [];
  const visit = (part: unknown, at: string, depth: number): void => {
    if (problems.length === MAX_LISTED) return;
    if (typeof part === 'string' || typeof part === 'number') {
      const problem = typeof part === 'string' ? textProblem(part) : numberProblem(part);
      if (problem) problems.push({ path: at, message: problem });
    } else if (Array.isArray(part) || isPlainObject(part)) {
      if (depth >= MAX_DEPTH) problems.push({ path: at, message: message('field.nested', { max: MAX_DEPTH }) });
      else for (const [key, element] of Object.entries(part)) visitEntry(key, element, at, depth);
    }
  };
  const visitEntry = (key: string, element: unknown, at: string, depth: number): void => {
    const problem = textProblem(key);
    if (problem) problems.push({ path: at, message: message('field.name_problem', { problem }) });
    else visit(element, `${at}.${key}`, depth + 1);
  };
  visit(value, path, 0);
  return problems;
}

/**
 * Returns true for objects made by a JSON or form parser, but not for streams or other objects that are passed through.
 */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isJsonObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Returns true for a JSON object, false for arrays, null and scalars. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns an external value with its text, keys included, in Unicode's composed form (NFC), so that equal-looking texts
 * are equal. A value that is already composed, or that is not JSON, is returned unchanged.
 */
export function toComposed(value: unknown): unknown {
  if (typeof value === 'string') return value.normalize('NFC');
  if (Array.isArray(value)) {
    const parts = value.map(toComposed);
    return parts.some((part, index) => part !== value[index]) ? parts : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const parts = entries.map(([key, part]): [string, unknown] => [key.normalize('NFC'), toComposed(part)]);
  const isSame = parts.every(([key, part], index) => key === entries[index]![0] && part === entries[index]![1]);
  return isSame ? value : Object.fromEntries(parts);
}

/**
 * Parses JSON and keeps whole numbers beyond 2^53 as text, because a JavaScript number would lose digits.
 * @throws SyntaxError when the text is no JSON
 */
export function parseKeepingNumbers(json: string): unknown {
  // The pattern matches strings first, so digits inside strings are not replaced. In Node 20 a reviver does not get the
  // source text.
  const kept = json.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
  );
  return JSON.parse(kept);
}

function numberProblem(value: number): Message | undefined {
  const isKept = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return isKept ? undefined : message('field.large_number');
}

function textProblem(text: string): Message | undefined {
  if (text.includes('\0')) return message('field.nul');
  return /\p{Surrogate}/u.test(text) ? message('field.surrogate') : undefined;
}
