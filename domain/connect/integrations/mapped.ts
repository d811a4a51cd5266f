import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { ActionContact, Provider } from './providers/provider.ts';

export type Mapping = Pick<
  Row<'integration_field_mappings'>,
  'subscription_id' | 'source_field' | 'external_field' | 'transform' | 'static_value'
>;

/** Prefix of custom fields, as in `custom.plan`. */
export const CUSTOM_PREFIX = 'custom.';
/** Contact fields that can be mapped, in addition to custom fields. */
export const SOURCE_FIELDS = ['email', 'first_name', 'last_name', 'name', 'company', 'phone'] as const;

/** Returns the mappings with which contacts are written to a connection: its own, or the defaults of its provider. */
export async function readMappings(
  org: OrgScope,
  { id }: { id: string },
  { push }: Provider,
): Promise<readonly Mapping[]> {
  const rows = await org.sql<Mapping>(
    `select subscription_id, source_field, external_field, transform, static_value from integration_field_mappings
     where organization_id = :org and connection_id = :id and direction <> 'pull' order by position`,
    { id },
  );
  if (rows.length > 0) return rows;
  return (push?.defaults ?? []).map(({ from, to }) => ({
    subscription_id: null,
    source_field: from,
    external_field: to,
    transform: 'none' as const,
    static_value: '',
  }));
}

/**
 * Maps a contact's fields to the provider's names. Mappings of the subscription override those of the connection.
 * Fields without a value are omitted, so that no field at the provider is cleared.
 */
export function mappedFields(
  mappings: readonly Mapping[],
  contact: ActionContact,
  subscriptionId: string | null,
): Record<string, string> {
  const fields: Record<string, string> = {};
  const own = mappings.filter(({ subscription_id: id }) => id !== null && id === subscriptionId);
  for (const mapping of [...mappings.filter(({ subscription_id: id }) => id === null), ...own]) {
    const value = transformed(mapping, contact);
    if (value !== '') fields[mapping.external_field] = value;
  }
  return fields;
}

function transformed({ transform, static_value: fixed, source_field: field }: Mapping, contact: ActionContact): string {
  if (transform === 'static') return fixed;
  const value = valueOf(contact, field);
  switch (transform) {
    case 'uppercase':
      return value.toUpperCase();
    case 'lowercase':
      return value.toLowerCase();
    case 'trim':
      return value.trim();
    default:
      return value;
  }
}

function valueOf(contact: ActionContact, field: string): string {
  if (field.startsWith(CUSTOM_PREFIX)) {
    const key = field.slice(CUSTOM_PREFIX.length);
    // `hasOwn` excludes keys such as `constructor`, which every object inherits.
    return Object.hasOwn(contact.custom_fields, key) ? contact.custom_fields[key]! : '';
  }
  if (field === 'name') return `${contact.first_name} ${contact.last_name}`.trim();
  const plain = SOURCE_FIELDS.find((known) => known === field);
  return plain && plain !== 'name' ? contact[plain] : '';
}
