import { isIP } from 'node:net';
import { EgressError } from './errors.ts';
import { createDnsLookup, lookupBySystem, resolveChecked, type Lookup } from './resolve.ts';
import { bareHostname, publicHostProblem } from './url.ts';
import { message } from '../../messages/index.ts';

interface ResolveMailHostOptions {
  /** Whether mail servers on private addresses may be used, as in a private network. */
  allowPrivate: boolean;
  /** Default: DNS itself, or the system's lookup with `allowPrivate`. */
  lookup?: Lookup;
}

/** Where a mail client must connect, and the name its TLS must verify. */
interface MailHost {
  address: string;
  family: 4 | 6;
  /** For the client's `tls.servername`; undefined for an IP literal, which has no SNI. */
  servername: string | undefined;
}

// Characters with which a URL parser could read more than a host.
const NOT_A_HOST = /[\s/:@?#%\\[\]]/;

/**
 * Resolves an SMTP or IMAP host with the same address check as every outbound request. The mail client (nodemailer,
 * imapflow) must then connect to `address`, not to the name, with TLS verifying `servername`: a second lookup could
 * answer differently. Prefers IPv4, as a mail client tries one address only.
 *
 * @throws EgressError `blocked` for a host or port we may not connect to, `dns` when the name has no address
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
