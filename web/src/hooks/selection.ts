import { useState, useSyncExternalStore } from 'react';

/** Chosen rows of a list: either the rows in `ids`, or all rows that match the list's filter except those in `ids`. */
export interface Chosen {
  isAll: boolean;
  /** Ids of the chosen rows. If `isAll` is true, ids of the rows that are not chosen. */
  ids: ReadonlySet<string>;
}

const NOTHING: Chosen = { isAll: false, ids: new Set() };

/**
 * Rows that a person has chosen in a list. It lives outside of the components, so that a change renders only the
 * checkboxes that it concerns.
 */
export class Selection {
  /** Ids of the loaded rows in the order of the list, for ranges. The list sets it. */
  order: readonly string[] = [];
  #chosen = NOTHING;
  /** Row that was toggled last. The next range begins there. */
  #last: string | undefined;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly chosen = (): Chosen => this.#chosen;

  has(id: string): boolean {
    return this.#chosen.ids.has(id) !== this.#chosen.isAll;
  }

  /**
   * Adds a row to the choice or removes it. With `isRange`, also changes all rows between it and the row toggled last.
   */
  toggle(id: string, isRange: boolean): void {
    const isOn = !this.has(id);
    const [from, to] = [this.order.indexOf(this.#last ?? ''), this.order.indexOf(id)].toSorted((a, b) => a - b);
    this.#set(isRange && from! >= 0 ? this.order.slice(from, to! + 1) : [id], isOn);
    this.#last = id;
  }

  /** Chooses all loaded rows. If all of them are chosen already, removes them from the choice. */
  toggleLoaded(): void {
    if (this.hasLoaded()) this.clear();
    else this.#set(this.order, true);
  }

  /** Returns true if every loaded row is chosen. */
  hasLoaded(): boolean {
    return this.order.length > 0 && this.order.every((id) => this.has(id));
  }

  /** Chooses all rows that match the filter, including rows that are not loaded. */
  chooseAll(): void {
    this.#change({ isAll: true, ids: new Set() });
  }

  clear(): void {
    this.#change(NOTHING);
  }

  #set(ids: readonly string[], isOn: boolean): void {
    const next = new Set(this.#chosen.ids);
    for (const id of ids) {
      if (isOn === this.#chosen.isAll) next.delete(id);
      else next.add(id);
    }
    this.#change({ ...this.#chosen, ids: next });
  }

  #change(chosen: Chosen): void {
    this.#chosen = chosen;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the selection of a list. A change of the filter begins an empty selection. */
export function useSelection(filter: string): Selection {
  const [kept, keep] = useState(() => ({ filter, selection: new Selection() }));
  if (kept.filter === filter) return kept.selection;
  const next = { filter, selection: new Selection() };
  keep(next);
  return next.selection;
}

/** Returns the chosen rows, and renders again when they change. */
export function useChosen(selection: Selection): Chosen {
  return useSyncExternalStore(selection.subscribe, selection.chosen);
}
