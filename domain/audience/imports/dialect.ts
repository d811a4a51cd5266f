import { parseAddress } from '../../../lib/address.ts';
import type { ColumnMapping } from '../../../db/models/contact-import.ts';
import { CONTACT_LIMITS } from '../../directory/contact-fields.ts';
import { CUSTOM } from './rows.ts';

/** Separators that spreadsheets write. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Usual header names of the fields that every contact has. */
const SYNONYMS: Record<string, readonly string[]> = {
  email: [
    'email',
    'emailaddress',
    'mail',
    'workemail',
    'businessemail',
    'primaryemail',
    'contactemail',
    'correo',
    'courriel',
  ],
  first_name: ['firstname', 'first', 'givenname', 'forename', 'vorname', 'prenom', 'nombre', 'imie'],
  last_name: ['lastname', 'last', 'surname', 'familyname', 'nachname', 'nom', 'apellido', 'nazwisko'],
  company: [
    'company',
    'companyname',
    'organization',
    'organisation',
    'account',
    'employer',
    'firma',
    'entreprise',
    'empresa',
  ],
  phone: ['phone', 'phonenumber', 'mobile', 'telephone', 'tel', 'cell', 'telefon'],
  subscribed: ['subscribed', 'optin', 'marketingconsent', 'newsletter'],
  categories: ['categories', 'category', 'tags', 'labels'],
};

/** The separator that splits the first lines most evenly; a comma when none does. */
export function detectDelimiter(sample: string): string {
  const lines = sample
    .split('\n')
    .filter((line) => line.trim())
    .slice(0, 20);
  let best: string = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => countOutsideQuotes(line, delimiter));
    const header = counts[0] ?? 0;
    const agreeing = counts.filter((count) => count === header).length;
    const score = header === 0 ? 0 : header + (10 * agreeing) / lines.length;
    if (score > bestScore) [best, bestScore] = [delimiter, score];
  }
  return best;
}

function countOutsideQuotes(line: string, delimiter: string): number {
  let count = 0;
  let quoted = false;
  for (const char of line) {
    if (char === '"') quoted = !quoted;
    else if (char === delimiter && !quoted) count += 1;
  }
  return count;
}

/** Whether the first row names columns: it has no address, and all its cells differ. */
export function looksLikeHeader(row: readonly string[]): boolean {
  const cells = row.map((cell) => cell.trim().toLowerCase()).filter(Boolean);
  return cells.length > 0 && !cells.some((cell) => parseAddress(cell)) && new Set(cells).size === cells.length;
}

/** Names of columns: the header's, invented where it has none. */
export function columnNames(first: readonly string[], { hasHeader }: { hasHeader: boolean }): string[] {
  return first.map((cell, index) => (hasHeader && cell.trim()) || `Column ${index + 1}`);
}

/**
 * A suggestion for each column: known fields by their usual names, the address by its content, every other column with a
 * header a custom field under a name that templates can use, up to as many as a contact has.
 */
export function suggestMapping(
  columns: readonly string[],
  { hasHeader, sample }: { hasHeader: boolean; sample: readonly (readonly string[])[] },
): ColumnMapping[] {
  const taken = new Set<string>();
  const claim = (target: string): boolean => !taken.has(target) && Boolean(taken.add(target));
  let room: number = CONTACT_LIMITS.customFields;
  const claimCustom = (key: string): boolean => room > 0 && claim(`${CUSTOM}${key}`) && room-- > 0;
  const mapping = columns.map((column, index): ColumnMapping => {
    const plain = column
      .normalize('NFD')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '');
    const known = hasHeader ? Object.keys(SYNONYMS).find((target) => SYNONYMS[target]!.includes(plain)) : undefined;
    if (known && claim(known)) return { index, target: known };
    const key = column
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, CONTACT_LIMITS.customKey);
    return { index, target: hasHeader && key && claimCustom(key) ? `${CUSTOM}${key}` : 'ignore' };
  });
  if (!taken.has('email')) {
    const index = columns.findIndex((_, column) => sample.some((row) => parseAddress(row[column] ?? '')));
    if (index !== -1) mapping[index] = { index, target: 'email' };
  }
  return mapping;
}
