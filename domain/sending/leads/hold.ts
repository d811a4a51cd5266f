import type { CampaignRow, CampaignStatus } from '../../../db/models/campaign.ts';
import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, badRequest, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { leaveCampaigns } from './membership.ts';
import { approveAdded } from '../control/approved-leads.ts';
import { reopenLead } from './reopen.ts';
import { lockCampaign } from '../control/status.ts';
import { signalControl, signalLauncher } from '../control/signals.ts';
import { isCredential } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { releaseReservedSends } from '../control/release.ts';
import { logCampaign } from '../campaign/log.ts';
import { findCampaign } from '../campaign/find.ts';
import { assertLeadAllowed } from '../campaign/sender-pool.ts';
import { message, type Message } from '../../../messages/index.ts';
import { externalText } from '../../platform/external-text.ts';
import { json } from '../../../db/connection.ts';

/** Hold of a lead. If `until` is null, the hold has no end. */
interface LeadHold {
  since: Date;
  until: Date | null;
  reason: Message | null;
  source: 'manual' | 'out_of_office' | 'other_campaign' | 'approval';
}

export interface LeadHoldResult {
  campaign_id: string;
  contact_id: string;
  /** Null when the lead is not held or its hold has ended. */
  hold: LeadHold | null;
}

interface HeldRow extends Columns<
  'enrollments',
  | 'id'
  | 'campaign_id'
  | 'contact_id'
  | 'state'
  | 'launched_at'
  | 'mailbox_id'
  | 'hold_since'
  | 'hold_until'
  | 'hold_reason'
  | 'hold_source'
> {
  campaign_status: CampaignStatus;
}

const YEAR_MS = 366 * 86_400_000;

/**
 * Returns the hold of a lead, if any.
 * @throws AppError not_found for a campaign of another organization, or a contact that is not a lead of the campaign
 */
export async function getLeadHold(ctx: Ctx, campaignId: string, contactId: string): Promise<LeadHoldResult> {
  const org = reader(ctx);
  return present(await findLead(org, await findCampaign(org, campaignId), contactId), ctx.clock.now());
}

/**
 * Holds a lead until a date, or until it is resumed when `until` is null. A repeated request changes nothing, because
 * it contains the complete state. An existing hold keeps its start. Releases reserved slots. A person may also hold a
 * lead whose sequence a reply has ended, until a date on which it continues.
 * @throws AppError not_found; forbidden for an end before the current one, as in {@link resumeLead}
 * @throws AppError bad_request for a finished lead, or an end that is past or more than a year away
 */
export async function pauseLead(
  ctx: Ctx,
  campaignId: string,
  contactId: string,
  input: { until: Date | null; reason: string },
): Promise<LeadHoldResult> {
  return transact(ctx, async (tx) => {
    const { until } = input;
    // All writers that may restart a campaign lock it before its leads.
    const campaign = until ? await lockCampaign(tx, campaignId) : await findCampaign(tx.org, campaignId);
    const lead = await findLead(tx.org, campaign, contactId, 'for update');
    refuseProblems(holdProblems(until, tx.now));
    const isReopened = lead.state === 'replied' && until !== null && tx.actor.kind === 'session';
    if (isReopened) await reopenLead(tx, campaign, lead);
    else if (lead.state !== 'pending' && lead.state !== 'active')
      throw badRequest(message('leads.finished', { state: lead.state }));
    const { hold } = present(lead, tx.now);
    if (hold && endOf(until) < endOf(hold.until)) await assertLeadAllowed(tx, campaign, lead);
    const since = hold?.since ?? tx.now;
    const reason = input.reason === '' ? null : externalText(input.reason);
    await tx.org
      .table('enrollments')
      .where({ id: lead.id })
      .update({ hold_since: since, hold_until: until, hold_reason: reason && json(reason), hold_source: 'manual' });
    await releaseReservedSends(tx, { enrollmentIds: [lead.id] });
    await signalHold(tx, lead, 'held');
    await logCampaign(tx, lead.campaign_id, 'lead_paused', message('log.lead_held'), {
      contact_id: lead.contact_id,
      until: until?.toISOString() ?? null,
    });
    tx.audit({
      action: 'pause',
      entityType: 'campaign_lead',
      entityId: lead.id,
      metadata: { campaign_id: lead.campaign_id, contact_id: lead.contact_id },
    });
    return present(
      { ...lead, hold_since: since, hold_until: until, hold_reason: reason, hold_source: 'manual' },
      tx.now,
    );
  });
}

/** Returns the end of a hold (epoch ms; Infinity for never). */
function endOf(until: Date | null): number {
  return until?.getTime() ?? Infinity;
}

/** Returns the problems with a requested end of a hold. */
export function holdProblems(until: Date | null | undefined, now: Date): Problem[] {
  if (!until) return [];
  if (until <= now) return [{ path: 'body.until', message: message('field.not_future') }];
  if (until.getTime() > now.getTime() + YEAR_MS)
    return [{ path: 'body.until', message: message('leads.hold_too_long') }];
  return [];
}

/**
 * Ends a hold now, whether a person or an away message caused it. Does nothing for a lead that is not held.
 * @throws AppError not_found; forbidden when the lead would be mailed from mailboxes that the caller's key may not use
 */
export async function resumeLead(ctx: Ctx, campaignId: string, contactId: string): Promise<LeadHoldResult> {
  return transact(ctx, async (tx) => {
    const campaign = await findCampaign(tx.org, campaignId);
    const lead = await findLead(tx.org, campaign, contactId, 'for update');
    await assertLeadAllowed(tx, campaign, lead);
    if (lead.hold_since) {
      if (lead.hold_source === 'approval') await releaseUnapproved(tx, campaign, lead.id);
      else
        await tx.org
          .table('enrollments')
          .where({ id: lead.id })
          .update({
            hold_since: null,
            hold_until: null,
            hold_reason: null,
            // The value keeps the launcher from holding the lead for the other campaign again.
            hold_source: lead.hold_source === 'other_campaign' ? 'other_campaign' : null,
            launch_after: new Date(0),
          });
      await signalHold(tx, lead, 'released');
      await logCampaign(tx, lead.campaign_id, 'lead_resumed', message('log.lead_resumed'), {
        contact_id: lead.contact_id,
      });
      tx.audit({
        action: 'resume',
        entityType: 'campaign_lead',
        entityId: lead.id,
        metadata: { campaign_id: lead.campaign_id, contact_id: lead.contact_id },
      });
    }
    return { campaign_id: lead.campaign_id, contact_id: lead.contact_id, hold: null };
  });
}

/** Approves the current version of a lead that waits for an approval, because a person resumes the lead. */
async function releaseUnapproved(tx: Tx, campaign: CampaignRow, leadId: string): Promise<void> {
  if (isCredential(tx.actor))
    throw new AppError('forbidden', message('leads.only_approval'), { fix: message('leads.only_approval.fix') });
  await approveAdded(tx, campaign, [leadId]);
}

/**
 * Removes a contact and its progress from a campaign. Sent emails stay.
 * @throws AppError not_found
 */
export async function removeLead(ctx: Ctx, campaignId: string, contactId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const lead = await findLead(tx.org, await findCampaign(tx.org, campaignId), contactId, 'for update');
    await leaveCampaigns(tx, [lead.contact_id], [lead.campaign_id], message('ended.removed'));
    await logCampaign(tx, lead.campaign_id, 'lead_removed', message('log.lead_removed'), {
      contact_id: lead.contact_id,
    });
    tx.audit({
      action: 'delete',
      entityType: 'campaign_lead',
      entityId: lead.id,
      metadata: { campaign_id: lead.campaign_id, contact_id: lead.contact_id },
    });
  });
}

async function findLead(
  org: OrgScope,
  campaign: CampaignRow,
  contactId: string,
  lock: '' | 'for update' = '',
): Promise<HeldRow> {
  if (!isUuid(contactId)) throw notFound('lead');
  const [lead] = await org.sql<HeldRow>(
    `select id, campaign_id, contact_id, :status as campaign_status, state, launched_at, mailbox_id, hold_since, hold_until, hold_reason, hold_source
     from enrollments where organization_id = :org and campaign_id = :campaign and contact_id = :contact ${lock}`,
    { campaign: campaign.id, contact: contactId, status: campaign.status },
  );
  if (!lead) throw notFound('lead');
  return lead;
}

function present(lead: HeldRow, now: Date): LeadHoldResult {
  const inForce = lead.hold_since !== null && (lead.hold_until === null || lead.hold_until > now);
  return {
    campaign_id: lead.campaign_id,
    contact_id: lead.contact_id,
    hold: inForce
      ? {
          since: lead.hold_since!,
          until: lead.hold_until,
          reason: lead.hold_reason,
          source: lead.hold_source ?? 'manual',
        }
      : null,
  };
}

/** Signals the workflow of a launched lead. For other leads, signals the launcher when the hold ends. */
async function signalHold(tx: Tx, lead: HeldRow, cause: 'held' | 'released'): Promise<void> {
  if (lead.launched_at) signalControl(tx, lead, cause);
  else if (cause === 'released' && lead.campaign_status === 'active')
    signalLauncher(tx, lead.campaign_id, 'lead_released');
}
