import { identifyPerson } from '../../audience/identities/identify.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Match } from './compare.ts';

/**
 * The matches with whose they are. Events from before people have only a contact, who becomes a person now.
 * @throws AppError event_contact_not_found when a contact was deleted meanwhile, and its events with it: the caller looks again
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
