import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { parseAddress, parseAddresses } from '../../../lib/address.ts';
import { cleanText, CONTACT_LIMITS, customFieldsFit, type ContactDraft } from '../../directory/contact-fields.ts';
import { isStatusHeader } from './consent-headers.ts';
import { permissionReader, type Permission } from './consent.ts';
import type { CsvRecord } from './records.ts';
import { isSpreadsheetError } from './spreadsheet-error.ts';

/** Reasons for a row in the problem list. */
export const ROW_REASONS = [
  'missing_email',
  'invalid_email',
  'malformed_row',
  'too_many_cells',
  'broken_characters',
  'field_too_long',
  'too_many_fields',
  'duplicate_in_file',
  'already_exists',
  'suppressed',
  'unclear_permission',
] as const;
export type RowReason = (typeof ROW_REASONS)[number];

/** Prefix of mapping targets for custom fields, e.g. `custom:industry`. */
export const CUSTOM = 'custom:';
/** Name of the custom field for the further addresses of a cell with several. */
const OTHER_EMAILS = 'other_emails';
const FORMULA_GUARD = /^'[=+\-@＝＋－＠\t|]/;
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;
const EQUALS = 61;
const QUOTE = 34;
const APOSTROPHE = 39;

/** An opt-out, bounce or unclear permission found in a row. */
export interface OptOut {
  email: string;
  /** For `opted_out` and `bounced` a suppression entry is added. `unclear`: the cell was not understood. */
  state: Exclude<Permission, 'given'>;
  /** Name of the column that contains the statement. */
  column: string;
}

/** A person read from a row. */
export interface Person {
  draft: ContactDraft;
  categories: string[];
  optOut?: OptOut;
}

/** Mapping of a file's columns, and its separator. */
export interface RowMeaning {
  mapping: readonly ColumnMapping[];
  /** Names of all columns, in order. */
  columns: readonly string[];
  delimiter: string;
}

/** A row that is not imported, although an opt-out in it is applied. */
interface Refused {
  reason: RowReason;
  email: string;
  optOut?: OptOut;
}

/** Converts rows to people by a mapping. */
export interface RowReader {
  read(record: CsvRecord): Person | Refused;
}

/**
 * Creates a reader for a mapping, once for all rows of a file. The reader trims cells, and removes the apostrophe that
 * exports put before a formula.
 */
export function rowReader({ mapping, columns, delimiter }: RowMeaning): RowReader {
  const at = (target: string) => mapping.find((column) => column.target === target)?.index ?? -1;
  const [email, first, last] = [at('email'), at('first_name'), at('last_name')];
  const [company, phone, categories] = [at('company'), at('phone'), at('categories')];
  const custom = mapping
    .filter((column) => column.target.startsWith(CUSTOM))
    .map(({ index, target }) => ({ index, key: target.slice(CUSTOM.length) }));
  const used = mapping.filter(({ target }) => target !== 'ignore').map(({ index }) => index);
  const permission = rowPermission(mapping, columns);
  const inText = separatorInText(delimiter);
  return {
    read({ values, raw }) {
      if (!values) return { reason: 'malformed_row', email: '' };
      const written = cell(values, email);
      const addresses = addressesIn(written);
      const [address] = addresses;
      const refuse = (reason: RowReason): Refused => ({ reason, email: address ?? written.slice(0, 254) });
      if (hasShifted(values, columns.length, () => inText(raw))) return refuse('too_many_cells');
      if (!written) return refuse('missing_email');
      if (!address) return refuse('invalid_email');
      const { state, column } = permission(values);
      const optOut = state === 'given' ? {} : { optOut: { email: address, state, column } };
      if (used.some((index) => values[index]?.includes('\ufffd'))) return { ...refuse('broken_characters'), ...optOut };
      const draft: ContactDraft = {
        email: address,
        firstName: cell(values, first),
        lastName: cell(values, last),
        company: cell(values, company),
        phone: cell(values, phone),
        customFields: {},
        subscribed: state === 'given',
      };
      for (const { index, key } of custom) {
        const value = cell(values, index);
        if (value) draft.customFields[key] = value;
      }
      if (addresses.length > 1) draft.customFields[OTHER_EMAILS] ??= addresses.slice(1).join(', ');
      if (tooLong(draft)) return { ...refuse('field_too_long'), ...optOut };
      if (!customFieldsFit(draft.customFields)) return { ...refuse('too_many_fields'), ...optOut };
      return { draft, categories: categories === -1 ? [] : titles(cell(values, categories)), ...optOut };
    },
  };
}

function addressesIn(written: string): string[] {
  const address = parseAddress(written);
  return address ? [address] : parseAddresses(written);
}

/**
 * Returns true if a row has more cells than columns, because a separator within a text has shifted the following cells.
 * Additional blank cells at the end are ignored, unless a separator is followed by a space, as in text.
 */
function hasShifted(values: readonly string[], columns: number, hasTextSeparator: () => boolean): boolean {
  if (values.length <= columns) return false;
  return values.some((value, index) => index >= columns && value.trim()) || hasTextSeparator();
}

/**
 * Returns a function that returns true if a separator of a row is probably part of a text. This is so if at least one
 * but at most half of the separators before filled cells are followed by a space.
 */
function separatorInText(delimiter: string): (raw: string) => boolean {
  return (raw) => {
    const behind = raw
      .split(delimiter)
      .slice(1)
      .filter((text) => text.trim());
    const spaced = behind.filter((text) => text.startsWith(' ')).length;
    return spaced > 0 && spaced <= behind.length / 2;
  };
}

/** Permissions from the strictest to the least strict. If the columns of a row differ, the strictest one wins. */
const BY_STRENGTH: readonly Permission[] = ['bounced', 'opted_out', 'unclear', 'withheld', 'given'];

/**
 * Creates the reader of all permission columns. State columns are included unless they are mapped to a standard field.
 */
function rowPermission(
  mapping: readonly ColumnMapping[],
  columns: readonly string[],
): (values: readonly string[]) => { state: Permission; column: string } {
  const targets = new Map(mapping.map(({ index, target }) => [index, target]));
  const readers = columns.flatMap((column, index) => {
    const target = targets.get(index) ?? 'ignore';
    if (target === 'subscribed' || target === 'unsubscribed' || target === 'bounced')
      return { index, column, read: permissionReader(target, column) };
    const isFree = target === 'ignore' || target.startsWith(CUSTOM);
    return isFree && isStatusHeader(column) ? { index, column, read: permissionReader('status', column) } : [];
  });
  return (values) => {
    let found: { state: Permission; column: string } = { state: 'given', column: '' };
    for (const { index, column, read } of readers) {
      const state = read(shownCell(values, index));
      if (BY_STRENGTH.indexOf(state) < BY_STRENGTH.indexOf(found.state)) found = { state, column };
    }
    return found;
  };
}

/** Returns the text of a cell, or an empty text for a failed formula. */
function cell(values: readonly string[], index: number): string {
  const text = shownCell(values, index);
  return isSpreadsheetError(text) ? '' : text;
}

function shownCell(values: readonly string[], index: number): string {
  const value = values[index];
  if (value === undefined) return '';
  const text = cleanText(value);
  const start = text.charCodeAt(0);
  if (start === APOSTROPHE && FORMULA_GUARD.test(text)) return text.slice(1);
  // Exports write `="0151"`, so that spreadsheets keep the zero.
  if (start === EQUALS) return TEXT_FORMULA.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  // A space after the closing quote prevents the parser from recognizing the quotes.
  return start === QUOTE && text.length > 1 && text.endsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
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
        .split(/[;,|]|:::/)
        .map((title) => title.replace(/^[\s"]+|[\s"]+$/g, '').toLowerCase())
        .filter((title) => title && !title.startsWith('* '))
    : [];
}
