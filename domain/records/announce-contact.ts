import type { Tx } from '../kernel/transact.ts';
import { contactUpdate, viewContacts } from './contact-view.ts';

/** Emits contact.updated for a contact, as it is now; nothing when it was deleted. */
export async function announceUpdate(tx: Tx, contactId: string): Promise<void> {
  const [contact] = await viewContacts(tx.org, [contactId]);
  if (contact) tx.emit('contact.updated', contactUpdate(contact));
}

/** Emits one contact.updated for many contacts; nothing when there were none. */
export function announceUpdates(tx: Tx, count: number): void {
  if (count > 0) tx.emit('contact.updated', { metadata: { bulk: true, count } });
}
