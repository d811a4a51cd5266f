import type { Row } from '../../db/rows.ts';
import { isUuid } from '../../lib/ids.ts';
import { organizationOf, type Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { pointsAt, trackingHost, type TrackingDomainFault } from './tracking-domain-use.ts';

/** Beginning of the TXT record by which the owner of a domain assigns the domain to a workspace. */
export const PROOF = 'heron-workspace=';
/** Maximum number of listed domains, and of listed campaigns and mailboxes per domain. */
const MAX_DOMAINS = 50;
const MAX_USES = 100;

/** A DNS record that a tracking domain needs, with the values found in the DNS. */
interface TrackingRecord {
  type: 'CNAME' | 'TXT';
  name: string;
  expected: string;
  /** Values found in the DNS; null if no DNS server answered. */
  found: readonly string[] | null;
  /** False for the TXT record of a domain that is already assigned to the workspace. */
  isRequired: boolean;
  isCorrect: boolean;
}

/**
 * A tracking domain, its DNS records, and the campaigns and mailboxes that name it. Each of these states if its links
 * use the domain.
 */
interface ListedDomain {
  domain: string;
  fault: TrackingDomainFault | null;
  verified_at: Date | null;
  campaigns: { id: string; name: string; in_use: boolean }[];
  mailboxes: { id: string; email: string; in_use: boolean }[];
  records: TrackingRecord[];
}

/**
 * Lists the tracking domains used by campaigns and mailboxes of the workspace, sorted by name, with their current DNS
 * records. Queries the DNS and changes nothing. Lists at most 50 domains, and of each the 100 newest campaigns and
 * mailboxes. A key restricted to mailboxes sees only its own.
 */
export async function listTrackingDomains(ctx: Ctx): Promise<ListedDomain[]> {
  const rows = await reader(ctx).sql<
    Omit<ListedDomain, 'records'> & { is_held: boolean } & Pick<Row<'tracking_domains'>, 'fault'>
  >(
    `with uses as (
       select tracking_domain as domain, id, name, tracking_domain_verified as in_use, tracking_domain_verified_at as at, true as is_campaign
       from campaigns where organization_id = :org and tracking_domain <> ''
       union all
       select tracking_domain, id, email, tracking_domain_verified, tracking_domain_verified_at, false
       from mailboxes where organization_id = :org and tracking_domain <> '' and (:allowed::uuid[] is null or id = any(:allowed::uuid[]))
     ), numbered as (
       select u.*, row_number() over (partition by domain, is_campaign order by id desc) as place from uses u
     )
     select n.domain, d.fault, d.domain is not null as is_held, max(n.at) as verified_at,
       coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'name', n.name, 'in_use', n.in_use) order by n.place)
         filter (where n.is_campaign and n.place <= :uses), '[]') as campaigns,
       coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'email', n.name, 'in_use', n.in_use) order by n.place)
         filter (where not n.is_campaign and n.place <= :uses), '[]') as mailboxes
     from numbered n left join tracking_domains d on d.organization_id = :org and d.domain = n.domain
     group by n.domain, d.domain, d.fault order by n.domain limit :domains`,
    { uses: MAX_USES, domains: MAX_DOMAINS, allowed: ctx.actor.allowedMailboxes },
  );
  return Promise.all(
    rows.map(async ({ is_held: isHeld, ...row }) => ({
      ...row,
      records: await compareRecords(ctx, row.domain, isHeld),
    })),
  );
}

async function compareRecords(ctx: Ctx, domain: string, isHeld: boolean): Promise<TrackingRecord[]> {
  const { names, texts, named } = await fetchRecords(ctx, domain);
  const organizationId = organizationOf(ctx);
  return [
    {
      type: 'CNAME',
      name: domain,
      expected: trackingHost(ctx),
      found: names,
      isRequired: true,
      isCorrect: pointsAt(names ?? [], trackingHost(ctx)),
    },
    {
      type: 'TXT',
      name: `_heron.${domain}`,
      expected: `${PROOF}${organizationId}`,
      found: texts,
      isRequired: !isHeld,
      isCorrect: named.includes(organizationId),
    },
  ];
}

/**
 * Queries the DNS records of a tracking domain. Returns them and the ids of the workspaces that the domain's owner
 * names in TXT records.
 */
export async function fetchRecords(
  { dns }: Pick<Ctx, 'dns'>,
  domain: string,
): Promise<{ names: readonly string[] | null; texts: readonly string[] | null; named: string[] }> {
  const [names, texts] = await Promise.all([dns.cname(domain), dns.txt(`_heron.${domain}`)]);
  const named = (texts ?? [])
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text.startsWith(PROOF))
    .map((text) => text.slice(PROOF.length))
    .filter(isUuid);
  return { names, texts, named };
}
