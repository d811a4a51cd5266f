import { AppError, type Problem } from '../../../lib/errors.ts';
import { message, type Message } from '../../../messages/index.ts';
import { upsertContacts } from '../contacts/upsert.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { isAddress } from '../../../lib/address.ts';
import { CONTACT_LIMITS, CUSTOM_FIELD_LIMITS, type ContactDraft } from '../../directory/contact-fields.ts';
import { contactPayload, contactUpdate, viewContacts, type ContactView } from '../../directory/contact-view.ts';
import { soleCause, suppressedAmong } from '../../directory/suppression-check.ts';
import { scheduleVerification } from '../verification/schedule.ts';
import { cataloguePeople, type CataloguePerson } from './people.ts';
import { isCatalogueId } from './records.ts';

/** Maximum number of people of one import. */
export const MAX_SELECTED = 100;

/** Result of importing the selected people. */
interface CatalogueImport {
  /** Distinct contacts in the order of the selection. */
  contacts: ContactView[];
  /** Ids of contacts that existed before. */
  existingIds: string[];
  /** Ids of contacts whose address is suppressed. Such contacts are stored as not subscribed. */
  suppressedIds: string[];
}

/** Lists every problem of a selection that its schema does not detect. */
export function selectionProblems(ids: readonly string[]): Problem[] {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => {
    const path = `body.person_ids.${index}`;
    if (!isCatalogueId(id)) return [{ path, message: message('audience.not_catalogue_id') }];
    if (seen.has(id)) return [{ path, message: message('audience.named_before') }];
    seen.add(id);
    return [];
  });
}

/**
 * Returns the selected people. All must be in the catalogue and have an address.
 * @throws AppError invalid_selection, b2b_email_required, b2b_unavailable, b2b_query_failed
 */
export async function selectPeople(ctx: Ctx, ids: readonly string[]): Promise<CataloguePerson[]> {
  const problems = selectionProblems(ids);
  if (problems.length > 0) throw refusal('invalid_selection', problems);
  const people = await cataloguePeople(ctx, ids);
  const byId = new Map(people.map((person) => [person.id, person]));
  const each = (isFaulty: (person: CataloguePerson | undefined) => boolean, fault: Message): Problem[] =>
    ids.flatMap((id, index) => (isFaulty(byId.get(id)) ? [{ path: `body.person_ids.${index}`, message: fault }] : []));
  const unknown = each((person) => person === undefined, message('audience.not_in_catalogue'));
  if (unknown.length > 0) throw refusal('invalid_selection', unknown);
  const mute = each((person) => !isAddress(person!.email), message('audience.no_valid_email'));
  if (mute.length > 0) throw refusal('b2b_email_required', mute);
  return people;
}

function refusal(code: 'invalid_selection' | 'b2b_email_required', problems: Problem[]): AppError {
  return new AppError(code, message('audience.catalogue_selection'), {
    problems,
    fix: message('audience.catalogue_selection.fix'),
  });
}

/**
 * Creates contacts from people of the catalogue, in no campaign. A known contact keeps its values and gets only missing
 * ones. Two people with one address become one contact. Addresses without a verdict are scheduled for verification; the
 * catalogue's own status is stored as the custom field `source_email_status`.
 * @throws AppError invalid_selection for contacts with too many custom fields
 */
export async function importPeople(ctx: Ctx, people: readonly CataloguePerson[]): Promise<CatalogueImport> {
  return transact(ctx, async (tx) => {
    const drafts = new Map<string, ContactDraft>();
    for (const person of people) if (!drafts.has(person.email)) drafts.set(person.email, draftOf(person));
    const suppressed = await suppressedAmong(tx.org, [...drafts.keys()], tx.now);
    for (const [email, hit] of suppressed)
      Object.assign(drafts.get(email)!, { subscribed: false, unsubscribedBy: soleCause(hit) });
    const stored = await upsertContacts(tx, [...drafts.values()], {
      existing: 'fill',
      source: 'catalogue',
      sourceDetail: '',
    });
    const idOf = new Map(stored.map(({ email, id }) => [email, id]));
    const full = people.flatMap(({ email }, index) =>
      idOf.has(email)
        ? []
        : [{ path: `body.person_ids.${index}`, message: message('directory.too_many_fields', CUSTOM_FIELD_LIMITS) }],
    );
    if (full.length > 0) throw refusal('invalid_selection', full);
    await scheduleVerification(tx, [...idOf.values()]);
    const contacts = await viewContacts(
      tx.org,
      [...drafts.keys()].map((email) => idOf.get(email)!),
    );
    const inserted = new Set(stored.filter((row) => row.inserted).map(({ id }) => id));
    for (const view of contacts) {
      if (inserted.has(view.id)) tx.emit('contact.created', contactPayload(view));
      else tx.emit('contact.updated', contactUpdate(view));
    }
    tx.audit({
      action: 'import',
      entityType: 'contact',
      metadata: { source: 'catalogue', created: inserted.size, updated: contacts.length - inserted.size },
    });
    return {
      contacts,
      existingIds: contacts.flatMap(({ id }) => (inserted.has(id) ? [] : [id])),
      suppressedIds: contacts.flatMap(({ id, email }) => (suppressed.has(email) ? [id] : [])),
    };
  });
}

function draftOf(person: CataloguePerson): ContactDraft {
  const { company } = person;
  const fields = {
    source_email_status: person.email_status || 'unknown',
    job_title: person.title,
    seniority: person.seniority,
    department: person.department,
    country: person.country,
    state: person.state,
    city: person.city,
    linkedin_url: person.linkedin_url,
    company_domain: company?.domain ?? '',
    catalogue_person_id: person.id,
  };
  return {
    email: person.email,
    firstName: person.first_name.slice(0, CONTACT_LIMITS.name),
    lastName: person.last_name.slice(0, CONTACT_LIMITS.name),
    company: (company?.name ?? '').slice(0, CONTACT_LIMITS.company),
    phone: person.phone.slice(0, CONTACT_LIMITS.phone),
    customFields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
    subscribed: true,
  };
}
