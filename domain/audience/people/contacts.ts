import type { Tx } from '../../platform/kernel/transact.ts';
import { announceChanged } from './announce.ts';

/**
 * Links new contacts to people who are known by their addresses and have no contact. The events of these people become
 * the contacts' events. If several contacts match one person, the first gets it.
 */
export async function adoptPeople(tx: Tx, contacts: readonly { id: string; email: string }[]): Promise<void> {
  if (contacts.length === 0) return;
  const taken = await tx.org.sql<{ person_id: string }>(
    `with found as materialized (
       select p.id as person_id, c.id as contact_id
       from unnest(cast(:ids as uuid[]), cast(:emails as text[])) as c(id, email)
       join person_identifiers i on i.organization_id = :org and i.kind = 'email' and i.value = c.email
       join people p on p.id = i.person_id and p.contact_id is null
       order by p.id for update of p
     )
     update people p set contact_id = t.contact_id
     from (select distinct on (person_id) person_id, contact_id from found order by person_id, contact_id) t
     where p.organization_id = :org and p.id = t.person_id
     returning p.id as person_id`,
    { ids: contacts.map(({ id }) => id), emails: contacts.map(({ email }) => email) },
  );
  if (taken.length === 0) return;
  // Uses a separate statement, so that it sees events stored while this transaction waited for the locks on the people.
  await tx.org.sql(
    `update product_events e set contact_id = p.contact_id from people p
     where e.organization_id = :org and p.id = e.person_id and e.person_id = any(cast(:people as uuid[]))`,
    { people: taken.map(({ person_id: id }) => id) },
  );
  announceChanged(
    tx,
    taken.map(({ person_id: id }) => id),
  );
}
