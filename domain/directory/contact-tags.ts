import type { Tx } from '../platform/kernel/transact.ts';
import { announceAtEnd } from './announce-contact.ts';

/**
 * Adds a contact to a category; does nothing if either is deleted.
 * @returns true if the contact was added
 */
export async function addContactTag(tx: Tx, contactId: string, categoryId: string): Promise<boolean> {
  const [filed] = await tx.org.sql(
    `insert into contact_categories (organization_id, contact_id, label_id)
     select :org, c.id, l.id from contacts c join labels l on l.organization_id = :org and l.id = :label and l.registry = 'category'
     where c.organization_id = :org and c.id = :contact on conflict do nothing returning 1`,
    { contact: contactId, label: categoryId },
  );
  if (filed) announceAtEnd(tx, contactId);
  return filed !== undefined;
}

/**
 * Removes a contact from a category.
 * @returns true if the contact was removed
 */
export async function removeContactTag(tx: Tx, contactId: string, categoryId: string): Promise<boolean> {
  const removed = await tx.org
    .table('contact_categories')
    .where({ contact_id: contactId, label_id: categoryId })
    .delete();
  if (removed > 0) announceAtEnd(tx, contactId);
  return removed > 0;
}

/**
 * Makes a category the only one of a contact, unless the category is deleted.
 * @returns true if the categories changed
 */
export async function setContactTag(tx: Tx, contactId: string, categoryId: string): Promise<boolean> {
  const [change] = await tx.org.sql<{ changed: boolean }>(
    `with wanted as (
       select id from labels where organization_id = :org and id = :label and registry = 'category'
     ), removed as (
       delete from contact_categories where organization_id = :org and contact_id = :contact and label_id <> :label
         and exists (select from wanted) returning 1
     ), added as (
       insert into contact_categories (organization_id, contact_id, label_id)
       select :org, :contact, id from wanted on conflict do nothing returning 1
     ) select exists (select from removed) or exists (select from added) as changed`,
    { contact: contactId, label: categoryId },
  );
  if (change!.changed) announceAtEnd(tx, contactId);
  return change!.changed;
}
