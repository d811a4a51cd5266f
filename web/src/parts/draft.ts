import { useState } from 'react';
import { HeronError } from '../app/api.ts';
import { useAct } from './act.ts';

/** What one person is changing while others may change it too. */
export interface Draft<T> {
  /** What is stored with one's own changes on top. */
  value: T;
  change(fields: Partial<T>): void;
  isChanged: boolean;
  /** Fields that somebody else has changed meanwhile and this person too, and what they are now; null where there are none. */
  theirs: { fields: (keyof T & string)[]; value: T } | null;
  /** Drops one's own changes of those fields. */
  takeTheirs(): void;
  /** Lets one's own changes of those fields stand. */
  keepMine(): void;
  /** Drops all changes. */
  reset(): void;
  save: { mutate: () => void; error: unknown; isPending: boolean };
}

/** The order of fields means nothing: the API may answer with another one than it was sent. */
const written = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
/** Whether two values of a field say the same. */
export const isSame = (one: unknown, other: unknown): boolean => written(one) === written(other);

/** Whether the API refuses a write because it has another state by now than the one that was seen. */
export function isUnseen(error: unknown): boolean {
  return error instanceof HeronError && error.status === 409 && error.code === 'conflict';
}

/**
 * Changes to something that is stored. What others change meanwhile comes in by itself where this person has not touched it; where both have,
 * the person decides, and nothing is lost. The API refuses a write to another state than the one that was seen.
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
  /** With an empty `updated_at` where it is made by saving it. */
  stored: T;
  /** Sends the changed fields; `seen` is what the change was made to, and what the API must still have. */
  write: (changes: Partial<T>, seen: T) => Promise<unknown>;
  /** Asks for what is stored now. */
  readAgain: () => Promise<T | undefined>;
  stale: readonly (readonly unknown[])[];
  done?: string | undefined;
  onDone?: (() => void) | undefined;
  /** Changes that are proposed: unsaved from the beginning. */
  first?: Partial<T>;
}): Draft<T> {
  const [base, setBase] = useState(stored);
  const [mine, setMine] = useState<Partial<T>>(first);
  const both = meeting(base, stored, mine);
  if (!isSame(base, stored) && both.length === 0) setBase(stored);
  const save = useAct(
    async (sent: Partial<T>) => {
      try {
        return await write(sent, base);
      } catch (error) {
        if (!isUnseen(error)) throw error;
        const now = await readAgain();
        // Where both changed the same, the page shows it and the person decides.
        if (!now || meeting(base, now, sent).length > 0) throw error;
        return await write(sent, now);
      }
    },
    {
      stale,
      ...(done ? { done } : {}),
      isShown: true,
      onDone: (_, sent) => {
        // A form of something new shows what was typed until it is gone.
        if (stored.updated_at) {
          setBase((before) => ({ ...before, ...sent }));
          // What was typed while this was being saved is still to be saved.
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
      setMine(without(mine, (name) => both.includes(name as never)));
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
 * A change of one thing, whatever else of it others have changed meanwhile: `put` makes it to the state that was seen, which the API must
 * still have, and else to that of now.
 */
export async function toNewest<T, Output>(
  seen: T,
  put: (state: T) => Promise<Output>,
  readAgain: () => Promise<T>,
): Promise<Output> {
  try {
    return await put(seen);
  } catch (error) {
    if (!isUnseen(error)) throw error;
    return put(await readAgain());
  }
}

/** What a form around a draft does: it saves what there is to save. */
export function sends<T>({ isChanged, theirs, save }: Draft<T>) {
  return (event: { preventDefault: () => void }) => {
    event.preventDefault();
    if (isChanged && !theirs && !save.isPending) save.mutate();
  };
}

/** The fields for which `isDropped` does not hold. */
function without<T>(fields: Partial<T>, isDropped: (name: keyof T) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isDropped(name as keyof T))) as Partial<T>;
}

/** Fields that both have changed, to different values. */
function meeting<T>(base: T, stored: T, mine: Partial<T>): (keyof T & string)[] {
  return (Object.keys(mine) as (keyof T & string)[]).filter(
    (name) => name !== 'updated_at' && !isSame(base[name], stored[name]) && !isSame(stored[name], mine[name]),
  );
}
