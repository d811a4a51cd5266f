/** Deeper nesting than this is nobody's data, and recursion over it would not end well. */
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

/** Whether a value is what JSON calls an object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'contains half of a surrogate pair' : undefined;
}
