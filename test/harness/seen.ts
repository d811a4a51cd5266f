import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';

const MAX_CHARACTERS = 600;
const glance = new AsyncLocalStorage<string[]>();

/** Notes what a helper of the harness has read, in case the wait in which it was read gives up. Outside of a wait it does nothing. */
export function noteSeen(what: string, read: () => unknown): void {
  glance.getStore()?.push(`${what} → ${shortened(read())}`);
}

/** Does what `work` says; `seen` gets everything that it read through the harness. */
export function withNotes<T>(seen: string[], work: () => Promise<T>): Promise<T> {
  return glance.run(seen, work);
}

/** A value as one line of at most 600 characters; the beginning says most. */
export function shortened(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value.replaceAll(/\s+/g, ' ')
      : inspect(value, { depth: 4, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 200 });
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
