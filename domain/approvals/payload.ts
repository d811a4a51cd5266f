import type { ApprovalContent } from '../../db/json-columns.ts';
import { sha256 } from '../../lib/crypto.ts';

/** Emails that an approver sees as their recipients would. */
export const MAX_SAMPLES = 3;

/**
 * The hash of what an approver decides on: equal for equal content, whatever the order of keys, and after it was stored and read
 * again. Properties that are undefined count as absent.
 * @returns SHA-256, hex
 */
export function hashContent(content: ApprovalContent): string {
  return sha256(canonicalJson(content));
}

/** The hash of a list of recipients, for `recipients.fingerprint`. Order and upper case make no difference. */
export function hashRecipients(addresses: readonly string[]): string {
  return sha256([...new Set(addresses.map((address) => address.toLowerCase()))].sort().join('\n'));
}

/** JSON with sorted keys and nothing between the tokens: one text per value. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
