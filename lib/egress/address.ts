import { BlockList, isIP } from 'node:net';

/**
 * Refused IPv4 blocks: the IANA special-purpose registry, and every other block that is not used for unicast hosts on
 * the public Internet. Includes blocks that the registry calls globally reachable but that no webhook receiver can use
 * (AS112, AMT relays, 6to4 relays).
 */
const REFUSED_IPV4 = [
  '0.0.0.0/8', // "this network"
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host agent: a public number that responds inside every Azure machine
  '169.254.0.0/16', // link-local, with the cloud metadata service at 169.254.169.254
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // reserved for examples in documentation
  '192.31.196.0/24', // AS112: DNS servers that answer reverse queries for private addresses
  '192.52.193.0/24', // AMT relays (multicast tunnels)
  '192.88.99.0/24', // relays of the withdrawn 6to4 protocol
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112: DNS servers that answer reverse queries for private addresses
  '198.18.0.0/15', // network benchmarks
  '198.51.100.0/24', // reserved for examples in documentation
  '203.0.113.0/24', // reserved for examples in documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, with the broadcast address
];

/** All global unicast IPv6 space that IANA has allocated so far. All other addresses are refused. */
const GLOBAL_IPV6 = ['2000::/3'];

/**
 * Exceptions within 2000::/3. Addresses that contain an IPv4 address (Teredo, 6to4, and outside 2000::/3 NAT64,
 * IPv4-mapped and IPv4-compatible) are refused without decoding. A translator on the network path could turn them into
 * a private address, and a public receiver does not need them.
 */
const REFUSED_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, AMT, ORCHID, drone tags
  '2001:db8::/32', // reserved for examples in documentation
  '2002::/16', // 6to4: addresses with an embedded IPv4 address
  '2620:4f:8000::/48', // AS112: DNS servers that answer reverse queries for private addresses
  '3ffe::/16', // the former 6bone test network, returned in 2006
  '3fff::/20', // reserved for examples in documentation
];

const refusedIpv4 = blockList(REFUSED_IPV4, 'ipv4');
const globalIpv6 = blockList(GLOBAL_IPV6, 'ipv6');
const refusedIpv6 = blockList(REFUSED_IPV6, 'ipv6');

/**
 * Returns true if `ip` is a global unicast address, to which a tenant may direct a request. Denies by default: any text
 * that is not a plain IPv4 or IPv6 literal (octal or short forms, a zone index, an empty string) is not public.
 */
export function isPublicAddress(ip: string): boolean {
  const family = isIP(ip);
  if (family === 4) return !refusedIpv4.check(ip, 'ipv4');
  if (family !== 6 || ip.includes('%')) return false;
  return globalIpv6.check(ip, 'ipv6') && !refusedIpv6.check(ip, 'ipv6');
}

function blockList(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
