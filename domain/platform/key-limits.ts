import ipaddr from 'ipaddr.js';

/** Requests per minute of a key without its own limit, and of an OAuth grant. */
export const DEFAULT_KEY_RATE = 60;

/** Limits of an API key: source IP addresses, mailboxes, request rate, and expiry. */
export interface KeyLimits {
  /** Addresses and CIDR ranges. Empty allows any source. */
  allowed_ips: readonly string[];
  /** Mailbox ids. Empty allows all. */
  allowed_email_accounts: readonly string[];
  expires_at: Date | null;
  /** Maximum number of requests per minute. 0 means the default. */
  rate_limit_per_minute: number;
}

/** Returns the names of the limits in `given` that allow more than those in `held`. */
export function freerLimits(held: KeyLimits, given: KeyLimits): string[] {
  const freer: string[] = [];
  if (beyond(held.allowed_ips, given.allowed_ips, coversRange)) freer.push('allowed_ips');
  if (beyond(held.allowed_email_accounts, given.allowed_email_accounts, (a, b) => a === b.toLowerCase()))
    freer.push('allowed_email_accounts');
  if (held.expires_at && (!given.expires_at || given.expires_at > held.expires_at)) freer.push('expires_at');
  if (perMinute(given) > perMinute(held)) freer.push('rate_limit_per_minute');
  return freer;
}

/** Returns true for a usable entry of `allowed_ips`: an address or a CIDR range. */
export function isIpRange(entry: string): boolean {
  if (entry.includes('/')) return ipaddr.isValidCIDR(entry);
  // Refuses short forms such as 10.1, which the library accepts but most people would misunderstand.
  return ipaddr.isValid(entry) && (entry.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(entry));
}

function perMinute({ rate_limit_per_minute: limit }: KeyLimits): number {
  return limit || DEFAULT_KEY_RATE;
}

/** Returns true if the list `given` permits more than the list `held`. An empty list permits everything. */
function beyond(
  held: readonly string[],
  given: readonly string[],
  covers: (outer: string, inner: string) => boolean,
): boolean {
  if (held.length === 0) return false;
  return given.length === 0 || given.some((inner) => !held.some((outer) => covers(outer, inner)));
}

function coversRange(outer: string, inner: string): boolean {
  const [outerBase, outerBits] = range(outer);
  const [innerBase, innerBits] = range(inner);
  return (
    outerBase.kind() === innerBase.kind() &&
    innerBits >= outerBits &&
    (innerBase as ipaddr.IPv4).match(outerBase as ipaddr.IPv4, outerBits)
  );
}

function range(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
