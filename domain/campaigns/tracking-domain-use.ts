import type { Columns, Row } from '../../db/rows.ts';
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { EgressError } from '../../lib/egress/index.ts';
import { message, type Message } from '../../messages/index.ts';
import { readInstallationId } from '../platform/installation-id.ts';
import type { Deps } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { logCampaign } from '../sending/campaign/log.ts';

/**
 * Reason why links do not use a tracking domain.
 * - `dns`: the domain does not resolve to the tracking host, or resolves to a private address
 * - `no_answer`: no https server answers on the domain
 * - `certificate`: the certificate is missing, has expired, or names another domain
 * - `other_instance`: another server answers
 */
export type TrackingDomainFault = NonNullable<Row<'tracking_domains'>['fault']>;

/**
 * Timeout (ms) of a check. It is long, because a proxy that issues certificates on demand first issues one for the
 * domain.
 */
const TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 4_096;

/**
 * Requests the installation's id from `https://<domain>/health`. Follows no redirect.
 * @returns undefined when this installation answers, with a valid certificate
 */
export async function healthFault(
  { db, egress }: Pick<Deps, 'db' | 'egress'>,
  domain: string,
): Promise<TrackingDomainFault | undefined> {
  const instance = await readInstallationId(db);
  try {
    const { status, body } = await egress.request({
      method: 'GET',
      url: `https://${domain}/health`,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
    });
    if (status >= 500) return 'no_answer';
    return instanceIn(body) === instance ? undefined : 'other_instance';
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === 'dns' || error.kind === 'blocked') return 'dns';
    return error.kind === 'tls' ? 'certificate' : 'no_answer';
  }
}

function instanceIn(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString('utf8')) as { instance?: unknown } | null)?.instance;
  } catch {
    return undefined;
  }
}

/**
 * Disables a domain in the workspace: links of its next emails use the installation's own host. Links in sent emails
 * stay as they are. The check is repeated after an hour.
 * @returns true if an earlier check had passed
 */
export async function takeOutOfUse(tx: Tx, domain: string, fault: TrackingDomainFault): Promise<boolean> {
  const [before] = await tx.org.sql<Columns<'tracking_domains', 'fault'>>(
    'select fault from tracking_domains where organization_id = :org and domain = :domain for update',
    { domain },
  );
  if (!before) return false;
  await tx.org
    .table('tracking_domains')
    .where({ domain })
    .update({ fault, check_due_at: new Date(tx.now.getTime() + HOUR_MS) });
  for (const id of await setInUse(tx, domain, { isInUse: false }))
    await logCampaign(
      tx,
      id,
      'tracking_domain_failed',
      message('log.tracking_domain_failed', { domain, cause: message(`tracking.${fault}`) }),
      { domain, cause: fault },
    );
  return before.fault === null;
}

/**
 * Re-enables a domain that passed its check, for the campaigns and mailboxes that used it before it failed. The check
 * is repeated after a day.
 */
export async function putBackInUse(tx: Tx, domain: string): Promise<void> {
  await tx.org
    .table('tracking_domains')
    .where({ domain })
    .update({ fault: null, is_reported: true, check_due_at: new Date(tx.now.getTime() + DAY_MS) });
  for (const id of await setInUse(tx, domain, { isInUse: true }))
    await logCampaign(tx, id, 'tracking_domain_verified', message('log.tracking_domain_verified'), { domain });
}

/**
 * Changes the verification of campaigns and mailboxes that name a domain. A row that was never verified, or whose
 * domain was set again, has no `tracking_domain_verified_at` and stays disabled.
 * @returns ids of the changed campaigns
 */
async function setInUse(tx: Tx, domain: string, { isInUse }: { isInUse: boolean }): Promise<string[]> {
  const change = (table: 'campaigns' | 'mailboxes') =>
    tx.org.sql<{ id: string }>(
      `with held as (
         select id from ${table} where organization_id = :org and tracking_domain = :domain and tracking_domain <> ''
           and tracking_domain_verified <> :isInUse and (tracking_domain_verified_at is not null or not :isInUse)
         order by id for no key update
       )
       update ${table} t set tracking_domain_verified = :isInUse, updated_at = :now,
         tracking_domain_verified_at = case when :isInUse then :now else t.tracking_domain_verified_at end
       from held where t.id = held.id returning t.id`,
      { domain, isInUse, now: tx.now },
    );
  const [campaigns] = await Promise.all([change('campaigns'), change('mailboxes')]);
  return campaigns.map(({ id }) => id);
}

/** Returns the instruction for people on how to repair a fault. */
export function fixOf(deps: Pick<Deps, 'config'>, domain: string, fault: TrackingDomainFault): Message {
  if (fault !== 'dns') return message(`tracking.${fault}.fix`, { domain });
  return message('tracking.records.fix', {
    records: message('tracking.cname', { name: domain, value: trackingHost(deps) }),
  });
}

/** Returns the host that tracking domains must point at. */
export function trackingHost({ config }: Pick<Deps, 'config'>): string {
  return canonical(new URL(config.TRACKING_DOMAIN).hostname);
}

/** Returns true if one of a host's CNAME records is `target` ({@link trackingHost}). */
export function pointsAt(names: readonly string[], target: string): boolean {
  return names.some((name) => canonical(name) === target);
}

function canonical(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
