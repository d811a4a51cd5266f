import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { parseAddress } from '../../../lib/address.ts';
import { cleanText, CONTACT_LIMITS, fitCustomFields, type ContactDraft } from '../../directory/contact-fields.ts';

/** Why a row was not imported; shown in the problem list. */
export type RowReason =
  | 'missing_email'
  | 'invalid_email'
  | 'malformed_row'
  | 'field_too_long'
  | 'too_many_fields'
  | 'duplicate_in_file'
  | 'already_exists'
  | 'suppressed';

/** How the target of a column that becomes a custom field begins; its key follows. */
export const CUSTOM = 'custom:';
const NO = new Set(['false', 'no', 'n', '0', 'off', 'unsubscribed', 'opted out', 'opt-out', 'optout', 'nein', 'non']);
const FORMULA_GUARD = /^'[=+\-@\t]/;

/** Reads rows by the meaning of their columns; made once for many rows. */
export interface RowReader {
  read(values: readonly string[]): ReadRow;
}

type ReadRow = { draft: ContactDraft; categories: string[] } | { reason: RowReason; email: string };

/** Makes the reader of a mapping. Cells are trimmed; the apostrophe that exports put before a formula is removed. */
export function rowReader(mapping: readonly ColumnMapping[]): RowReader {
  const at = (target: string) => mapping.find((column) => column.target === target)?.index ?? -1;
  const email = at('email');
  const first = at('first_name');
  const last = at('last_name');
  const company = at('company');
  const phone = at('phone');
  const subscribed = at('subscribed');
  const categories = at('categories');
  const custom = mapping
    .filter((column) => column.target.startsWith(CUSTOM))
    .map((column) => ({ index: column.index, key: column.target.slice(CUSTOM.length) }));
  return {
    read(values) {
      const written = cell(values, email);
      if (!written) return { reason: 'missing_email', email: '' };
      const address = parseAddress(written);
      if (!address) return { reason: 'invalid_email', email: written.slice(0, 254) };
      const draft: ContactDraft = {
        email: address,
        firstName: cell(values, first),
        lastName: cell(values, last),
        company: cell(values, company),
        phone: cell(values, phone),
        customFields: {},
        subscribed: subscribed === -1 || !NO.has(cell(values, subscribed).toLowerCase()),
      };
      for (const { index, key } of custom) {
        const value = cell(values, index);
        if (value) draft.customFields[key] = value;
      }
      if (tooLong(draft)) return { reason: 'field_too_long', email: address };
      if (!fitCustomFields(draft.customFields)) return { reason: 'too_many_fields', email: address };
      return { draft, categories: categories === -1 ? [] : titles(cell(values, categories)) };
    },
  };
}

function cell(values: readonly string[], index: number): string {
  const value = values[index];
  if (value === undefined) return '';
  const text = cleanText(value);
  return text.charCodeAt(0) === 39 && FORMULA_GUARD.test(text) ? text.slice(1) : text;
}

function tooLong(draft: ContactDraft): boolean {
  return (
    draft.firstName.length > CONTACT_LIMITS.name ||
    draft.lastName.length > CONTACT_LIMITS.name ||
    draft.company.length > CONTACT_LIMITS.company ||
    draft.phone.length > CONTACT_LIMITS.phone ||
    Object.values(draft.customFields).some((value) => value.length > CONTACT_LIMITS.customValue)
  );
}

function titles(text: string): string[] {
  return text
    ? text
        .split(/[;,|]/)
        .map((title) => title.trim().toLowerCase())
        .filter(Boolean)
    : [];
}
