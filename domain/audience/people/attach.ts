import type { Tx } from '../../platform/kernel/transact.ts';
import { announceChanged } from './announce.ts';

/**
 * Links a locked person without a contact to a contact without a person. The person's events become the contact's.
 */
export async function attachContact(tx: Tx, personId: string, contactId: string): Promise<void> {
  const ids = { person: personId, contact: contactId };
  await tx.org.sql('update people set contact_id = :contact where organization_id = :org and id = :person', ids);
  await tx.org.sql(
    'update product_events set contact_id = :contact where organization_id = :org and person_id = :person',
    ids,
  );
  announceChanged(tx, [personId]);
}
