import ipaddr from 'ipaddr.js';

/**
 * Prefix length of the IPv6 network that counts as one source, because the user of one address controls its whole /64.
 */
const SOURCE_BITS = 64;
/**
 * Prefix length (bits) of the largest IPv6 network that a provider usually assigns to one customer. Such a network
 * contains 65,536 sources.
 */
const SITE_BITS = 48;

/**
 * Returns the key under which the requests of one source are counted. An IPv4 address is returned unchanged, and an
 * IPv4-mapped IPv6 address as IPv4. An IPv6 address becomes its /64.
 */
export function toSource(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${SOURCE_BITS}`).toString();
}

/** Returns the /48 around an IPv6 address, which may belong to one customer. Undefined for any other address. */
export function toSite(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return undefined;
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${SITE_BITS}`).toString();
}
