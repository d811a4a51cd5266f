import { json } from '../../../db/connection.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { adoptPeople } from '../people/contacts.ts';
import { customFieldsFitSql, type ContactDraft } from '../../directory/contact-fields.ts';

/** Options of {@link upsertContacts}: how known addresses are handled, and the source of the contacts. */
export interface UpsertOptions {
  /**
   * Handling of a known address. `update` applies the non-empty fields, `fill` fills only empty fields, `keep` changes
   * nothing.
   */
  existing: 'update' | 'fill' | 'keep';
  /** Source of the contacts for the event `contact.created`: api, import or catalogue. */
  source: string;
  sourceDetail: string;
}

interface UpsertedContact {
  id: string;
  email: string;
  inserted: boolean;
}

/**
 * Returns SQL that merges a new contact (`excluded`) into a known one (`contacts`). Non-empty fields of `first` take
 * precedence over fields of `second`, and an opt-out of either is kept. A contact that would exceed the limit of custom
 * fields stays unchanged.
 */
const merge = (first: 'contacts' | 'excluded', second: 'contacts' | 'excluded'): string => `do update set
  ${['first_name', 'last_name', 'company', 'phone'].map((name) => `${name} = coalesce(nullif(${first}.${name}, ''), ${second}.${name})`).join(', ')},
  custom_fields = ${second}.custom_fields || ${first}.custom_fields,
  subscribed = contacts.subscribed and excluded.subscribed,
  unsubscribed_by = case when excluded.subscribed then contacts.unsubscribed_by
    when contacts.subscribed or excluded.unsubscribed_by is null then excluded.unsubscribed_by else contacts.unsubscribed_by end,
  updated_at = excluded.updated_at
  where ${customFieldsFitSql('contacts.custom_fields', `(${second}.custom_fields || ${first}.custom_fields)`)}`;

const ON_CONFLICT = {
  update: merge('excluded', 'contacts'),
  fill: merge('contacts', 'excluded'),
  keep: 'do nothing',
} as const;

/**
 * Stores contacts with distinct addresses in one statement. New ones are inserted, known ones are handled by
 * `options.existing`. An opt-out is applied and never removed. New contacts are linked to people whom product events
 * created with their addresses. Returns the stored contacts. With `keep` these are only the new ones, otherwise all
 * that do not exceed the limit of custom fields.
 */
export async function upsertContacts(
  tx: Tx,
  drafts: readonly ContactDraft[],
  options: UpsertOptions,
): Promise<UpsertedContact[]> {
  if (drafts.length === 0) return [];
  // Locks rows in order of address, so that two imports of the same people wait for each other and do not deadlock.
  const stored = await tx.org.sql<UpsertedContact>(
    `insert into contacts (id, organization_id, email, first_name, last_name, company, phone, custom_fields, subscribed, unsubscribed_by,
       source, source_detail, created_at, updated_at)
     select r.id, cast(:org as uuid), r.email, r.first_name, r.last_name, r.company, r.phone, cast(r.custom_fields as jsonb), r.subscribed, r.unsubscribed_by,
       :source, :detail, :now, :now
     from unnest(cast(:ids as uuid[]), cast(:emails as text[]), cast(:first as text[]), cast(:last as text[]), cast(:companies as text[]),
       cast(:phones as text[]), cast(:custom as text[]), cast(:subscribed as boolean[]), cast(:by as uuid[]))
       as r(id, email, first_name, last_name, company, phone, custom_fields, subscribed, unsubscribed_by)
     order by r.email
     on conflict on constraint contacts_email_key ${ON_CONFLICT[options.existing]}
     returning id, email, (xmax = 0) as inserted`,
    {
      source: options.source,
      detail: options.sourceDetail,
      now: tx.now,
      ids: drafts.map(() => newId()),
      emails: drafts.map((draft) => draft.email),
      first: drafts.map((draft) => draft.firstName),
      last: drafts.map((draft) => draft.lastName),
      companies: drafts.map((draft) => draft.company),
      phones: drafts.map((draft) => draft.phone),
      custom: drafts.map((draft) => json(draft.customFields)),
      subscribed: drafts.map((draft) => draft.subscribed),
      by: drafts.map((draft) => draft.unsubscribedBy ?? null),
    },
  );
  await adoptPeople(
    tx,
    stored.filter(({ inserted }) => inserted),
  );
  return stored;
}

/** Adds contacts to categories. Existing memberships stay. */
export async function addToCategories(
  org: OrgScope,
  contactIds: readonly string[],
  categoryIds: readonly string[],
): Promise<void> {
  if (contactIds.length === 0 || categoryIds.length === 0) return;
  await org.sql(
    `insert into contact_categories (organization_id, contact_id, label_id)
     select cast(:org as uuid), c.id, l.id from unnest(cast(:contacts as uuid[])) as c(id), unnest(cast(:labels as uuid[])) as l(id)
     order by 2, 3 on conflict do nothing`,
    { contacts: contactIds, labels: categoryIds },
  );
}

/** Removes contacts from categories. */
export async function removeFromCategories(
  org: OrgScope,
  contactIds: readonly string[],
  categoryIds: readonly string[],
): Promise<void> {
  if (contactIds.length === 0 || categoryIds.length === 0) return;
  await org.sql(
    `delete from contact_categories
     where organization_id = :org and contact_id = any(cast(:contacts as uuid[])) and label_id = any(cast(:labels as uuid[]))`,
    { contacts: contactIds, labels: categoryIds },
  );
}
