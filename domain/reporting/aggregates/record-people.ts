import type { Tx } from '../../platform/kernel/transact.ts';
import { recordAcquisitions } from './acquisitions.ts';
import { recordProspects } from './prospects.ts';

/** Ids from events, of rows whose facts may have changed. */
interface NamedPeople {
  /** Emails that were sent or answered. */
  sendIds?: readonly string[];
  /** Contacts whose milestones have changed, from {@link recordFacts}. */
  prospectIds?: readonly string[];
  personIds?: readonly string[];
  /** Contacts whose address changed. */
  contactIds?: readonly string[];
  /** True if a contact was deleted, because estimates may depend on it. */
  isContactGone?: boolean;
}

const PAGE = 500;

/**
 * Updates the facts of prospects and acquisitions for the contacts and people of events. Includes people of the same
 * companies who became customers after the email. Call it after {@link recordFacts} in the same transaction, which has
 * the lock.
 */
export async function recordPeople(
  tx: Tx,
  { sendIds = [], prospectIds = [], personIds = [], contactIds = [], isContactGone = false }: NamedPeople,
): Promise<void> {
  await tx.org.lock(`facts/${tx.org.organizationId}`);
  const touched = await tx.org.sql<{ contact_id: string }>(
    `select contact_id from send_facts where organization_id = :org and send_id = any(:sends::uuid[]) and contact_id is not null
     union select contact_id from people where organization_id = :org and id = any(:people::uuid[]) and contact_id is not null
     union select id from contacts where organization_id = :org and id = any(:contacts::uuid[])`,
    { sends: sendIds, people: personIds, contacts: contactIds },
  );
  const ids = touched.map(({ contact_id: id }) => id);
  const prospects = [...new Set([...ids, ...prospectIds])].sort();
  for (let at = 0; at < prospects.length; at += PAGE) await recordProspects(tx, prospects.slice(at, at + PAGE));
  const people = await tx.org.sql<{ id: string }>(
    `select id from people where organization_id = :org and (contact_id = any(:contacts::uuid[]) or id = any(:people::uuid[]))
     -- People of the same company who were acquired after the earliest email to a colleague.
     union select a.person_id from acquisition_facts a join (
       select split_part(k.email, '@', -1) as domain, min(f.sent_at) as sent_at
       from send_facts f join contacts k on k.id = f.contact_id
       where f.organization_id = :org and f.send_id = any(:sends::uuid[]) and f.sent_at is not null group by 1
     ) c on c.domain = a.company_domain and a.acquired_at >= c.sent_at where a.organization_id = :org
     -- A contact whose address changed may now belong to another company.
     union select a.person_id from acquisition_facts a where a.organization_id = :org and a.colleague_id = any(:changed::uuid[])
     union select a.person_id from acquisition_facts a join contacts k on split_part(k.email, '@', -1) = a.company_domain
       where a.organization_id = :org and k.organization_id = :org and k.id = any(:changed::uuid[])
     union select a.person_id from acquisition_facts a
       where :gone and a.organization_id = :org and a.colleague_send_id is not null and a.colleague_id is null`,
    { contacts: ids, people: personIds, sends: sendIds, changed: contactIds, gone: isContactGone },
  );
  const named = people.map(({ id }) => id).sort();
  for (let at = 0; at < named.length; at += PAGE) await recordAcquisitions(tx, named.slice(at, at + PAGE));
}
