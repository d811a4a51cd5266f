import type { Tx } from '../platform/kernel/transact.ts';
import { contactUpdate, viewContacts } from './contact-view.ts';

/** Emits contact.updated with a contact's current state. Does nothing if the contact was deleted. */
export async function announceUpdate(tx: Tx, contactId: string): Promise<void> {
  const [contact] = await viewContacts(tx.org, [contactId]);
  if (contact) tx.emit('contact.updated', contactUpdate(contact));
}

/** Ids of contacts for which contact.updated is emitted at the end of a transaction, by transaction. */
const changed = new WeakMap<Tx, Set<string>>();

/**
 * Emits contact.updated for a contact once at the end of the transaction, with its state at that time. Use it when a
 * transaction changes many contacts.
 */
export function announceAtEnd(tx: Tx, contactId: string): void {
  const ids = changed.get(tx) ?? new Set();
  changed.set(tx, ids.add(contactId));
  tx.atEnd('contacts/announce', async () => {
    for (const contact of await viewContacts(tx.org, [...ids])) tx.emit('contact.updated', contactUpdate(contact));
  });
}

/** Emits one contact.updated for many contacts. Does nothing if the count is 0. */
export function announceUpdates(tx: Tx, count: number): void {
  if (count > 0) tx.emit('contact.updated', { metadata: { bulk: true, count } });
}
