/** Maximum lengths (characters) of a contact's fields, shared by the API, the import and the editor. */
export const CONTACT_LIMITS = {
  name: 200,
  company: 200,
  phone: 60,
  customFields: 100,
  customKey: 64,
  customValue: 5000,
  /**
   * Maximum total length of the names and values of a contact's custom fields. The limit keeps responses small: a page
   * has a hundred contacts, a bulk response fifty thousand.
   */
  customTotal: 50_000,
} as const;

/** Returns true if a contact may have all of these custom fields together. */
export function customFieldsFit(fields: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(fields);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length <= CONTACT_LIMITS.customFields && total <= CONTACT_LIMITS.customTotal;
}

/** Values for messages about custom fields that exceed the limits of {@link customFieldsFit}. */
export const CUSTOM_FIELD_LIMITS = { max: CONTACT_LIMITS.customFields, characters: CONTACT_LIMITS.customTotal };

/**
 * Returns the SQL condition that a contact's new custom fields are within the limits, or exceed them no more than
 * before. A contact can exceed the limits because contacts were merged.
 */
export function customFieldsFitSql(before: string, after: string): string {
  const count = (fields: string) => `(select count(*) from jsonb_object_keys(${fields}))`;
  const total = (fields: string) =>
    `(select coalesce(sum(length(f.key) + length(f.value)), 0) from jsonb_each_text(${fields}) f)`;
  return `(${before} = ${after} or (${count(after)} <= greatest(${CONTACT_LIMITS.customFields}, ${count(before)})
    and ${total(after)} <= greatest(${CONTACT_LIMITS.customTotal}, ${total(before)})))`;
}

/**
 * The only name that a custom field cannot have. Assigning it changes the prototype of the object instead of adding a
 * field.
 */
export const FORBIDDEN_KEY = '__proto__';

/** Returns true if a custom field may have this name. */
export function isCustomKey(name: string): boolean {
  return name.length > 0 && name.length <= CONTACT_LIMITS.customKey && !name.includes('\0') && name !== FORBIDDEN_KEY;
}

/** Fields of a contact to store. A field with an empty text is not set. `email` is in lower case. */
export interface ContactDraft {
  email: string;
  firstName: string;
  lastName: string;
  company: string;
  phone: string;
  customFields: Record<string, string>;
  /** False if the data states that the person has opted out. */
  subscribed: boolean;
  /** Id of the suppression entry that made `subscribed` false. */
  unsubscribedBy?: string | null;
}

/** Returns text in composed form (NFC), trimmed, and without NUL, which PostgreSQL cannot store. */
export function cleanText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).normalize('NFC').trim();
}

/** Returns custom fields with clean keys and values. Empty values are omitted unless `keepEmpty` is set. */
export function cleanCustomFields(
  fields: Readonly<Record<string, string>>,
  { keepEmpty = false }: { keepEmpty?: boolean } = {},
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [key, value] of Object.entries(fields)) {
    const name = cleanText(key);
    const text = cleanText(value);
    if (name && (text || keepEmpty)) out[name] = text;
  }
  return out;
}
