import type { Row } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { EventData } from '../platform/kernel/event-payloads.ts';

/** A contact in API responses: the row, its campaigns, its categories. */
export interface ContactView extends Omit<Row<'contacts'>, 'organization_id'> {
  campaigns: { id: string; name: string }[];
  categories: { id: string; title: string; color: string }[];
}

/**
 * SQL select list of a {@link ContactView} over `contacts c`. Uses one statement, so that a page costs one round trip.
 */
export const CONTACT_VIEW = `c.id, c.email, c.first_name, c.last_name, c.company, c.phone, c.custom_fields, c.subscribed,
  c.verification_status, c.verification_reason, c.is_catch_all, c.verification_checked_at, c.esp_provider, c.esp_resolved_at,
  c.source, c.source_detail, c.created_at, c.updated_at,
  (select coalesce(json_agg(json_build_object('id', m.id, 'name', m.name) order by e.id), '[]')
     from enrollments e join campaigns m on m.id = e.campaign_id where e.contact_id = c.id) as campaigns,
  (select coalesce(json_agg(json_build_object('id', l.id, 'title', l.title, 'color', l.color) order by l.position, l.id), '[]')
     from contact_categories f join labels l on l.id = f.label_id where f.contact_id = c.id) as categories`;

/** Returns contacts by id, in the order of the ids. Unknown ids are omitted. */
export async function viewContacts(org: OrgScope, ids: readonly string[]): Promise<ContactView[]> {
  if (ids.length === 0) return [];
  return org.sql<ContactView>(
    `select ${CONTACT_VIEW} from contacts c
     join unnest(cast(:ids as uuid[])) with ordinality as asked(id, place) on asked.id = c.id
     where c.organization_id = :org order by asked.place`,
    { ids },
  );
}

/**
 * Returns the payload of contact.created. The payload of contact.updated contains the same object, in addition to
 * `entity_id`.
 */
export function contactPayload(contact: ContactView): EventData<'contact.created'> {
  return {
    contact_id: contact.id,
    contact_email: contact.email,
    first_name: contact.first_name,
    last_name: contact.last_name,
    company: contact.company,
    phone: contact.phone,
    subscribed: contact.subscribed,
    custom_fields: contact.custom_fields,
    source: contact.source,
    source_detail: contact.source_detail,
    campaign_ids: contact.campaigns.map(({ id }) => id),
    category_ids: contact.categories.map(({ id }) => id),
    created_at: contact.created_at.toISOString(),
  };
}

/** Returns the payload of contact.updated for one contact. */
export function contactUpdate(contact: ContactView): EventData<'contact.updated'> {
  return { entity_id: contact.id, ...contactPayload(contact), updated_at: contact.updated_at.toISOString() };
}
