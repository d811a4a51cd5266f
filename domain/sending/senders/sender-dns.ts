import { getDomain } from 'tldts';
import type { DnsRecords } from '../../../lib/dns.ts';

/** DNS records of a sending domain. */
export interface SenderDns {
  domain: string;
  /** The SPF record, or null. */
  spf: string | null;
  /** True if there is more than one SPF record, which receivers reject as an error (RFC 7208, section 4.5). */
  spfTwice: boolean;
  /** True when the SPF record allows every server (`+all`). */
  spfOpen: boolean;
  /** Usual DKIM selectors under which the domain publishes a key. */
  dkimSelectors: string[];
  /**
   * Policy of the domain's DMARC record (`none`, `quarantine`, `reject`), or of the organizational domain's record if
   * the domain has none.
   */
  dmarcPolicy: string | null;
  /** True when the domain accepts mail: it has an MX record other than the null MX (RFC 7505). */
  takesMail: boolean;
  /** Record types for which no DNS server answered. The other fields treat them as missing. */
  unanswered: ('SPF' | 'DKIM' | 'DMARC' | 'MX')[];
}

/** Usual DKIM selectors. DNS cannot list a domain's selectors, so keys under other names are not found. */
const SELECTORS = [
  'default',
  'dkim',
  'mail',
  'email',
  'smtp',
  'key1',
  's1',
  's2',
  'k1',
  'k2',
  'k3',
  'google',
  'selector1',
  'selector2',
  'fm1',
  'fm2',
  'fm3',
  'protonmail',
  'protonmail2',
  'protonmail3',
  'zoho',
  'zmail',
  'mxvault',
  'mandrill',
  'mailjet',
  'sig1',
  'titan1',
  'privateemail',
  'pic',
  'everlytickey1',
] as const;

/** Reads SPF, DKIM (under usual selectors), DMARC and MX of a domain. Never throws. */
export async function readSenderDns(dns: Pick<DnsRecords, 'txt' | 'mx'>, domain: string): Promise<SenderDns> {
  const [texts, dmarc, exchangers, keys] = await Promise.all([
    dns.txt(domain),
    readDmarc(dns, domain),
    dns.mx(domain),
    Promise.all(SELECTORS.map((selector) => dns.txt(`${selector}._domainkey.${domain}`))),
  ]);
  const spf = (texts ?? []).filter((record) => /^v=spf1(?:\s|$)/i.test(record));
  const dkimSelectors = SELECTORS.filter((_selector, index) => keys[index]?.some(isKey));
  const unanswered: SenderDns['unanswered'] = [];
  if (texts === null) unanswered.push('SPF');
  if (dkimSelectors.length === 0 && keys.includes(null)) unanswered.push('DKIM');
  if (dmarc === null) unanswered.push('DMARC');
  if (exchangers === null) unanswered.push('MX');
  return {
    domain,
    spf: spf[0] ?? null,
    spfTwice: spf.length > 1,
    spfOpen: spf.some((record) => /(?:^|\s)\+?all(?:\s|$)/i.test(record)),
    dkimSelectors,
    dmarcPolicy: dmarc ? policyOf(dmarc) : null,
    takesMail: (exchangers ?? []).some((name) => name !== '.' && name !== ''),
    unanswered,
  };
}

/** Cache lifetime (ms) of a complete DNS answer. `SILENT_MS` applies if a server did not answer. */
const RECENT_MS = 60_000;
const SILENT_MS = 10_000;
/** Number of cached domains above which expired entries are removed. */
const MANY = 1_000;

interface Recent {
  /** Time of expiry, on the clock of `performance.now()`. */
  until: number;
  answer: Promise<SenderDns>;
  /** Records found by the query. Undefined while the query runs. */
  told?: SenderDns;
}

const recent = new WeakMap<object, Map<string, Recent>>();

/**
 * Returns the cached records of a domain that {@link recentSenderDns} read within the last minute. Sends no queries.
 */
export function cachedSenderDns(dns: Pick<DnsRecords, 'txt' | 'mx'>, domain: string): SenderDns | undefined {
  const found = recent.get(dns)?.get(domain);
  return found && found.until > performance.now() ? found.told : undefined;
}

/**
 * Returns the cached records of a domain, or calls `read` to look them up. Concurrent callers share one query. A
 * complete answer is cached for a minute, an incomplete one for ten seconds.
 */
export function recentSenderDns(
  dns: Pick<DnsRecords, 'txt' | 'mx'>,
  domain: string,
  read: () => Promise<SenderDns>,
): Promise<SenderDns> {
  const known = recent.get(dns) ?? new Map<string, Recent>();
  recent.set(dns, known);
  const now = performance.now();
  const found = known.get(domain);
  if (found && found.until > now) return found.answer;
  if (known.size >= MANY) for (const [name, { until }] of known) if (until <= now) known.delete(name);
  const entry: Recent = { until: now + RECENT_MS, answer: read() };
  known.set(domain, entry);
  void entry.answer.then(
    (told) => {
      entry.told = told;
      if (told.unanswered.length > 0) entry.until = performance.now() + SILENT_MS;
    },
    () => known.delete(domain),
  );
  return entry.answer;
}

/** Returns the DMARC record that applies to a domain, an empty string if none, or null if DNS did not answer. */
async function readDmarc(dns: Pick<DnsRecords, 'txt'>, domain: string): Promise<string | null> {
  const organizational = getDomain(domain);
  for (const name of new Set([domain, organizational ?? domain])) {
    const records = await dns.txt(`_dmarc.${name}`);
    if (records === null) return null;
    const record = records.find((text) => /^v=dmarc1\s*(?:;|$)/i.test(text));
    if (record !== undefined) return record;
  }
  return '';
}

function policyOf(record: string): string {
  return /;\s*p\s*=\s*(\w+)/i.exec(record)?.[1]?.toLowerCase() ?? 'none';
}

/** Returns true for a published key. An empty `p` means revoked (RFC 6376, section 3.6.1). */
function isKey(record: string): boolean {
  return /(?:^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(record);
}
