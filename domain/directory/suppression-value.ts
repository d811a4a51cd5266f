import { isAddress, parseAddress } from './address.ts';

/** A parsed suppression value. `email` is lower-case; the bare host for a domain. */
export interface SuppressionTarget {
  kind: 'email' | 'domain';
  email: string;
}

/**
 * Parses a value of POST /suppressions: with an `@` inside an address, a bare host with or without a leading `@` a domain.
 * Null when it is neither.
 */
export function parseSuppression(value: string): SuppressionTarget | null {
  const text = value.trim().toLowerCase();
  if (text.lastIndexOf('@') > 0) {
    const email = parseAddress(text);
    return email ? { kind: 'email', email } : null;
  }
  const host = text.replace(/^@/, '');
  return isAddress(`x@${host}`) ? { kind: 'domain', email: host } : null;
}
