import type { Tx } from '../../platform/kernel/transact.ts';
import { lockDirectSend } from './direct-sends.ts';

/**
 * Locks the enrollment, or the direct send, an email belongs to and every open one of its contact, in one order: what happens to the email may
 * end them all, and two emails of one contact can have something happen to them at once.
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
