/**
 * Small readers for the pieces incoming mail is made of: header blocks (RFC 5322 section 2.2, reused by RFC
 * 3464 and RFC 5965 report parts), message ids and bare addresses. All of them are linear in their input.
 */

const MAX_MESSAGE_IDS = 100;

/**
 * Fields of one header-like block: lower-cased name to its values, in order of appearance, unfolded and
 * trimmed.
 */
export type Fields = ReadonlyMap<string, readonly string[]>;

/**
 * Reads a header block (or one group of report fields) up to its first empty line.
 *
 * Lines that are neither a field nor a continuation are skipped, since mail systems do put stray lines there.
 */
export function parseFields(block: string): Fields {
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of block.split(/\r?\n/)) {
    if (line.trim() === '') {
      if (fields.size > 0) break;
      continue;
    }
    if (/^[ \t]/.test(line)) {
      if (current) current.push(`${current.pop() ?? ''} ${line.trim()}`.trim());
      continue;
    }
    const colon = line.indexOf(':');
    const name = colon > 0 ? line.slice(0, colon).trim().toLowerCase() : '';
    if (!/^[!-9;-~]{1,76}$/.test(name)) {
      current = undefined;
      continue;
    }
    current = fields.get(name) ?? [];
    current.push(line.slice(colon + 1).trim());
    fields.set(name, current);
  }
  return fields;
}

/** The first value of a field that is not empty, or null. */
export function fieldValue(fields: Fields, name: string): string | null {
  return fields.get(name)?.find((value) => value !== '') ?? null;
}

/**
 * Message ids in a header value, normalised to `<local@host>`, without duplicates, in order of appearance.
 *
 * A value without any angle bracket is read as bare ids, which some mail clients write. At most the last 100
 * ids are kept: the newest of a very long thread.
 */
export function messageIdsIn(value: string | null | undefined): string[] {
  if (!value) return [];
  const bracketed = Array.from(value.matchAll(/<([^<>\s]{1,990})>/g), (match) => match[1] ?? '');
  const ids =
    bracketed.length > 0
      ? bracketed
      : value.split(/[\s,;]+/).filter((word) => /^[^@<>]{1,500}@[^@<>]{1,490}$/.test(word));
  return [...new Set(ids.map((id) => `<${id}>`))].slice(-MAX_MESSAGE_IDS);
}

/**
 * Matches a plausible mailbox address; deliberately looser than a validator, since bounces quote what they
 * were given.
 */
const ADDRESS = /[^\s<>()[\]:;,"'@\\]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,252}[\p{L}\p{N}])?/gu;

/** All addresses in a text, lower-cased, without duplicates, in order of appearance (at most `limit`). */
export function addressesIn(text: string, limit = 50): string[] {
  const found = new Set<string>();
  for (const match of text.matchAll(ADDRESS)) {
    found.add(match[0].toLowerCase());
    if (found.size >= limit) break;
  }
  return [...found];
}

/**
 * The address in a report field such as `rfc822; user@example.com` or `<user@example.com>`, lower-cased,
 * or null.
 */
export function addressInField(value: string | null): string | null {
  if (value === null) return null;
  const semicolon = value.indexOf(';');
  const rest = semicolon >= 0 ? value.slice(semicolon + 1) : value;
  return addressesIn(rest.slice(0, 1000), 1)[0] ?? null;
}
