import type { Columns } from '../../db/rows.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';
import { eraseFiles } from '../records/erase-files.ts';
import { leaveCampaigns } from '../leads/membership.ts';
import { resolveSelection, type Selection } from './selection.ts';

/**
 * Deletes a contact. Its runs are signalled first; emails already sent stay, without their contact.
 * @throws AppError not_found
 */
export async function deleteContact(ctx: Ctx, id: string): Promise<void> {
  if (!isUuid(id)) throw notFound('Contact');
  await transact(ctx, async (tx) => {
    // Leads before their contact, the lock order of every writer.
    await leaveCampaigns(tx, [id], null, 'contact_deleted');
    await eraseFiles(tx, [id]);
    const [contact] = await tx.org.sql<Columns<'contacts', 'email'>>(
      'delete from contacts where organization_id = :org and id = :id returning email',
      { id },
    );
    if (!contact) throw notFound('Contact');
    tx.emit('contact.deleted', { entity_id: id, contact_id: id, contact_email: contact.email });
    tx.audit({ action: 'delete', entityType: 'contact', entityId: id, changes: { email: contact.email } });
  });
}

/**
 * Deletes a selection of contacts; contact.deleted fires once, with `bulk` and `count` in its metadata.
 * @throws AppError too_many_contacts, selection_too_large, bad_request (nothing selected)
 */
export async function deleteContacts(ctx: Ctx, selection: Selection): Promise<number> {
  return transact(ctx, async (tx) => {
    const ids = await resolveSelection(tx.org, selection, tx.now);
    await leaveCampaigns(tx, ids, null, 'contact_deleted');
    await eraseFiles(tx, ids);
    await tx.org.sql('delete from contacts where organization_id = :org and id = any(cast(:ids as uuid[]))', { ids });
    tx.emit('contact.deleted', { metadata: { bulk: true, count: ids.length } });
    tx.audit({ action: 'delete', entityType: 'contact', metadata: { bulk: true, count: ids.length } });
    return ids.length;
  });
}
