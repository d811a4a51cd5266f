import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';

const MAX_CHARACTERS = 600;
const glance = new AsyncLocalStorage<string[]>();

/**
 * Records data that a harness helper has read, for the error of a wait that times out. Has no effect outside of a wait.
 */
export function recordRead(what: string, read: () => unknown): void {
  glance.getStore()?.push(`${what} → ${shortened(read())}`);
}

/** Runs `work` and collects everything it reads through the harness in `seen`. */
export function withNotes<T>(seen: string[], work: () => Promise<T>): Promise<T> {
  return glance.run(seen, work);
}

/** Formats a value as one line of at most 600 characters. */
export function shortened(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value.replaceAll(/\s+/g, ' ')
      : inspect(value, { depth: 4, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 200 });
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
