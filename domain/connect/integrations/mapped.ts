import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { ActionContact, Provider } from './providers/provider.ts';

export type Mapping = Pick<
  Row<'integration_field_mappings'>,
  'subscription_id' | 'source_field' | 'external_field' | 'transform' | 'static_value'
>;

/** Prefix of custom fields: `custom.plan`. */
export const CUSTOM_PREFIX = 'custom.';
/** Fields of a contact that can be mapped, beside custom ones. */
export const SOURCE_FIELDS = ['email', 'first_name', 'last_name', 'name', 'company', 'phone'] as const;

/** The mappings of a connection that its contacts are written by: its own, or those of its provider. */
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
 * A contact's fields under the provider's names. Mappings of the subscription itself come after those of the connection, and win. Fields that the contact has no value for are
 * left out, so that nothing at the provider is emptied.
 */
export function fieldsFor(
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
    // A key such as `constructor` names what every object inherits, and no field of the contact.
    return Object.hasOwn(contact.custom_fields, key) ? contact.custom_fields[key]! : '';
  }
  if (field === 'name') return `${contact.first_name} ${contact.last_name}`.trim();
  const plain = SOURCE_FIELDS.find((known) => known === field);
  return plain && plain !== 'name' ? contact[plain] : '';
}
