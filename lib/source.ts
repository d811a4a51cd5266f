import ipaddr from 'ipaddr.js';

/** IPv6 sources count by network: whoever has one address has all of its /64. */
const SOURCE_BITS = 64;
/** What one customer of a provider may be given: 65,536 sources. */
const SITE_BITS = 48;

/**
 * What requests of one source are counted under: an IPv4 address as it is, also when it comes mapped into IPv6, and an
 * IPv6 address as its /64.
 */
export function toSource(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${SOURCE_BITS}`).toString();
}

/** The /48 around an IPv6 address, which may be all of one customer; undefined for any other address. */
export function toSite(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return undefined;
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${SITE_BITS}`).toString();
}
