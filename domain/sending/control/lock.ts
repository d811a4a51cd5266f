import type { Tx } from '../../platform/kernel/transact.ts';
import { lockDirectSend } from './direct-sends.ts';

/**
 * Locks, in id order, the enrollment or direct send of an email and every open enrollment of its contact. An outcome of
 * the email may end all of them, and two emails of one contact can get outcomes concurrently.
 */
export async function lockLeadsOfSend(tx: Tx, sendId: string): Promise<void> {
  await tx.org.sql(
    `with mail as (select enrollment_id, contact_id from sends where organization_id = :org and id = :id)
     select e.id from enrollments e
     where e.organization_id = :org
       and e.id in (
         select enrollment_id from mail
         union all select o.id from enrollments o join mail on o.contact_id = mail.contact_id where o.state in ('pending', 'active'))
     order by e.id for update`,
    { id: sendId },
  );
  await lockDirectSend(tx, sendId);
}
