import { identifyPerson } from '../../audience/people/identify.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Match } from './compare.ts';

/**
 * Adds the person to each match. An event may have only a contact without a person. A person is then created for that
 * contact.
 * @throws AppError event_contact_not_found when a contact and its events were deleted in the meantime; the caller must
 * read the events again
 */
export async function withPeople<M extends Match>(
  tx: Tx,
  matches: readonly M[],
): Promise<(M & { personId: string })[]> {
  const people = new Map<string, string>();
  const contactIds = matches.flatMap(({ personId, contactId }) => (personId === null && contactId ? [contactId] : []));
  for (const contactId of [...new Set(contactIds)].sort()) {
    const { personId } = await identifyPerson(tx, { contactId });
    people.set(contactId, personId);
  }
  return matches.map((match) => ({ ...match, personId: match.personId ?? people.get(match.contactId!)! }));
}
