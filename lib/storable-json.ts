import type { Problem } from './errors.ts';
import { message, type Message } from '../messages/index.ts';

/** No real data is nested deeper than this, and deeper recursion could overflow the stack. */
const MAX_DEPTH = 64;

/**
 * The fault that keeps a JSON value from outside out of a jsonb column, or undefined. PostgreSQL stores neither NUL characters nor
 * halves of surrogate pairs. JavaScript reads no whole number beyond 2^53 as it was written.
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

/** Problems listed per value at most. */
const MAX_LISTED = 20;

/**
 * Every string in a value from outside that PostgreSQL cannot keep, keys included, every number that is not the one
 * that was written, and every part that is nested too deep, each with its path.
 * @param path of the value itself
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

/** What a JSON or form parser makes; not a stream or another object that is passed on unchanged. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isJsonObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Whether a value is what JSON calls an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A value from outside with its text in Unicode's composed form (NFC), keys included: what looks the same is then the
 * same. A value that is so already, and anything but JSON, comes back as it is.
 */
export function composed(value: unknown): unknown {
  if (typeof value === 'string') return value.normalize('NFC');
  if (Array.isArray(value)) {
    const parts = value.map(composed);
    return parts.some((part, index) => part !== value[index]) ? parts : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const parts = entries.map(([key, part]): [string, unknown] => [key.normalize('NFC'), composed(part)]);
  const isSame = parts.every(([key, part], index) => key === entries[index]![0] && part === entries[index]![1]);
  return isSame ? value : Object.fromEntries(parts);
}

/**
 * JSON parsed with whole numbers beyond 2^53 as text: a JavaScript number would be another one.
 * @throws SyntaxError when the text is no JSON
 */
export function parseKeepingNumbers(json: string): unknown {
  // Strings match first, so that no digits inside of them do. Node 20 gives a reviver no source text.
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
