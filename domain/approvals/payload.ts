import type { ApprovalContent } from '../../db/json-columns.ts';
import { sha256 } from '../../lib/crypto.ts';

/** Maximum number of sample emails that are shown to an approver. They are shown as their recipients would see them. */
export const MAX_SAMPLES = 3;

/**
 * Returns the hash of the content about which an approver decides. Equal contents have equal hashes, even if the order
 * of keys differs or the content was stored and read again. Undefined properties are ignored.
 * @returns SHA-256, hex
 */
export function hashContent(content: ApprovalContent): string {
  return sha256(canonicalJson(content));
}

/**
 * Returns the hash of a list of recipients, for `recipients.fingerprint`. The order and the case of letters are
 * ignored.
 */
export function hashRecipients(addresses: readonly string[]): string {
  return sha256([...new Set(addresses.map((address) => address.toLowerCase()))].sort().join('\n'));
}

/** Serializes a value as JSON with sorted keys and without spaces, so that equal values give equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
