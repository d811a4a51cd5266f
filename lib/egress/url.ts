import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isPublicAddress } from './address.ts';
import { message, type Message } from '../../messages/index.ts';

/** Rules for outbound URLs, from the settings and from an app. */
export interface OutboundUrlPolicy {
  /**
   * The development setting ALLOW_UNSAFE_WEBHOOK_URLS: allows http, any host and any port. Credentials and malformed
   * URLs stay refused. Default false.
   */
  allowUnsafe?: boolean;
  /**
   * An app's `allowed_webhook_domains`, which applies even with `allowUnsafe`. If it is absent, any domain is allowed.
   * An empty list allows no host.
   */
  allowedDomains?: readonly string[];
}

/** Result of a check: the parsed URL with its host in canonical form, or the problem of the field. */
type OutboundUrlCheck = { ok: true; url: URL } | { ok: false; problem: Message };

const MAX_URL_LENGTH = 2048;
const MAX_HOSTNAME_LENGTH = 253;
const HOST_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
// Characters that the WHATWG URL parser silently drops or rewrites, so that the stored text would differ from the
// requested URL.
const REWRITTEN_CHARACTERS = /[\s\p{Cc}\\]/u;

/** Domain suffixes that, by a standard or by convention, never name a host on the public Internet. */
const LOCAL_SUFFIXES = new Set([
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'onion',
]);

/**
 * Checks an outbound URL without DNS: https on port 443 with a public host, unless the policy allows more. IPv4 in
 * octal, hex, decimal or short form is checked by its numeric address. The resolved addresses are not checked here, but
 * by the egress on every new connection.
 */
export function checkOutboundUrl(input: string | URL, policy: OutboundUrlPolicy = {}): OutboundUrlCheck {
  const text = String(input);
  if (text.length > MAX_URL_LENGTH) return refuse(message('field.text_longer', { max: MAX_URL_LENGTH }));
  if (REWRITTEN_CHARACTERS.test(text)) {
    return refuse(message('field.url_characters'));
  }
  if (!URL.canParse(text)) return refuse(message('field.url'));
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(policy.allowUnsafe && url.protocol === 'http:')) {
    return refuse(message('field.url_not_https'));
  }
  if (url.username !== '' || url.password !== '') return refuse(message('field.url_credentials'));
  if (!policy.allowUnsafe) {
    if (url.port !== '') return refuse(message('field.url_port'));
    const problem = publicHostProblem(bareHostname(url));
    if (problem !== undefined) return refuse(problem);
  }
  if (policy.allowedDomains && !hostMatchesDomains(bareHostname(url), policy.allowedDomains)) {
    return refuse(message('field.url_not_allowed'));
  }
  return { ok: true, url };
}

/**
 * Returns true if `domains` covers `hostname` (canonical, as in `URL.hostname`). An entry matches exactly that host. An
 * entry with a leading dot matches the apex and every subdomain. An empty list matches no host.
 */
export function hostMatchesDomains(hostname: string, domains: readonly string[]): boolean {
  return domains.some((entry) => {
    const rule = entry.trim();
    const domain = domainToASCII(rule.startsWith('.') ? rule.slice(1) : rule);
    if (domain === '') return false;
    if (hostname === domain) return true;
    return rule.startsWith('.') && isIP(hostname) === 0 && hostname.endsWith(`.${domain}`);
  });
}

/**
 * Returns the field problem of a `hostname` that is not a host on the public Internet, or undefined. Takes the
 * canonical form, IPv6 without brackets.
 */
export function publicHostProblem(hostname: string): Message | undefined {
  if (isIP(hostname) !== 0) {
    return isPublicAddress(hostname) ? undefined : message('field.url_not_public');
  }
  if (hostname.endsWith('.')) return message('field.url_trailing_dot');
  const labels = hostname.split('.');
  if (hostname.length > MAX_HOSTNAME_LENGTH || !labels.every((label) => HOST_LABEL.test(label))) {
    return message('field.url_host');
  }
  const suffixes = [labels.slice(-1), labels.slice(-2)].map((tail) => tail.join('.'));
  if (labels.length < 2 || suffixes.some((suffix) => LOCAL_SUFFIXES.has(suffix))) {
    return message('field.url_not_public');
  }
  return undefined;
}

/** Returns the host of `url` in the form for resolvers and sockets: IPv6 literals without brackets. */
export function bareHostname(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function refuse(problem: Message): OutboundUrlCheck {
  return { ok: false, problem };
}
