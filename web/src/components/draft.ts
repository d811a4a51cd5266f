import { useState } from 'react';
import { HeronError } from '../app/api.ts';
import type { Key } from '../app/query-keys.ts';
import { useAction } from './action.ts';

/** Unsaved changes that one person has made to a record, which others may also change. */
export interface Draft<T> {
  /** Stored value with the person's unsaved changes applied. */
  value: T;
  change(fields: Partial<T>): void;
  isChanged: boolean;
  /** Fields changed by both this person and another one, with their stored values; null if there are none. */
  theirs: { fields: (keyof T & string)[]; value: T } | null;
  /** Discards the person's changes to the conflicting fields. */
  takeTheirs(): void;
  /** Keeps the person's changes to the conflicting fields. */
  keepMine(): void;
  /** Discards all changes. */
  reset(): void;
  save: { mutate: () => void; error: unknown; isPending: boolean };
}

/** Serializes a value with sorted keys, because the API may return fields in another order than it received them. */
const written = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
/** Returns true if two values of a field are equal. */
export const isSame = (one: unknown, other: unknown): boolean => written(one) === written(other);

/** Returns true if the API refused a write because the record has changed since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof HeronError && error.status === 409 && error.code === 'conflict';
}

/**
 * Hook for editing a stored record. Changes of others are merged into fields that this person has not edited. If both
 * edited a field, the person decides. The API refuses a write that is based on an outdated state.
 */
export function useDraft<T extends { updated_at: string }>({
  stored,
  write,
  readAgain,
  stale,
  done,
  onDone,
  first = {},
}: {
  /** `updated_at` is empty for a new record that is created by saving. */
  stored: T;
  /** Sends the changed fields; `seen` is the state on which they are based, which the API must still have. */
  write: (changes: Partial<T>, seen: T) => Promise<unknown>;
  /** Fetches the current stored value. */
  readAgain: () => Promise<T | undefined>;
  stale: readonly Key[];
  done?: string | undefined;
  onDone?: (() => void) | undefined;
  /** Initial changes that are proposed to the person. They are not saved yet. */
  first?: Partial<T>;
}): Draft<T> {
  const [base, setBase] = useState(stored);
  const [mine, setMine] = useState<Partial<T>>(first);
  const both = conflictingFields(base, stored, mine);
  if (!isSame(base, stored) && both.length === 0) setBase(stored);
  const save = useAction(
    async (sent: Partial<T>) => {
      try {
        return await write(sent, base);
      } catch (error) {
        if (!isConflict(error)) throw error;
        const now = await readAgain();
        // If both changed the same fields, the page shows the conflict and the person decides.
        if (!now || conflictingFields(base, now, sent).length > 0) throw error;
        return await write(sent, now);
      }
    },
    {
      stale,
      ...(done ? { done } : {}),
      isShown: true,
      onDone: (_, sent) => {
        // For a new record, keeps the input until the form is closed.
        if (stored.updated_at) {
          setBase((before) => ({ ...before, ...sent }));
          // Input that was entered during the save remains unsaved.
          setMine((now) => without(now, (name) => isSame(now[name], sent[name])));
        }
        onDone?.();
      },
    },
  );
  return {
    value: { ...base, ...mine },
    change: (fields) =>
      setMine((before) => {
        const next = { ...before, ...fields };
        for (const name of Object.keys(next) as (keyof T)[]) if (isSame(next[name], base[name])) delete next[name];
        return next;
      }),
    isChanged: Object.keys(mine).length > 0,
    theirs: both.length > 0 ? { fields: both, value: stored } : null,
    takeTheirs: () => {
      setMine(without(mine, (name) => (both as (keyof T)[]).includes(name)));
      setBase(stored);
      save.reset();
    },
    keepMine: () => {
      setBase(stored);
      save.reset();
    },
    reset: () => {
      setMine({});
      setBase(stored);
      save.reset();
    },
    save: { mutate: () => save.mutate(mine), error: both.length > 0 ? null : save.error, isPending: save.isPending },
  };
}

/**
 * Makes one change to a record regardless of concurrent changes to other parts. Calls `put` with the known state. If
 * the API has a newer one, calls `put` again with that.
 */
export async function applyToNewest<T, Output>(
  seen: T,
  put: (state: T) => Promise<Output>,
  readAgain: () => Promise<T>,
): Promise<Output> {
  try {
    return await put(seen);
  } catch (error) {
    if (!isConflict(error)) throw error;
    return put(await readAgain());
  }
}

/** Returns the submit handler of a form around a draft: saves if there are changes. */
export function submitHandler<T>({ isChanged, theirs, save }: Draft<T>) {
  return (event: { preventDefault: () => void }) => {
    event.preventDefault();
    if (isChanged && !theirs && !save.isPending) save.mutate();
  };
}

/** Returns the fields except those for which `isDropped` returns true. */
function without<T>(fields: Partial<T>, isDropped: (name: keyof T) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isDropped(name as keyof T))) as Partial<T>;
}

/** Returns the fields that both sides have changed to different values. */
function conflictingFields<T>(base: T, stored: T, mine: Partial<T>): (keyof T & string)[] {
  return (Object.keys(mine) as (keyof T & string)[]).filter(
    (name) => name !== 'updated_at' && !isSame(base[name], stored[name]) && !isSame(stored[name], mine[name]),
  );
}
