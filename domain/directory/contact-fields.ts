/** Lengths of a contact's fields at most, in characters; the API, the import and the editor share them. */
export const CONTACT_LIMITS = {
  name: 200,
  company: 200,
  phone: 60,
  customFields: 100,
  customKey: 64,
  customValue: 5000,
  /** Names and values of all custom fields of a contact together. A page of contacts has a hundred of them, a bulk answer fifty thousand. */
  customTotal: 50_000,
} as const;

/** Whether a contact may have all of these custom fields together. */
export function fitCustomFields(fields: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(fields);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return entries.length <= CONTACT_LIMITS.customFields && total <= CONTACT_LIMITS.customTotal;
}

/** Values of the sentences about custom fields that do not {@link fitCustomFields}. */
export const MOST_FIELDS = { max: CONTACT_LIMITS.customFields, characters: CONTACT_LIMITS.customTotal };

/**
 * SQL condition: what becomes of a contact's custom fields is within the limits, or no more than it has had. Nothing but merging makes more of them than a
 * request may name.
 */
export function fieldsFit(before: string, after: string): string {
  const count = (fields: string) => `(select count(*) from jsonb_object_keys(${fields}))`;
  const total = (fields: string) =>
    `(select coalesce(sum(length(f.key) + length(f.value)), 0) from jsonb_each_text(${fields}) f)`;
  return `(${before} = ${after} or (${count(after)} <= greatest(${CONTACT_LIMITS.customFields}, ${count(before)})
    and ${total(after)} <= greatest(${CONTACT_LIMITS.customTotal}, ${total(before)})))`;
}

/** The one name that a field cannot have: assigned like any other, it changes the kind of the object, and is no field of it. */
export const LOST_NAME = '__proto__';

/** Whether a custom field may have this name. */
export function isCustomKey(name: string): boolean {
  return name.length > 0 && name.length <= CONTACT_LIMITS.customKey && !name.includes('\0') && name !== LOST_NAME;
}

/** The fields of a contact to store; empty text means "not given". `email` is lower-case. */
export interface ContactDraft {
  email: string;
  firstName: string;
  lastName: string;
  company: string;
  phone: string;
  customFields: Record<string, string>;
  /** False when the data says that the person has opted out. */
  subscribed: boolean;
  /** The entry of the suppression list for which it is false. */
  unsubscribedBy?: string | null;
}

/** Text in composed form (NFC), without the surrounding space, and without NUL, which PostgreSQL cannot store. */
export function cleanText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).normalize('NFC').trim();
}

/** Custom fields with clean keys and values; empty values are left out unless `keepEmpty`. */
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
