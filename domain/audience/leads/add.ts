import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { Config } from '../../../lib/config/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { refuseProblems, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { signalLauncher } from '../../sending/control/signals.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { segmentContactIds, segmentProblems } from '../../directory/segments/contacts.ts';
import { idProblems } from '../../platform/references.ts';
import { logCampaign } from '../../sending/campaign/log.ts';
import { assertPoolAllowed } from '../../sending/campaign/sender-pool.ts';
import { adoptEarlierEmails } from './earlier-emails.ts';
import type { Requester } from '../../approvals/authorize.ts';
import { holdUnlessMayAdd, sendsToNewLeads } from '../../approvals/may-change-leads.ts';
import { isRequesterValid } from '../../approvals/standing.ts';
import { holdAdded } from '../../sending/control/approved-leads.ts';
import { restartCampaign } from '../../sending/control/restart.ts';
import { lockCampaign } from '../../sending/control/status.ts';

/** Origin of a lead. Acquisition reports group emails by it. */
type LeadSource = 'import' | 'segment' | 'manual' | 'api' | 'form' | 'run';

interface AddedLeads {
  added: number;
  /** Number of contacts that were already leads of the campaign, in any state. */
  already: number;
  /** The approval that the added leads wait for. */
  held?: ApprovalRow;
}

/** Option of functions that add leads together with other changes. */
export interface HeldLeads {
  /** Called with each approval that added leads wait for. */
  onHeld?: (approval: ApprovalRow) => void;
}

const PAGE = 5_000;

/**
 * Adds contacts to a campaign as leads; skips ids that are not contacts of the organization. A contact who was removed
 * and is added again does not get emails that they already received in this campaign. Signals the launcher of an active
 * campaign. Restarts a completed campaign if its launch checks pass. Otherwise adds the refusal to its activity log. If
 * the campaign sends to new leads, leads that exceed the policy of an API key or application are held for an approval.
 * @param config settings of approvals
 * @param source origin of the leads; defaults to `manual` or `api`, depending on the caller
 * @throws AppError not_found when the campaign is not of this organization; forbidden when it would send from mailboxes
 * that the caller's key may not use
 */
export async function addLeads(
  tx: Tx,
  config: Config,
  campaignId: string,
  contactIds: readonly string[],
  source: LeadSource = sourceOf(tx),
): Promise<AddedLeads> {
  const campaign = await lockCampaign(tx, campaignId);
  await assertPoolAllowed(tx, campaign);
  const { leadIds, already } = await enroll(tx, campaign, contactIds, { source });
  return announceAddedLeads(tx, config, campaign, leadIds, already);
}

/**
 * Adds contacts, and all contacts of segments, to a campaign as leads (POST /campaigns/:id/leads). Segments are read in
 * pages, to limit memory. All leads are added in one transaction.
 * @param input.restart true to send every step again to removed leads
 * @throws AppError not_found; forbidden as {@link addLeads}; bad_request with every id that is not a contact or segment
 * of the organization, or for segments that need too many text comparisons
 */
export async function addCampaignLeads(
  ctx: Ctx,
  campaignId: string,
  input: {
    contactIds: readonly string[];
    segmentIds: readonly string[];
    source?: LeadSource;
    restart?: boolean | undefined;
  },
): Promise<AddedLeads> {
  const { restart } = input;
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    await assertPoolAllowed(tx, campaign);
    refuseProblems(await audienceProblems(tx.org, input));
    const { leadIds, already } = await enroll(tx, campaign, input.contactIds, {
      source: input.source ?? sourceOf(tx),
      restart,
    });
    let known = already;
    for (const segmentId of new Set(input.segmentIds)) {
      for (let after: string | undefined; ;) {
        const page = await segmentContactIds(tx.org, segmentId, { after, limit: PAGE });
        const found = await enroll(tx, campaign, page, {
          source: input.source ?? 'segment',
          segmentId,
          restart,
        });
        for (const id of found.leadIds) leadIds.push(id);
        known += found.already;
        if (page.length < PAGE) break;
        after = page.at(-1);
      }
    }
    const result = await announceAddedLeads(tx, ctx.config, campaign, leadIds, known);
    tx.audit({
      action: 'update',
      entityType: 'campaign',
      entityId: campaign.id,
      metadata: { leads_added: result.added, segment_ids: input.segmentIds },
    });
    return result;
  });
}

/**
 * Lists problems of an audience: ids that are not contacts or segments of the organization, and segments that together
 * need too many text comparisons.
 */
export async function audienceProblems(
  org: OrgScope,
  { contactIds, segmentIds }: { contactIds: readonly string[]; segmentIds: readonly string[] },
): Promise<Problem[]> {
  return [
    ...(await idProblems(org, 'contacts', contactIds, 'body.contact_ids', message('directory.unknown_contact'))),
    ...(await idProblems(org, 'segments', segmentIds, 'body.segment_ids', message('audience.unknown_segment'))),
    ...(await segmentProblems(org, segmentIds, 'audience')),
  ];
}

function sourceOf({ actor }: Tx): LeadSource {
  return actor.kind === 'session' ? 'manual' : 'api';
}

/** Options for adding leads. */
interface LeadOrigin {
  source: LeadSource;
  segmentId?: string | null;
  restart?: boolean | undefined;
}

async function enroll(
  tx: Tx,
  campaign: CampaignRow,
  contactIds: readonly string[],
  { source, segmentId = null, restart = false }: LeadOrigin,
): Promise<{ leadIds: string[]; already: number }> {
  const unique = [...new Set(contactIds)];
  const leadIds: string[] = [];
  let already = 0;
  for (let from = 0; from < unique.length; from += PAGE) {
    const contacts = unique.slice(from, from + PAGE);
    const ids = contacts.map(() => newId());
    const [counts] = await tx.org.sql<{ found: number; added: string[] }>(
      `with wanted as (
         select t.id, c.id as contact_id, heron_lead_order(:orderBy, :orderField, c) as order_key from unnest(:ids::uuid[], :contacts::uuid[]) as t(id, contact_id)
         join contacts c on c.id = t.contact_id and c.organization_id = :org
       ), added as (
         insert into enrollments (id, organization_id, campaign_id, contact_id, state, entered_at, source, segment_id, order_key)
         select id, :org, :campaign, contact_id, 'pending', :now, :source, :segment, order_key from wanted order by id
         on conflict on constraint enrollments_contact_key do nothing returning id
       )
       select (select count(*) from wanted)::int as found, array(select id from added) as added`,
      {
        ids,
        contacts,
        campaign: campaign.id,
        orderBy: campaign.contact_order_by,
        orderField: campaign.contact_order_field,
        now: tx.now,
        source,
        segment: segmentId,
      },
    );
    const { added, found } = counts!;
    if (added.length > 0 && !restart) await adoptEarlierEmails(tx, campaign.id, ids);
    for (const id of added) leadIds.push(id);
    already += found - added.length;
  }
  return { leadIds, already };
}

/**
 * Requests an approval for new leads of a locked campaign if one is needed. Then logs the leads, signals the launcher,
 * and restarts a completed campaign.
 */
async function announceAddedLeads(
  tx: Tx,
  config: Config,
  campaign: CampaignRow,
  leadIds: readonly string[],
  already: number,
): Promise<AddedLeads> {
  const added = leadIds.length;
  if (added === 0) return { added, already };
  await logAddedLeads(tx, campaign, { added, already });
  const held = await releaseUnlessHeld(tx, config, campaign, leadIds);
  return { added, already, ...(held ? { held } : {}) };
}

async function logAddedLeads(
  tx: Tx,
  campaign: CampaignRow,
  { added, already }: Omit<AddedLeads, 'held'>,
): Promise<void> {
  await tx.org.sql(
    'update campaigns set had_leads = true, idle_since = null where organization_id = :org and id = :id and (not had_leads or idle_since is not null)',
    { id: campaign.id },
  );
  await logCampaign(tx, campaign.id, 'leads_added', message('log.leads_added', { count: added }), { added, already });
}

/**
 * Requests an approval for new leads of a locked campaign that need one, and ends the hold of the other leads.
 * @param requester see {@link holdUnlessMayAdd}
 */
async function releaseUnlessHeld(
  tx: Tx,
  config: Config,
  campaign: CampaignRow,
  leadIds: readonly string[],
  requester?: Requester,
): Promise<ApprovalRow | undefined> {
  const waiting = await holdUnlessMayAdd(tx, config, campaign, leadIds, requester);
  if (waiting)
    await logCampaign(tx, campaign.id, 'leads_held', message('log.leads_held', { count: waiting.count }), {
      approval_id: waiting.approval.id,
    });
  if (waiting?.count === leadIds.length) return waiting.approval;
  if (campaign.status === 'active') signalLauncher(tx, campaign.id, 'leads_added');
  await restartForLeads(tx, campaign);
  return waiting?.approval;
}

/**
 * Adds contacts of a batch of a file that an API key or application imports. If the campaign sends to new leads, they
 * are held until the end of the import, because the policy decides about the whole file as one action.
 * @throws AppError not_found when the campaign was deleted; forbidden as {@link addLeads}
 */
export async function addImportedLeads(
  tx: Tx,
  campaignId: string,
  contactIds: readonly string[],
  importId: string,
): Promise<void> {
  const campaign = await lockCampaign(tx, campaignId);
  const { leadIds, already } = await enroll(tx, campaign, contactIds, { source: 'import' });
  if (leadIds.length === 0) return;
  await logAddedLeads(tx, campaign, { added: leadIds.length, already });
  if (sendsToNewLeads(campaign))
    await holdAdded(tx, campaign.id, leadIds, message('leads.import_under_way', { import: importId }));
}

/**
 * Decides about the leads that {@link addImportedLeads} has held, at the end of their import.
 * @returns the approval that they wait for, if any
 */
export async function settleImportedLeads(
  tx: Tx,
  config: Config,
  { campaignId, importId, requester }: { campaignId: string; importId: string; requester: Requester },
): Promise<ApprovalRow | undefined> {
  if ((await heldLeads(tx.org, campaignId, importId)).length === 0) return undefined;
  const campaign = await lockCampaign(tx, campaignId);
  // The leads are read again, because a person may have decided about the leads before the campaign was locked.
  const leadIds = await heldLeads(tx.org, campaignId, importId);
  const { apiKeyId = null, oauthGrantId = null } = requester;
  if (await isRequesterValid(tx, { api_key_id: apiKeyId, oauth_grant_id: oauthGrantId }))
    return releaseUnlessHeld(tx, config, campaign, leadIds, requester);
  await logCampaign(tx, campaign.id, 'leads_held', message('log.leads_revoked'), { import_id: importId });
  return undefined;
}

async function heldLeads(org: OrgScope, campaignId: string, importId: string): Promise<string[]> {
  const rows = await org.sql<{ id: string }>(
    `select id from enrollments
     where organization_id = :org and campaign_id = :campaign and hold_source = 'approval' and state = 'pending'
       and hold_reason @> jsonb_build_object('code', 'leads.import_under_way', 'values', jsonb_build_object('import', cast(:import as text)))
     order by entered_at, id`,
    { campaign: campaignId, import: importId },
  );
  return rows.map(({ id }) => id);
}

/**
 * Restarts a completed, locked campaign because it has new leads. If launch checks refuse the restart, writes the
 * reason to the campaign's activity log.
 */
export async function restartForLeads(tx: Tx, campaign: CampaignRow): Promise<void> {
  if (campaign.status !== 'completed') return;
  const refusal = await restartCampaign(tx, campaign, message('log.restarted_for_leads'));
  if (refusal)
    await logCampaign(
      tx,
      campaign.id,
      'campaign_restart_refused',
      message('log.restart_refused', { reason: refusal.said }),
      { code: refusal.code },
    );
}
