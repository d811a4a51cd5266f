import type { Tx } from '../../platform/kernel/transact.ts';

const PEOPLE_PER_EVENT = 500;

/** Emits the ids of people whose identity or conversions changed, so that subscribers recompute counts of people. */
export function announceChanged(tx: Tx, personIds: readonly string[]): void {
  for (let from = 0; from < personIds.length; from += PEOPLE_PER_EVENT)
    tx.emit('person.changed', { person_ids: personIds.slice(from, from + PEOPLE_PER_EVENT) });
}
