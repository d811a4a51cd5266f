import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Message } from '../../../messages/index.ts';

/** Types of lines in a campaign's activity log. */
export type CampaignLogType =
  | 'campaign_created'
  | 'campaign_updated'
  | 'campaign_duplicated'
  | 'campaign_started'
  | 'campaign_start_refused'
  | 'campaign_restarted'
  | 'campaign_restart_refused'
  | 'campaign_paused'
  | 'campaign_completed'
  | 'campaign_rescheduled'
  | 'senders_replaced'
  | 'sender_held'
  | 'sender_back'
  | 'sender_removed'
  | 'steps_changed'
  | 'variants_changed'
  | 'variant_promoted'
  | 'leads_added'
  | 'leads_held'
  | 'leads_approved'
  | 'lead_removed'
  | 'lead_paused'
  | 'lead_resumed'
  | 'step_blocked'
  | 'step_failed'
  | 'send_failed'
  | 'send_uncertain'
  | 'send_settled'
  | 'step_retried'
  | 'step_without_effect'
  | 'run_blocked'
  | 'tracking_domain_verified'
  | 'tracking_domain_failed'
  | 'mailbox_refused'
  | 'copies_left_out'
  | 'opt_out_doubtful'
  | 'deliverability_warning';

/**
 * Writes one line of a campaign's activity log. Lines contain ids and counts only, because addresses are stored only
 * with contacts.
 */
export async function logCampaign(
  tx: Tx,
  campaignId: string,
  type: CampaignLogType,
  said: Message,
  metadata: Record<string, unknown> = {},
): Promise<void> {
  await tx.org.sql(
    `insert into campaign_logs (id, organization_id, campaign_id, event_type, message, metadata, created_at)
     values (:id::uuid, :org, :campaign, :type, :message::jsonb, :metadata::jsonb, :now)`,
    { id: newId(), campaign: campaignId, type, message: json(said), metadata: json(metadata), now: tx.now },
  );
}
