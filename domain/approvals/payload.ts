import type { ApprovalContent } from '../../db/json-columns.ts';
import { sha256 } from '../../lib/crypto.ts';

/** Maximum sample emails shown to an approver as their recipients would see them. */
export const MAX_SAMPLES = 3;

/**
 * Returns the hash of the content that an approver decides on. Equal content gives an equal hash, independent of key
 * order and of storing. Undefined properties count as absent.
 * @returns SHA-256, hex
 */
export function hashContent(content: ApprovalContent): string {
  return sha256(canonicalJson(content));
}

/** Returns the hash of a list of recipients, for `recipients.fingerprint`. Order and case make no difference. */
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
