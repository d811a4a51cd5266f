import type { Tx } from '../platform/kernel/transact.ts';
import { contactUpdate, viewContacts } from './contact-view.ts';

/** Emits contact.updated for a contact, as it is now; nothing when it was deleted. */
export async function announceUpdate(tx: Tx, contactId: string): Promise<void> {
  const [contact] = await viewContacts(tx.org, [contactId]);
  if (contact) tx.emit('contact.updated', contactUpdate(contact));
}

/** Contacts that a transaction has changed and announces at its end. */
const changed = new WeakMap<Tx, Set<string>>();

/** Has contact.updated emitted for a contact at the end of the transaction, once and as it is then. For changes that come many at a time. */
export function announceAtEnd(tx: Tx, contactId: string): void {
  const ids = changed.get(tx) ?? new Set();
  changed.set(tx, ids.add(contactId));
  tx.atEnd('contacts/announce', async () => {
    for (const contact of await viewContacts(tx.org, [...ids])) tx.emit('contact.updated', contactUpdate(contact));
  });
}

/** Emits one contact.updated for many contacts; nothing when there were none. */
export function announceUpdates(tx: Tx, count: number): void {
  if (count > 0) tx.emit('contact.updated', { metadata: { bulk: true, count } });
}
