import type { Columns } from '../../../db/rows.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { announceChanged } from './announce.ts';

type Person = Columns<'people', 'id' | 'contact_id'>;

/**
 * Merges the other person into a person: transfers events, conversions, identifiers, corrections, contact and
 * conflicts, and deletes the other person. Conflicts between the two are marked as merged.
 * @throws AppError not_found (either is unknown), identity_merge_contacts (both have contacts)
 */
export async function mergePeople(tx: Tx, personId: string, otherId: string): Promise<void> {
  const people = await lockPeople(tx, [personId, otherId]);
  const person = people.find(({ id }) => id === personId);
  const other = people.find(({ id }) => id === otherId);
  if (!person || !other || personId === otherId) throw notFound('person');
  if (person.contact_id !== null && other.contact_id !== null) {
    throw new AppError('identity_merge_contacts', message('audience.both_have_contacts'), {
      fix: message('audience.both_have_contacts.fix'),
    });
  }
  const ids = { person: personId, other: otherId, contact: person.contact_id ?? other.contact_id };
  await tx.org.sql(
    `update product_events set person_id = :person, contact_id = :contact
     where organization_id = :org and (person_id = :other or (person_id = :person and contact_id is distinct from :contact))`,
    ids,
  );
  for (const table of ['person_identifiers', 'conversions'] as const)
    await tx.org.sql(
      `update ${table} set person_id = :person where organization_id = :org and person_id = :other`,
      ids,
    );
  // A correction made for the person takes precedence over one made for the other person.
  await tx.org.sql(
    `update attribution_corrections set person_id = :person, is_current = is_current and not exists (
       select from attribution_corrections own where own.organization_id = :org and own.person_id = :person and own.is_current)
     where organization_id = :org and person_id = :other`,
    ids,
  );
  await foldConflicts(tx, ids);
  // Deletes the other person before its contact is transferred, because a contact can have only one person at any time.
  await tx.org.sql('delete from people where organization_id = :org and id = :other', ids);
  if (person.contact_id !== ids.contact)
    await tx.org.sql('update people set contact_id = :contact where organization_id = :org and id = :person', ids);
  announceChanged(tx, [personId, otherId]);
}

/** Locks people for a change, in the lock order of every writer: their contacts first. */
export async function lockPeople(tx: Tx, ids: readonly string[]): Promise<Person[]> {
  return tx.org.sql<Person>(
    `with contacts_first as materialized (
       select id from contacts where organization_id = :org and id in (
         select contact_id from people where organization_id = :org and id = any(cast(:ids as uuid[])) and contact_id is not null)
       order by id for key share
     )
     select id, contact_id from people
     where organization_id = :org and id = any(cast(:ids as uuid[])) and (select count(*) from contacts_first) >= 0
     order by id for update`,
    { ids },
  );
}

interface Pair {
  [key: string]: string | null;
  person: string;
  other: string;
}

/**
 * Transfers the other person's conflicts to the person. If both have the same conflict, and one of the two is
 * dismissed, the result is dismissed.
 */
async function foldConflicts(tx: Tx, ids: Pair): Promise<void> {
  await tx.org.sql(
    `update identity_conflicts set state = 'merged', person_id = :person, other_person_id = null, merged_person_id = :other, resolved_at = :now,
       resolved_by = :actor
     where organization_id = :org and state = 'open'
       and ((person_id = :person and other_person_id = :other) or (person_id = :other and other_person_id = :person))`,
    { ...ids, now: tx.now, actor: tx.actor.userId },
  );
  await tx.org.sql(
    `delete from identity_conflicts where organization_id = :org
       and ((person_id = :person and other_person_id = :other) or (person_id = :other and other_person_id = :person))`,
    ids,
  );
  await tx.org.sql(
    `with renamed as (
       select id, state, case when person_id = :other then :person::uuid else person_id end as person_id,
         case when other_person_id = :other then :person::uuid else other_person_id end as other_person_id, kind, value, resolved_at, resolved_by
       from identity_conflicts where organization_id = :org and (person_id = :other or other_person_id = :other)
     ), doubled as (
       select r.*, c.id as kept_id from renamed r join identity_conflicts c on c.organization_id = :org and c.person_id = r.person_id
         and c.other_person_id = r.other_person_id and c.kind = r.kind and c.value = r.value
     ), dismissed as (
       update identity_conflicts c set state = 'dismissed', resolved_at = d.resolved_at, resolved_by = d.resolved_by
       from doubled d where c.organization_id = :org and c.id = d.kept_id and d.state = 'dismissed' and c.state = 'open'
     ), gone as (
       delete from identity_conflicts c using doubled d where c.organization_id = :org and c.id = d.id
     )
     update identity_conflicts c set person_id = r.person_id, other_person_id = r.other_person_id
     from renamed r where c.organization_id = :org and c.id = r.id and c.id not in (select id from doubled)`,
    ids,
  );
}
