import { getDomain } from 'tldts';
import type { DnsRecords } from '../../../lib/dns.ts';

/** What DNS says of a domain that mail is sent from. */
export interface SenderDns {
  domain: string;
  /** The SPF record; null without one. */
  spf: string | null;
  /** More than one SPF record: receivers treat that as none (RFC 7208, section 4.5). */
  spfTwice: boolean;
  /** The SPF record lets every server of the world send (`+all`). */
  spfOpen: boolean;
  /** Selectors under which a DKIM key is published, among usual ones. */
  dkimSelectors: string[];
  /** The policy tag of the DMARC record (`none`, `quarantine`, `reject`), of the organizational domain where this one has none. */
  dmarcPolicy: string | null;
  /** Whether the domain takes mail: has a mail exchanger, and not only the one that says it takes none (RFC 7505). */
  takesMail: boolean;
  /** Records about which nothing is known, because no server answered; they count as missing above. */
  unanswered: ('SPF' | 'DKIM' | 'DMARC' | 'MX')[];
}

/** Usual selectors. DNS cannot list the selectors of a domain, so a key under another name is not found. */
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

/** How long (ms) what DNS said of a domain counts as recent, and how long that it did not answer. */
const RECENT_MS = 60_000;
const SILENT_MS = 10_000;
/** Domains after which those that are no longer recent are forgotten. */
const MANY = 1_000;

interface Recent {
  /** By `performance.now()`. */
  until: number;
  answer: Promise<SenderDns>;
  /** The answer, once it is there. */
  told?: SenderDns;
}

const recent = new WeakMap<object, Map<string, Recent>>();

/** What DNS said of a domain within the last minute in this process, as far as {@link recentSenderDns} asked; asks nothing. */
export function cachedSenderDns(dns: Pick<DnsRecords, 'txt' | 'mx'>, domain: string): SenderDns | undefined {
  const found = recent.get(dns)?.get(domain);
  return found && found.until > performance.now() ? found.told : undefined;
}

/**
 * What DNS said of a domain within the last minute in this process, or what `read` finds now. Who asks while it is being read waits for the same
 * answer. A domain about which nothing is known is asked again after ten seconds.
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

/** The DMARC record that holds for a domain, an empty string without one, null when nothing is known. */
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

/** A published key; an empty `p` means revoked (RFC 6376, section 3.6.1). */
function isKey(record: string): boolean {
  return /(?:^|;)\s*p\s*=\s*[A-Za-z0-9+/]/.test(record);
}
