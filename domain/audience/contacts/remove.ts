import { deleted } from '../../platform/changes.ts';
import type { Columns } from '../../../db/rows.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { cancelUnsent } from '../../inbox/direct-sends/scheduled.ts';
import { abandonDeliveries } from '../../directory/integration-deliveries.ts';
import { eraseTraces } from '../../directory/erase-traces.ts';
import { leaveCampaigns } from '../../sending/leads/membership.ts';
import { resolveSelection, type Selection } from './selection.ts';
import { message } from '../../../messages/index.ts';

/**
 * Deletes a contact with its person, events and conversions. The contact's workflows are signalled first. Sent and
 * received emails stay for the statistics, without the contact and their text.
 * @throws AppError not_found
 */
export async function deleteContact(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('contact');
  await transact(ctx, async (tx) => {
    await endWork(tx, [id]);
    const [contact] = await tx.org.sql<Columns<'contacts', 'email'>>(
      'delete from contacts where organization_id = :org and id = :id returning email',
      { id },
    );
    if (!contact) throw notFound('contact');
    tx.emit('contact.deleted', { entity_id: id, contact_id: id, contact_email: contact.email });
    tx.audit({ action: 'delete', entityType: 'contact', entityId: id, changes: deleted({ email: contact.email }) });
  });
}

/**
 * Deletes a selection of contacts, each as {@link deleteContact} does. contact.deleted is emitted once, with `bulk` and
 * `count` in its metadata.
 * @throws AppError too_many_contacts, selection_too_large, bad_request (nothing selected)
 */
export async function deleteContacts(ctx: Ctx, selection: Selection): Promise<number> {
  return transact(ctx, async (tx) => {
    const ids = await resolveSelection(tx.org, selection, tx.now);
    await endWork(tx, ids);
    await tx.org.sql('delete from contacts where organization_id = :org and id = any(cast(:ids as uuid[]))', { ids });
    tx.emit('contact.deleted', { metadata: { bulk: true, count: ids.length } });
    tx.audit({ action: 'delete', entityType: 'contact', metadata: { bulk: true, count: ids.length } });
    return ids.length;
  });
}

/** Ends leads and unsent emails of contacts that are about to be deleted, and erases the text of their emails. */
async function endWork(tx: Tx, ids: readonly string[]): Promise<void> {
  // Locks leads before their contact, the lock order of every writer.
  await leaveCampaigns(tx, ids, null, message('ended.removed'));
  await cancelUnsent(tx, ids);
  await eraseTraces(tx, ids);
  // Locks the contacts, so that no delivery is added for them afterwards.
  await tx.org.sql(
    'select id from contacts where organization_id = :org and id = any(cast(:ids as uuid[])) order by id for update',
    { ids },
  );
  await abandonDeliveries(tx, { contactIds: ids }, message('audience.contact_deleted'));
}
