import type { Tx } from '../kernel/transact.ts';
import { contactUpdate, viewContacts } from './contact-view.ts';

/** Tells that a contact has changed, as it is now; nothing for one that is gone. */
export async function announceUpdate(tx: Tx, contactId: string): Promise<void> {
  const [contact] = await viewContacts(tx.org, [contactId]);
  if (contact) tx.emit('contact.updated', contactUpdate(contact));
}

/** Tells once of a change of many contacts; nothing when there were none. */
export function announceUpdates(tx: Tx, count: number): void {
  if (count > 0) tx.emit('contact.updated', { metadata: { bulk: true, count } });
}
