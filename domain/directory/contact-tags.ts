import type { Tx } from '../platform/kernel/transact.ts';
import { announceAtEnd } from './announce-contact.ts';

/** Files a contact under a category, unless it is, or one of them is gone. @returns whether something changed */
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

/** Takes a contact out of a category. @returns whether something changed */
export async function removeContactTag(tx: Tx, contactId: string, categoryId: string): Promise<boolean> {
  const removed = await tx.org
    .table('contact_categories')
    .where({ contact_id: contactId, label_id: categoryId })
    .delete();
  if (removed > 0) announceAtEnd(tx, contactId);
  return removed > 0;
}

/** Files a contact under one category alone, unless the category is gone. @returns whether something changed */
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
