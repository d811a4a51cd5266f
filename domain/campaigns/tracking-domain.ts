import { across } from '../../db/across.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import type { MailboxRow } from '../../db/models/mailbox.ts';
import { findMailbox } from '../mailboxes/read.ts';
import { changed } from '../platform/changes.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { organizationOf, type Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { message } from '../../messages/index.ts';
import { fetchRecords, PROOF } from './tracking-domain-records.ts';
import { fixOf, healthFault, pointsAt, putBackInUse, takeOutOfUse, trackingHost } from './tracking-domain-use.ts';

/** A tracking domain that has passed the check, with its DNS result. */
interface CheckedDomain {
  domain: string;
  /** Ids of the workspaces that the domain's owner names in its TXT records. */
  named: readonly string[];
}

/**
 * Checks that the campaign's tracking domain is a CNAME of this installation's tracking host, and that its owner
 * assigns it to this workspace. If a CNAME were enough, any workspace of the installation could claim another
 * workspace's domain. The owner assigns the domain once by a TXT record, which can be removed afterwards. Also checks
 * that this installation answers https on the domain with a valid certificate. A domain that fails the check is
 * disabled at once, in a separate transaction. A failed DNS query is reported as a missing record, because a person
 * must check the DNS in both cases. Uses the network, so call it before the request's transaction.
 * @throws AppError not_found; bad_request when no domain is set, the check fails, or the proof is missing
 */
export async function checkTrackingDomain(ctx: Ctx, campaignId: string): Promise<CheckedDomain> {
  const { tracking_domain: domain } = await findCampaign(reader(ctx), campaignId);
  if (!domain) {
    throw new AppError('bad_request', message('tracking.no_domain'), {
      fix: message('tracking.no_domain.fix'),
    });
  }
  return checkDomain(ctx, domain);
}

/**
 * Checks a domain that a mailbox is to use, as {@link checkTrackingDomain} does. Returns null for an empty domain.
 * @throws AppError not_found; bad_request when the check fails or the proof is missing
 */
export async function checkMailboxDomain(ctx: Ctx, mailboxId: string, domain: string): Promise<CheckedDomain | null> {
  await findMailbox(reader(ctx), mailboxId);
  return domain === '' ? null : checkDomain(ctx, domain);
}

/**
 * Sets or clears the tracking domain of a mailbox. It is used for links of campaigns without a tracking domain.
 * @param checked the checked domain; null clears it
 * @throws AppError not_found; conflict when the domain is assigned to another workspace
 */
export async function setMailboxDomain(
  ctx: Ctx,
  mailboxId: string,
  checked: CheckedDomain | null,
): Promise<Pick<MailboxRow, 'tracking_domain' | 'tracking_domain_verified' | 'tracking_domain_verified_at'>> {
  return transact(ctx, async (tx) => {
    const before = await findMailbox(tx.org, mailboxId, 'for update');
    const after = {
      tracking_domain: checked?.domain ?? '',
      tracking_domain_verified: checked !== null,
      tracking_domain_verified_at: checked && tx.now,
    };
    if (checked) await claimDomain(tx, checked.domain, checked.named);
    await tx.org
      .table('mailboxes')
      .where({ id: before.id })
      .update({ ...after, updated_at: tx.now });
    if (checked) await putBackInUse(tx, checked.domain);
    tx.audit({
      action: 'update',
      entityType: 'email_account',
      entityId: before.id,
      changes: changed({ tracking_domain: before.tracking_domain }, { tracking_domain: after.tracking_domain }),
    });
    return after;
  });
}

async function checkDomain(ctx: Ctx, domain: string): Promise<CheckedDomain> {
  const organizationId = organizationOf(ctx);
  const [{ names, named }, holder] = await Promise.all([
    fetchRecords(ctx, domain),
    reader(ctx).table('tracking_domains').where({ domain }).first('domain'),
  ]);
  const isProven = holder !== undefined || named.includes(organizationId);
  const cname = message('tracking.cname', { name: domain, value: trackingHost(ctx) });
  const txt = message('tracking.txt', { name: `_heron.${domain}`, value: `${PROOF}${organizationId}` });
  if (!pointsAt(names ?? [], trackingHost(ctx))) {
    await transact(ctx, (tx) => takeOutOfUse(tx, domain, 'dns'));
    const records = isProven ? cname : message('tracking.both', { first: cname, second: txt });
    throw new AppError('bad_request', message('tracking.dns'), { fix: message('tracking.records.fix', { records }) });
  }
  if (!isProven) {
    throw new AppError('bad_request', message('tracking.not_proven'), {
      fix: message('tracking.records.fix', { records: txt }),
    });
  }
  const fault = await healthFault(ctx, domain);
  if (!fault) return { domain, named };
  await transact(ctx, (tx) => takeOutOfUse(tx, domain, fault));
  throw new AppError('bad_request', message(`tracking.${fault}`), { fix: fixOf(ctx, domain, fault) });
}

/**
 * Marks a checked tracking domain as verified. From then on the campaign's links use the domain.
 * @throws AppError not_found; conflict if the campaign's domain was changed since the check, or the domain is assigned
 * to another workspace
 */
export async function markTrackingDomain(
  ctx: Ctx,
  campaignId: string,
  { domain, named }: CheckedDomain,
): Promise<CampaignRow> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (campaign.tracking_domain !== domain) throw new AppError('conflict', message('tracking.changed'));
    await claimDomain(tx, domain, named);
    await tx.org
      .table('campaigns')
      .where({ id: campaign.id })
      .update({ tracking_domain_verified: true, tracking_domain_verified_at: tx.now, updated_at: tx.now });
    await putBackInUse(tx, domain);
    await logCampaign(tx, campaign.id, 'tracking_domain_verified', message('log.tracking_domain_verified'), { domain });
    tx.audit({
      action: 'verify',
      entityType: 'campaign',
      entityId: campaign.id,
      metadata: { tracking_domain: domain },
    });
    return findCampaign(tx.org, campaign.id);
  });
}

/**
 * Assigns a domain to the workspace. A domain of another workspace is transferred if the domain's owner now names only
 * this workspace in TXT records. The other workspace's campaigns and mailboxes then lose their verification.
 * @throws AppError conflict
 */
async function claimDomain(tx: Tx, domain: string, named: readonly string[]): Promise<void> {
  const { organizationId } = tx.org;
  const all = across(tx.trx, 'credential');
  await all
    .insert('tracking_domains', { domain, organization_id: organizationId, created_at: tx.now })
    .onConflict('domain')
    .ignore();
  const row = await all.table('tracking_domains').where({ domain }).forUpdate().first('organization_id');
  const holder = row!.organization_id;
  if (holder === organizationId) return;
  if (!named.includes(organizationId) || named.includes(holder)) {
    throw new AppError('conflict', message('tracking.taken'), {
      fix: message('tracking.taken.fix', { name: `_heron.${domain}`, value: `${PROOF}${organizationId}` }),
    });
  }
  await all.table('tracking_domains').where({ domain }).update({ organization_id: organizationId, created_at: tx.now });
  const lost = { tracking_domain_verified: false, tracking_domain_verified_at: null, updated_at: tx.now };
  for (const table of ['campaigns', 'mailboxes'] as const)
    await all.table(table).where({ organization_id: holder, tracking_domain: domain }).update(lost);
}
