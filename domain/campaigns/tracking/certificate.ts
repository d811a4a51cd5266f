import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { pointsAt, trackingHost } from '../tracking-domain-use.ts';

/**
 * Returns true if a proxy may have a certificate issued for a name. A campaign or mailbox must name the domain as its
 * tracking domain, and the domain must be verified or a CNAME of the tracking host. The CNAME is enough, because the
 * verification itself needs a certificate.
 * @param mayQueryDns called before a DNS query; if it returns false, no query is sent
 */
export async function mayHaveCertificate(
  deps: Pick<Deps, 'db' | 'dns' | 'config'>,
  name: string,
  mayQueryDns: (domain: string) => Promise<boolean>,
): Promise<boolean> {
  const domain = name.toLowerCase().replace(/\.$/, '');
  if (!/^[a-z0-9.-]{4,253}$/.test(domain)) return false;
  const [found] = await across(deps.db, 'maintenance').sql<{ verified: boolean | null }>(
    `select bool_or(verified) as verified from (
       select tracking_domain_verified as verified from campaigns where tracking_domain <> '' and tracking_domain = :domain
       union all select tracking_domain_verified from mailboxes where tracking_domain <> '' and tracking_domain = :domain
     ) named`,
    { domain },
  );
  if (found!.verified !== false) return found!.verified === true;
  return (await mayQueryDns(domain)) && pointsAt((await deps.dns.cname(domain)) ?? [], trackingHost(deps));
}
