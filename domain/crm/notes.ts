import type { Row } from '../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertContact, recordActivities } from './activities.ts';

/** A note with its author's name, which is null if the account was deleted. */
export type NoteRow = Row<'contact_notes'> & { first_name: string | null; last_name: string | null };

const LIST = 'crm.notes';
const NOTE = `select n.*, u.first_name, u.last_name from contact_notes n left join users u on u.id = n.user_id
  where n.organization_id = :org and n.contact_id = :contact`;

/**
 * Lists the notes about a contact, newest first.
 * @throws AppError not_found, bad_request for the cursor of another list
 */
export async function listNotes(ctx: Ctx, contactId: string, page: PageRequest): Promise<Page<NoteRow>> {
  const org = reader(ctx);
  await assertContact(org, contactId);
  const after = decodeIdCursor(LIST, contactId, page.cursor);
  const rows = await org.sql<NoteRow>(`${NOTE} ${after ? 'and n.id < :after' : ''} order by n.id desc limit :limit`, {
    contact: contactId,
    limit: page.limit + 1,
    ...(after ? { after } : {}),
  });
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, contactId, [last.id]));
}

/** Stores a note about a contact. Emits crm.note_created. @throws AppError not_found */
export async function createNote(ctx: Ctx, contactId: string, content: string): Promise<NoteRow> {
  return transact(ctx, async (tx) => {
    await assertContact(tx.org, contactId);
    const id = newId();
    await tx.org.insert('contact_notes', {
      id,
      contact_id: contactId,
      user_id: tx.actor.userId,
      content,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await logNote(tx, contactId, id, 'note_added');
    tx.emit('crm.note_created', { entity_id: id, note_id: id, contact_id: contactId, user_id: tx.actor.userId });
    tx.audit({
      action: 'create',
      entityType: 'contact_note',
      entityId: id,
      metadata: { contact_id: contactId },
    });
    return findNote(tx, contactId, id);
  });
}

/** Changes the text of a note. @throws AppError not_found */
export async function updateNote(
  ctx: Ctx,
  contactId: string,
  id: string,
  content: string | undefined,
): Promise<NoteRow> {
  return transact(ctx, async (tx) => {
    const note = await findNote(tx, contactId, id, 'for update of n');
    if (content === undefined || content === note.content) return note;
    await tx.org.table('contact_notes').where({ id }).update({ content, updated_at: tx.now });
    await logNote(tx, contactId, id, 'note_updated');
    // Does not write the text to the audit log, because it must be erased together with the contact.
    tx.audit({ action: 'update', entityType: 'contact_note', entityId: id, metadata: { contact_id: contactId } });
    return findNote(tx, contactId, id);
  });
}

/** Deletes a note. @throws AppError not_found */
export async function deleteNote(ctx: Ctx, contactId: string, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await findNote(tx, contactId, id, 'for update of n');
    await tx.org.table('contact_notes').where({ id }).delete();
    tx.audit({
      action: 'delete',
      entityType: 'contact_note',
      entityId: id,
      metadata: { contact_id: contactId },
    });
  });
}

async function findNote(tx: Tx, contactId: string, id: string, lock = ''): Promise<NoteRow> {
  await assertContact(tx.org, contactId);
  const [note] = isUuid(id)
    ? await tx.org.sql<NoteRow>(`${NOTE} and n.id = :id ${lock}`, { contact: contactId, id })
    : [];
  if (!note) throw notFound('note');
  return note;
}

async function logNote(tx: Tx, contactId: string, noteId: string, type: 'note_added' | 'note_updated'): Promise<void> {
  await recordActivities(tx, [{ type, contactId, dealId: null, metadata: { note_id: noteId } }]);
}
