import type { Problem } from './errors.ts';

/** No real data is nested deeper than this, and deeper recursion could overflow the stack. */
const MAX_DEPTH = 64;

/**
 * Why a JSON value from outside cannot be kept in a jsonb column, as the end of a sentence ("contains …"), or undefined
 * when it can: PostgreSQL stores neither NUL characters nor halves of surrogate pairs.
 */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return textProblem(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
  for (const [key, element] of Object.entries(value)) {
    const problem = textProblem(key) ?? jsonProblem(element, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** Problems listed per value at most. */
const MAX_LISTED = 20;

/**
 * Every string in a value from outside that PostgreSQL cannot keep, keys included, and every part that is nested too
 * deep, each with its path.
 * @param path of the value itself
 */
export function unstorableParts(value: unknown, path: string): Problem[] {
  const problems: Problem[] = [];
  const visit = (part: unknown, at: string, depth: number): void => {
    if (problems.length === MAX_LISTED) return;
    if (typeof part === 'string') {
      const problem = textProblem(part);
      if (problem) problems.push({ path: at, message: sentence(problem) });
    } else if (Array.isArray(part) || isPlainObject(part)) {
      if (depth >= MAX_DEPTH) problems.push({ path: at, message: `Is nested more than ${MAX_DEPTH} levels deep` });
      else for (const [key, element] of Object.entries(part)) visitEntry(key, element, at, depth);
    }
  };
  const visitEntry = (key: string, element: unknown, at: string, depth: number): void => {
    const problem = textProblem(key);
    if (problem) problems.push({ path: at, message: `Has a field whose name ${problem}` });
    else visit(element, `${at}.${key}`, depth + 1);
  };
  visit(value, path, 0);
  return problems;
}

function sentence(problem: string): string {
  return problem.charAt(0).toUpperCase() + problem.slice(1);
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

function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'contains half of a surrogate pair' : undefined;
}
