import type { Tx } from './kernel/transact.ts';

/**
 * Deletes the stored HTML and files of messages from contacts, and the files of emails sent to these contacts. Call it
 * before deleting the contacts, because afterwards nothing links the files to them.
 */
export async function eraseFiles(tx: Tx, contactIds: readonly string[]): Promise<void> {
  const bindings = { contacts: [...contactIds] };
  const theirs = `select id from inbound_messages where organization_id = :org and contact_id = any(cast(:contacts as uuid[]))`;
  // A trigger deletes the bytes together with the row.
  await tx.org.sql(
    `delete from inbound_attachments where organization_id = :org and message_id in (${theirs})`,
    bindings,
  );
  await tx.org.sql(`delete from inbound_bodies where organization_id = :org and message_id in (${theirs})`, bindings);
  await tx.org.sql(
    `with old as materialized (
       select id, attachments from direct_sends where organization_id = :org and contact_id = any(cast(:contacts as uuid[]))
         and finished_at is not null and attachments <> '[]' and files_deleted_at is null order by id for update
     ), gone as (
       delete from blobs b using (select (file ->> 'blob_id')::uuid as id from old, jsonb_array_elements(attachments) file) f
       where b.organization_id = :org and b.id = f.id
     )
     update direct_sends d set files_deleted_at = :now from old where d.organization_id = :org and d.id = old.id`,
    { ...bindings, now: tx.now },
  );
}
