import { asciiHost, isAddress, parseAddresses, withoutShapeless } from '../../lib/address.ts';

/** A parsed suppression value. `email` is a canonical address, or the bare host for a domain. */
export interface SuppressionTarget {
  kind: 'email' | 'domain';
  email: string;
}

export const SUPPRESSION_FAULTS = ['empty', 'not_an_address', 'not_a_domain'] as const;
/** Reason why a value of POST /suppressions was refused. */
export type SuppressionFault = (typeof SUPPRESSION_FAULTS)[number];

/** Matches what may precede a host in an entry: a URL scheme, and `@`, `*@` or `*.`. */
const BEFORE_HOST = /^(?:https?:\/\/)?(?:\*?@|\*\.)?/;

/**
 * Parses a value of POST /suppressions. A text with an `@` after its first character is one or several addresses. A
 * bare host, also with a leading `@`, is a domain. For any other text, returns the reason of the refusal.
 */
export function parseSuppression(value: string): SuppressionTarget[] | SuppressionFault {
  const emails = parseAddresses(value);
  if (emails.length > 0) return emails.map((email) => ({ kind: 'email', email }));
  const text = withoutShapeless(value)
    .trim()
    .replace(/[\s,;./]+$/, '')
    .toLowerCase();
  if (text === '' || text === '@') return 'empty';
  const host = asciiHost(text.replace(BEFORE_HOST, ''));
  if (host.includes('@')) return 'not_an_address';
  return isAddress(`x@${host}`) ? [{ kind: 'domain', email: host }] : 'not_a_domain';
}
