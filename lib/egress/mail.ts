import { isIP } from 'node:net';
import { EgressError } from './errors.ts';
import { createDnsLookup, lookupBySystem, resolveChecked, type Lookup } from './resolve.ts';
import { bareHostname, publicHostProblem } from './url.ts';
import { message } from '../../messages/index.ts';

interface ResolveMailHostOptions {
  /** True to allow mail servers on private addresses. */
  allowPrivate: boolean;
  /** Name resolution. By default a direct DNS query, or the system's lookup with `allowPrivate`. */
  lookup?: Lookup;
}

/** Address for a mail client to connect to, and the name for its TLS to verify. */
interface MailHost {
  address: string;
  family: 4 | 6;
  /** Value of the client's `tls.servername`. Undefined for an IP literal, which has no SNI. */
  servername: string | undefined;
}

// Characters with which a URL parser could read more than a host name from the text.
const NOT_A_HOST = /[\s/:@?#%\\[\]]/;

/**
 * Resolves an SMTP or IMAP host with the same address check as every outbound request. The mail client (nodemailer,
 * imapflow) must connect to `address`, not to the name, because a second lookup could return another address. Its TLS
 * must verify `servername`. Prefers IPv4, because mail clients try only one address.
 * @throws EgressError `blocked` for a forbidden host or port, `dns` when the name has no address
 */
export async function resolveMailHost(host: string, port: number, options: ResolveMailHostOptions): Promise<MailHost> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new EgressError('blocked', 'check', message('egress.port'));
  }
  const hostname = canonicalHostname(host);
  const problem = options.allowPrivate ? undefined : publicHostProblem(hostname);
  if (problem !== undefined) throw new EgressError('blocked', 'check', message('egress.blocked', { problem }));
  const lookup = options.lookup ?? (options.allowPrivate ? lookupBySystem : publicLookup);
  const addresses = await resolveChecked(hostname, lookup, { allowPrivate: options.allowPrivate });
  const chosen = addresses.find(({ family }) => family === 4) ?? addresses[0];
  if (!chosen) throw new EgressError('dns', 'dns', message('egress.unresolved'));
  return { ...chosen, servername: isIP(hostname) === 0 ? hostname : undefined };
}

const publicLookup = createDnsLookup();

function canonicalHostname(host: string): string {
  if (isIP(host) !== 0) return host;
  const url = `http://${host}/`;
  if (NOT_A_HOST.test(host) || !URL.canParse(url)) {
    throw new EgressError('blocked', 'check', message('egress.host'));
  }
  return bareHostname(new URL(url));
}
