import pLimit from 'p-limit';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { DnsRecords } from '../../lib/dns.ts';
import { message, type Message } from '../../messages/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { IN_POOL, POOL_TABLES, poolBindings } from '../sending/campaign/sender-pool.ts';
import { readSenderDns, cachedSenderDns, recentSenderDns, type SenderDns } from '../sending/senders/sender-dns.ts';
import {
  errorFinding,
  infoFinding,
  PREFLIGHT_CHECKS,
  warningFinding,
  type PreflightCheckKey,
  type WeighedFinding,
} from './preflight-findings.ts';
import { pointsAt, trackingHost, type TrackingDomainFault } from './tracking-domain-use.ts';

/** DNS records of a campaign's sending domains and tracking domain. */
export interface CampaignDns {
  senders: SenderDns[];
  /** Number of sending domains that were not queried, because only the most used ones are queried. */
  leftOut: number;
  /** True if the campaign's own tracking domain is a CNAME of this installation; null if DNS gave no answer. */
  trackingPoints: boolean | null;
  /** The queried tracking domain; empty if the campaign has none. */
  trackingDomain: string;
  /** Reason why the last check of the tracking domain failed; null if it passed or there was none. */
  trackingFault: TrackingDomainFault | null;
}

/**
 * Maximum number of sending domains that are queried; the most used ones are chosen. Further limits: domains queried at
 * the same time, and the time (ms) for all queries.
 */
const MAX_DOMAINS = 40;
const DOMAINS_AT_ONCE = 4;
const DEADLINE_MS = 10_000;

/**
 * Reads the DNS records of a campaign's sending domains and tracking domain. Uses the network: call it before a
 * transaction opens, and pass the result to `preflightCampaign`. Records without an answer after `timeoutMs` are
 * treated as unknown.
 * @param options.lately true to reuse answers about a sending domain from the last minute. This helps when many
 * campaigns are checked, because a domain needs about 35 queries
 * @throws AppError not_found
 */
export async function readCampaignDns(ctx: Ctx, campaignId: string, options: ReadOptions = {}): Promise<CampaignDns> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  return readDns(ctx, await sendingDomains(org, campaign), campaign.tracking_domain, options);
}

/**
 * Variant of {@link readCampaignDns} for a campaign that does not exist yet, by its mailboxes and tracking domain.
 * Reuses answers from the last minute.
 */
export async function readPlannedDns(
  ctx: Ctx,
  mailboxIds: readonly string[],
  trackingDomain: string,
): Promise<CampaignDns> {
  const rows = await reader(ctx).sql<{ domain: string }>(
    `select ${SENDING_DOMAIN} as domain from mailboxes m
     where m.organization_id = :org and m.id = any(cast(:ids as uuid[])) group by 1 order by count(*) desc, 1`,
    { ids: [...mailboxIds] },
  );
  return readDns(ctx, toDomains(rows), trackingDomain, { lately: true });
}

interface ReadOptions {
  timeoutMs?: number;
  lately?: boolean;
}

async function readDns(
  ctx: Ctx,
  domains: readonly string[],
  trackingDomain: string,
  { timeoutMs = DEADLINE_MS, lately = false }: ReadOptions,
): Promise<CampaignDns> {
  const { dns, end } = until(ctx.dns, timeoutMs);
  try {
    const limit = pLimit(DOMAINS_AT_ONCE);
    const read = (domain: string) =>
      lately
        ? recentSenderDns(ctx.dns, domain, () => readBounded(ctx.dns, domain, timeoutMs))
        : readSenderDns(dns, domain);
    const senders = Promise.all(domains.slice(0, MAX_DOMAINS).map((domain) => limit(() => read(domain))));
    const names = trackingDomain === '' ? [] : await dns.cname(trackingDomain);
    return {
      senders: await senders,
      leftOut: Math.max(0, domains.length - MAX_DOMAINS),
      trackingPoints: names && pointsAt(names, trackingHost(ctx)),
      trackingDomain,
      trackingFault: await faultOf(reader(ctx), trackingDomain),
    };
  } finally {
    end();
  }
}

/**
 * Variant of {@link readCampaignDns} that only uses answers cached in this process, and so may be called inside a
 * transaction. Returns undefined if a DNS query would be needed.
 */
export async function cachedCampaignDns(
  org: OrgScope,
  dns: DnsRecords,
  campaign: CampaignRow,
): Promise<CampaignDns | undefined> {
  if (campaign.tracking_domain !== '') return undefined;
  const domains = await sendingDomains(org, campaign);
  const asked = domains.slice(0, MAX_DOMAINS);
  const senders = asked.flatMap((domain) => cachedSenderDns(dns, domain) ?? []);
  if (senders.length < asked.length) return undefined;
  return {
    senders,
    leftOut: domains.length - asked.length,
    trackingPoints: null,
    trackingDomain: '',
    trackingFault: null,
  };
}

async function faultOf(org: OrgScope, domain: string): Promise<TrackingDomainFault | null> {
  if (domain === '') return null;
  const row = await org.table('tracking_domains').where({ domain }).first('fault');
  return row?.fault ?? null;
}

/** Reads the DNS records of a domain with its own time limit, because all concurrent callers share the result. */
async function readBounded(records: DnsRecords, domain: string, timeoutMs: number): Promise<SenderDns> {
  const { dns, end } = until(records, timeoutMs);
  try {
    return await readSenderDns(dns, domain);
  } finally {
    end();
  }
}

/** SQL for the domain from which the mailbox `m` sends. */
const SENDING_DOMAIN = `split_part(coalesce(nullif(m.send_as_email, ''), m.email), '@', 2)`;

/** Returns the domains from which the campaign's pool sends, most used first. */
async function sendingDomains(org: OrgScope, campaign: CampaignRow): Promise<string[]> {
  const rows = await org.sql<{ domain: string }>(
    `select ${SENDING_DOMAIN} as domain from ${POOL_TABLES}
     where m.organization_id = :org and ${IN_POOL} group by 1 order by count(*) desc, 1`,
    poolBindings(campaign),
  );
  return toDomains(rows);
}

function toDomains(rows: readonly { domain: string }[]): string[] {
  return rows.map(({ domain }) => domain).filter((domain) => domain !== '');
}

/** Returns a DNS client whose open queries return no answer after a time limit. Call `end` to clear the timer. */
function until(dns: DnsRecords, timeoutMs: number): { dns: DnsRecords; end: () => void } {
  let over = false;
  let end = () => {};
  const late = new Promise<null>((resolve) => {
    const timer = setTimeout(() => {
      over = true;
      resolve(null);
    }, timeoutMs);
    end = () => clearTimeout(timer);
  });
  const bounded =
    (ask: (name: string) => Promise<readonly string[] | null>) =>
    async (name: string): Promise<readonly string[] | null> =>
      over ? null : Promise.race([ask(name), late]);
  return { dns: { txt: bounded(dns.txt), mx: bounded(dns.mx), cname: bounded(dns.cname) }, end };
}

/** Possible faults in the records of a sending domain. A record without a DNS answer is never a fault. */
const RECORD_FAULTS: readonly {
  code: 'spf_missing' | 'spf_twice' | 'spf_open' | 'dkim_missing' | 'dmarc_missing' | 'mx_missing';
  points: number;
  record: SenderDns['unanswered'][number];
  isFaulty: (domain: SenderDns) => boolean;
}[] = [
  { code: 'spf_missing', points: 12, record: 'SPF', isFaulty: ({ spf }) => spf === null },
  { code: 'spf_twice', points: 12, record: 'SPF', isFaulty: ({ spfTwice }) => spfTwice },
  { code: 'spf_open', points: 8, record: 'SPF', isFaulty: ({ spfOpen }) => spfOpen },
  { code: 'dkim_missing', points: 10, record: 'DKIM', isFaulty: ({ dkimSelectors }) => dkimSelectors.length === 0 },
  { code: 'dmarc_missing', points: 8, record: 'DMARC', isFaulty: ({ dmarcPolicy }) => dmarcPolicy === null },
  { code: 'mx_missing', points: 10, record: 'MX', isFaulty: ({ takesMail }) => !takesMail },
];

/**
 * Returns one finding for each fault in the records of the sending domains, naming the domains. If the pool has no
 * sending domain, returns a finding for that.
 */
export function senderFindings({ senders, leftOut }: CampaignDns): WeighedFinding[] {
  const check: PreflightCheckKey = 'sending_domains';
  if (senders.length === 0)
    return [warningFinding(check, PREFLIGHT_CHECKS[check], message('finding.no_sending_domains'))];
  const found = RECORD_FAULTS.flatMap(({ code, points, record, isFaulty }) => {
    const faulty = senders.filter((domain) => !domain.unanswered.includes(record) && isFaulty(domain));
    if (faulty.length === 0) return [];
    return [warningFinding(check, points, message(`finding.${code}`, { domains: named(faulty) }))];
  });
  const silent = senders.filter(({ unanswered }) => unanswered.length > 0);
  if (silent.length > 0) found.push(infoFinding(check, message('finding.dns_unanswered', { domains: named(silent) })));
  if (leftOut > 0) found.push(infoFinding(check, message('finding.dns_partly_read', { count: leftOut })));
  return found;
}

/** Returns the names of the first three domains, and the number of the others as a message. */
function named(domains: readonly SenderDns[]): readonly string[] | Message {
  const names = domains.slice(0, 3).map(({ domain }) => domain);
  const more = domains.length - names.length;
  return more === 0 ? names : message('preflight.domains_and_more', { domains: names.join(', '), count: more });
}

/** Checks that the tracking domain of a campaign works. Returns no finding for a campaign without tracking. */
export function trackingFindings(campaign: CampaignRow, dns: CampaignDns): WeighedFinding[] {
  const { tracking_domain: domain, tracking_domain_verified: verified } = campaign;
  if (campaign.text_only || !(campaign.open_tracking || campaign.link_tracking)) return [];
  const check: PreflightCheckKey = 'tracking_domain';
  if (domain === '') return [infoFinding(check, message('finding.tracking_domain_shared'))];
  if (!verified && dns.trackingDomain === domain && dns.trackingFault) {
    const cause = message(`tracking.${dns.trackingFault}`);
    return [warningFinding(check, 8, message('finding.tracking_domain_failed', { domain, cause }))];
  }
  if (!verified) return [warningFinding(check, 8, message('finding.tracking_domain_unverified', { domain }))];
  if (dns.trackingDomain !== domain || dns.trackingPoints === null)
    return [infoFinding(check, message('finding.dns_unanswered', { domains: domain }))];
  return dns.trackingPoints ? [] : [errorFinding(check, message('finding.tracking_domain_broken', { domain }))];
}
