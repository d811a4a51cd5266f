import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import { newId } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { machineReason, type Hit } from './machine.ts';
import { readTrackingToken } from '../../mail/messages/tracking-token.ts';
import { MAX_USER_AGENT } from '../../platform/kernel/actor.ts';
import { countryOf, originOf } from './user-agent.ts';

type SendRow = Columns<
  'sends',
  | 'id'
  | 'organization_id'
  | 'campaign_id'
  | 'step_id'
  | 'contact_id'
  | 'mailbox_id'
  | 'recipient'
  | 'message_id'
  | 'sent_at'
>;

/** Returns the send id in a pixel's token; undefined for an invalid token. */
export function sendOfPixel(deps: Deps, token: string): string | undefined {
  return readTrackingToken(deps.keyring.tracking.accepted, 'open', token);
}

/**
 * Records that the pixel of an email was fetched. A person's open also sets the send's first open time and emits
 * campaign.email_opened.
 */
export async function recordOpen(deps: Deps, sendId: string, hit: Hit, requestId: string): Promise<void> {
  const send = (await across(deps.db, 'credential')
    .table('sends')
    .where({ id: sendId })
    .first(
      'id',
      'organization_id',
      'campaign_id',
      'step_id',
      'contact_id',
      'mailbox_id',
      'recipient',
      'message_id',
      'sent_at',
    )) as SendRow | undefined;
  if (!send) return;
  await transact(systemCtx(deps, send.organization_id, requestId), async (tx) => {
    const reason = machineReason(hit, tx.now, send.sent_at, deps.config.TRACKING_INSTANT_MS);
    const { client, deviceType } = originOf(hit.userAgent);
    const firstTime = reason ? 'machine_opened_at' : 'opened_at';
    await tx.org.sql(
      `with hit as (
         insert into engagement_events
           (id, organization_id, type, send_id, campaign_id, step_id, contact_id, mailbox_id, machine, machine_reason, user_agent, client, device_type, country_code, at)
         values (:event, :org, 'open', :send, :campaign, :step, :contact, :mailbox, :machine, :reason, :agent, :client, :device, :country, :now)
       )
       update sends set ${firstTime} = :now, updated_at = :now where organization_id = :org and id = :send and ${firstTime} is null`,
      {
        event: newId(),
        send: send.id,
        campaign: send.campaign_id,
        step: send.step_id,
        contact: send.contact_id,
        mailbox: send.mailbox_id,
        machine: reason !== null,
        reason,
        agent: hit.userAgent.slice(0, MAX_USER_AGENT),
        client,
        device: deviceType,
        country: countryOf(hit),
        now: tx.now,
      },
    );
    if (!send.campaign_id) return;
    if (reason) return tx.emit('engagement.automated', { campaign_id: send.campaign_id, task_id: send.id });
    tx.emit('campaign.email_opened', {
      campaign_id: send.campaign_id,
      step_id: send.step_id,
      contact_id: send.contact_id,
      contact_email: send.recipient,
      email_account_id: send.mailbox_id,
      task_id: send.id,
      message_id: send.message_id,
      client,
      device_type: deviceType,
      opened_at: tx.now.toISOString(),
    });
  });
}
