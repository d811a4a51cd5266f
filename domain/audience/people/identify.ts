import { AppError } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { attachContact } from './attach.ts';
import { mergePeople } from './merge.ts';

/** Identifiers of a person in an event: exactly one of `contactId` and `email`, and optional further ones. */
interface Identity {
  contactId?: string | undefined;
  email?: string | undefined;
  /** The id of an account in the customer's product. */
  userId?: string | undefined;
  /** The id of a browser or device. */
  anonymousId?: string | undefined;
  /** A previous address of the contact. */
  formerEmail?: string | undefined;
}

interface Identified {
  personId: string;
  /** Id of the person's contact. Null for a person without a contact. */
  contactId: string | null;
}

type Kind = Columns<'person_identifiers', 'kind'>['kind'];
type Name = Columns<'person_identifiers', 'kind' | 'value'>;

/** A person who has an identifier of the event, or who belongs to the event's contact. */
interface Owner {
  /** Kind of the identifier that the person has, or `contact` for the person of the event's contact. */
  kind: Kind | 'contact';
  value: string | null;
  person_id: string;
  contact_id: string | null;
  /** False if another transaction deleted or merged the person in the meantime. */
  locked: boolean;
}

interface Found {
  contact: Columns<'contacts', 'id' | 'email'> | null;
  /** False if another transaction deleted the contact in the meantime. */
  contactLocked: boolean;
  owners: Owner[];
}

const TRIES = 5;

/**
 * Finds or creates the person of an event, and links the event's identifiers to it. An identifier that belongs to
 * nobody is linked; one that belongs to another person is recorded once as a conflict. If identifiers belong to
 * different people, the contact decides, then the email, then the user id. An anonymous id never decides, because
 * several people may use one browser. A contact without a person gets the person that has its email or, failing that,
 * its user id, if that person has no contact. Contact and person stay locked until the transaction ends, so that
 * neither is deleted before the event is stored.
 * @throws AppError event_contact_not_found (404): no contact has the id or email, and the event names no other
 * identifier
 */
export async function identifyPerson(tx: Tx, identity: Identity): Promise<Identified> {
  const first = await findOwners(tx, identity, 'when settled');
  if (identity.contactId && !first.contact) throw contactNotFound();
  const known = settledOwner(identity, first);
  if (known) return accept(identity, known);
  if (!first.contact && !namesMore(identity)) throw contactNotFound();
  for (let tries = 1; tries <= TRIES; tries += 1) {
    // Sends the lock statement before the query, so that the query sees the commits of transactions that had the locks.
    const locked = lockNames(tx, namesOf(identity, first));
    const [found] = await Promise.all([findOwners(tx, identity, 'all'), locked]);
    if (identity.contactId && !(found.contact && found.contactLocked)) throw contactNotFound();
    if ((found.contact && !found.contactLocked) || found.owners.some((owner) => !owner.locked)) continue;
    return accept(identity, await link(tx, identity, found));
  }
  throw new AppError('conflict', message('audience.person_busy'), {
    fix: message('audience.person_busy.fix'),
  });
}

/** Refuses an event whose only identifier is an unknown email. */
function accept(identity: Identity, person: Identified): Identified {
  if (person.contactId === null && !namesMore(identity)) throw contactNotFound();
  return person;
}

function contactNotFound(): AppError {
  return new AppError('event_contact_not_found', message('audience.event_contact_unknown'), {
    fix: message('audience.event_contact_unknown.fix'),
  });
}

function namesMore({ userId, anonymousId }: Identity): boolean {
  return userId !== undefined || anonymousId !== undefined;
}

/** Returns the identifiers claimed for the person: those in the event, and the address of its contact. */
function namesOf(identity: Identity, { contact }: Pick<Found, 'contact'>): Name[] {
  const names: { kind: Kind; value: string | undefined }[] = [
    { kind: 'email', value: contact?.email ?? identity.email?.toLowerCase() },
    { kind: 'email', value: identity.formerEmail },
    { kind: 'user_id', value: identity.userId },
    { kind: 'anonymous_id', value: identity.anonymousId },
  ];
  return names.filter((name): name is Name => name.value !== undefined);
}

/** Returns the person who already has all identifiers of the event; undefined if any must be linked. */
function settledOwner(identity: Identity, found: Found): Identified | undefined {
  const { owners, contact } = found;
  const [owner] = owners;
  if (!owner?.locked || (contact && !found.contactLocked)) return undefined;
  if (owners.length !== namesOf(identity, found).length + (contact ? 1 : 0)) return undefined;
  if (owners.some(({ person_id }) => person_id !== owner.person_id)) return undefined;
  return { personId: owner.person_id, contactId: owner.contact_id };
}

/**
 * Finds the owners of the contact and the identifiers; locks contacts before people. `when settled`: locks the person
 * only if one person has all identifiers, and with a shared lock, so that events of known people do not wait for each
 * other. `all`: locks all owners for changes.
 */
async function findOwners(tx: Tx, identity: Identity, lock: 'when settled' | 'all'): Promise<Found> {
  const locking =
    lock === 'all'
      ? { when: 'true', strength: 'for update' }
      : {
          when: `(select count(distinct person_id) = 1 and count(*) = (select count(*) from claimed) + (select count(*) from direct) from owners)`,
          strength: 'for key share',
        };
  const [row] = await tx.org.sql<{ contact: Found['contact']; contact_locked: boolean; owners: Owner[] }>(
    `with direct as materialized (
       select id, email from contacts where organization_id = :org and ${identity.contactId ? 'id = :contact' : 'email = :email'}
     ), claimed as materialized (
       select 'email' as kind, coalesce((select email from direct), cast(:email as text)) as value
       where cast(:email as text) is not null or exists (select from direct)
       union all select 'email', cast(:former as text) where cast(:former as text) is not null
       union all select 'user_id', cast(:user as text) where cast(:user as text) is not null
       union all select 'anonymous_id', cast(:anonymous as text) where cast(:anonymous as text) is not null
     ), owners as materialized (
       select c.kind, c.value, i.person_id from claimed c
       join person_identifiers i on i.organization_id = :org and i.kind = c.kind and i.value = c.value
       union all select 'contact', null, p.id from people p where p.organization_id = :org and p.contact_id = (select id from direct)
     ), locked_contacts as materialized (
       select id from contacts where organization_id = :org and id in (
         select id from direct union all select contact_id from people where organization_id = :org and id in (select person_id from owners))
       order by id for key share
     ), locked_people as materialized (
       select id, contact_id from people
       where organization_id = :org and id in (select person_id from owners) and (select count(*) from locked_contacts) >= 0 and ${locking.when}
       order by id ${locking.strength}
     )
     select (select to_json(d) from direct d) as contact,
       exists (select from direct join locked_contacts using (id)) as contact_locked,
       (select coalesce(json_agg(json_build_object('kind', o.kind, 'value', o.value, 'person_id', o.person_id, 'contact_id', p.contact_id, 'locked', p.id is not null)), '[]')
        from owners o left join locked_people p on p.id = o.person_id) as owners`,
    {
      contact: identity.contactId ?? null,
      email: identity.email?.toLowerCase() ?? null,
      former: identity.formerEmail ?? null,
      user: identity.userId ?? null,
      anonymous: identity.anonymousId ?? null,
    },
  );
  return { contact: row!.contact, contactLocked: row!.contact_locked, owners: row!.owners };
}

/** Locks identifiers in order of their hashes, so that only one transaction at a time links an identifier. */
async function lockNames(tx: Tx, names: readonly Name[]): Promise<void> {
  await tx.org.sql(
    `select pg_advisory_xact_lock(hash) from (
       select distinct hashtextextended(cast(:org as text) || '/' || n.kind || '/' || n.value, 0) as hash
       from unnest(cast(:kinds as text[]), cast(:values as text[])) as n(kind, value) order by 1
     ) names`,
    { kinds: names.map(({ kind }) => kind), values: names.map(({ value }) => value) },
  );
}

/** Chooses the person, and stores its new links. The rows in `found` are locked. */
async function link(tx: Tx, identity: Identity, found: Found): Promise<Identified> {
  const { contact, owners } = found;
  const ownerOf = (name: Name) => owners.find(({ kind, value }) => kind === name.kind && value === name.value);
  const names = namesOf(identity, found).map((name) => ({ ...name, owner: ownerOf(name) }));
  const deciding = names.filter(({ kind }) => kind !== 'anonymous_id').flatMap(({ owner }) => owner ?? []);
  const chosen = contact
    ? (owners.find(({ kind }) => kind === 'contact') ?? deciding.find((owner) => owner.contact_id === null))
    : deciding[0];
  const personId = chosen?.person_id ?? newId();
  const contactId = contact?.id ?? chosen?.contact_id ?? null;
  if (chosen && contact && chosen.contact_id === null) await attachContact(tx, personId, contact.id);

  const folded = new Set([personId]);
  const conflicts: (Name & { owner: Owner })[] = [];
  for (const { owner, ...name } of names) {
    if (!owner || folded.has(owner.person_id)) continue;
    if (name.kind === 'email' && contact && owner.contact_id === null) {
      // The address belongs to the contact, so the contact's person is merged with the other person who has the
      // address.
      await mergePeople(tx, personId, owner.person_id);
      folded.add(owner.person_id);
    } else conflicts.push({ ...name, owner });
  }
  await storeLinks(tx, {
    personId,
    contactId,
    isNew: !chosen,
    names: names.filter(({ owner }) => !owner),
    conflicts,
    takesEvents: contact !== null && chosen?.kind !== 'contact',
  });
  return { personId, contactId };
}

interface Links extends Identified {
  isNew: boolean;
  names: readonly Name[];
  conflicts: readonly (Name & { owner: Owner })[];
  /** True if existing events of the contact without a person are assigned to this person. */
  takesEvents: boolean;
}

/** Stores the person, links, conflicts and events. A conflict that is open or dismissed is not stored again. */
async function storeLinks(tx: Tx, { personId, contactId, isNew, names, conflicts, takesEvents }: Links): Promise<void> {
  if (!isNew && !takesEvents && names.length === 0 && conflicts.length === 0) return;
  await tx.org.sql(
    `with person as (
       insert into people (id, organization_id, contact_id, created_at)
       select :person::uuid, :org::uuid, :contact::uuid, :now::timestamptz where :isNew::boolean
     ), linked as (
       insert into person_identifiers (organization_id, kind, value, person_id, first_seen_at)
       select :org::uuid, n.kind, n.value, :person::uuid, :now::timestamptz
       from unnest(:kinds::text[], :values::text[]) as n(kind, value) order by 2, 3
       on conflict do nothing
     ), conflicting as (
       insert into identity_conflicts (id, organization_id, person_id, other_person_id, kind, value, state, created_at)
       select c.id, :org::uuid, :person::uuid, c.other, c.kind, c.value, 'open', :now::timestamptz
       from unnest(:conflicts::uuid[], :others::uuid[], :otherKinds::text[], :otherValues::text[]) as c(id, other, kind, value) order by 4, 5, 6
       on conflict do nothing
     )
     update product_events set person_id = :person::uuid
     where organization_id = :org and contact_id = :contact::uuid and person_id is null and :takesEvents::boolean`,
    {
      person: personId,
      contact: contactId,
      isNew,
      now: tx.now,
      kinds: names.map(({ kind }) => kind),
      values: names.map(({ value }) => value),
      conflicts: conflicts.map(() => newId()),
      others: conflicts.map(({ owner }) => owner.person_id),
      otherKinds: conflicts.map(({ kind }) => kind),
      otherValues: conflicts.map(({ value }) => value),
      takesEvents,
    },
  );
}
