import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './address.ts';
import { EgressError, errorCode } from './errors.ts';
import { message } from '../../messages/index.ts';

/**
 * Returns all addresses of a host name, or throws if there are none. Called once per new connection, never cached.
 */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** Address that passed the check. The caller connects to it without another lookup. */
interface CheckedAddress {
  address: string;
  family: 4 | 6;
}

/**
 * Creates a lookup by direct DNS queries, for deployments that reach only public names. It ignores the hosts file and
 * search domains, so a name such as `billing` or `vault.svc` is never resolved to a machine in the local network. It
 * does not use the four threads shared by all getaddrinfo calls, so one tenant's slow name server does not delay other
 * tenants. IPv4 addresses come first. `servers` (`ip` or `ip:port`) defaults to the system's name servers. A query is
 * tried twice, with `timeoutMs` for each try.
 */
export function createDnsLookup(options: { servers?: readonly string[]; timeoutMs?: number } = {}): Lookup {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? 2500, tries: 2 });
  if (options.servers) resolver.setServers(options.servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
    return addresses;
  };
}

/**
 * Resolves names with the operating system, including its hosts file and search domains. For development and private
 * networks.
 */
export const lookupBySystem: Lookup = async (hostname) => {
  const answers = await systemLookup(hostname, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
};

/**
 * Resolves `hostname` (canonical, IPv6 without brackets; a literal is not looked up). Refuses the whole name if any of
 * its addresses is not public: a name with both private and public addresses is an attack. With `allowPrivate` every
 * address is accepted.
 * @throws EgressError `dns` when the name has no address, `blocked` when one of them is not public
 */
export async function resolveChecked(
  hostname: string,
  lookup: Lookup,
  { allowPrivate }: { allowPrivate: boolean },
): Promise<CheckedAddress[]> {
  const addresses = isIP(hostname) === 0 ? await lookUp(hostname, lookup) : [hostname];
  const checked = addresses.map((address) => ({ address, family: isIP(address) }));
  if (!checked.every(isAddress) || !(allowPrivate || addresses.every(isPublicAddress))) {
    throw new EgressError('blocked', 'dns', message('egress.private'));
  }
  return checked;
}

function isAddress(candidate: { address: string; family: number }): candidate is CheckedAddress {
  return candidate.family !== 0;
}

async function lookUp(hostname: string, lookup: Lookup): Promise<readonly string[]> {
  let code: string | undefined;
  try {
    const addresses = await lookup(hostname);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    code = errorCode(error);
  }
  throw new EgressError('dns', 'dns', message('egress.unresolved'), code);
}
