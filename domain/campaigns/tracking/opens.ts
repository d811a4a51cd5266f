import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import { newId } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { createHitRecorder, type HitOn, type HitRecorder } from './hit-recorder.ts';
import { machineReason, type MachineReason } from './machine.ts';
import type { RecordedHit } from './repetitions.ts';
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

/** Returns the send id in a pixel's token. Returns undefined for an invalid token. */
export function sendOfPixel(deps: Deps, token: string): string | undefined {
  return readTrackingToken(deps.keyring.tracking.accepted, 'open', token);
}

/** Creates the recorder for fetched pixels of a process. A pixel is identified by the id of its send. */
export function createOpenRecorder(deps: Deps): HitRecorder<string> {
  return createHitRecorder<string>(deps, {
    name: 'opens',
    idOf: (sendId) => sendId,
    write: (hits, requestId) => recordOpens(deps, hits, requestId),
    mayCount: () => true,
  });
}

/**
 * Records that pixels were fetched. A person's open also sets the send's first open time and emits
 * campaign.email_opened. Opens of one organization are stored in one transaction.
 * @returns the recorded open of each fetch; undefined if the email no longer exists
 */
export async function recordOpens(
  deps: Deps,
  opens: readonly HitOn<string>[],
  requestId: string,
): Promise<(RecordedHit | undefined)[]> {
  const sends = (await across(deps.db, 'credential')
    .table('sends')
    .whereIn('id', [...new Set(opens.map(({ subject }) => subject))])
    .select(
      'id',
      'organization_id',
      'campaign_id',
      'step_id',
      'contact_id',
      'mailbox_id',
      'recipient',
      'message_id',
      'sent_at',
    )) as SendRow[];
  const bySend = new Map(sends.map((send) => [send.id, send]));
  const recorded = new Map<HitOn<string>, RecordedHit>();
  for (const organizationId of new Set(sends.map((send) => send.organization_id))) {
    const own = opens.flatMap((open) => {
      const send = bySend.get(open.subject);
      return send?.organization_id === organizationId ? [{ open, send }] : [];
    });
    await transact(systemCtx(deps, organizationId, requestId), async (tx) => {
      const hits = own.map(({ open, send }) => ({
        open,
        send,
        id: newId(),
        reason: machineReason(open.hit, tx.now, send.sent_at, deps.config.TRACKING_INSTANT_MS),
        ...originOf(open.hit.userAgent),
      }));
      await storeOpens(tx, hits);
      for (const hit of hits) emitOpen(tx, hit);
      for (const { open, send, id, reason } of hits)
        recorded.set(open, { id, organizationId, sentAt: send.sent_at, reason });
    });
  }
  return opens.map((open) => recorded.get(open));
}

interface OpenHit {
  open: HitOn<string>;
  send: SendRow;
  id: string;
  reason: MachineReason | null;
  client: string | null;
  deviceType: string | null;
}

async function storeOpens(tx: Tx, hits: readonly OpenHit[]): Promise<void> {
  await tx.org.sql(
    `with hits as (
       select t.*, s.campaign_id, s.step_id, s.contact_id, s.mailbox_id
       from unnest(:ids::uuid[], :sends::uuid[], :reasons::text[], :agents::text[], :clients::text[], :devices::text[], :countries::text[])
         as t(id, send_id, reason, agent, client, device, country)
       join sends s on s.organization_id = :org and s.id = t.send_id
     ), stored as (
       insert into engagement_events
         (id, organization_id, type, send_id, campaign_id, step_id, contact_id, mailbox_id, machine, machine_reason, user_agent, client, device_type, country_code, at)
       select id, :org, 'open', send_id, campaign_id, step_id, contact_id, mailbox_id, reason is not null, reason, agent, client, device, country, :now
       from hits
     ), firsts as (
       select send_id, bool_or(reason is null) as person, bool_or(reason is not null) as machine from hits group by send_id
     )
     update sends s set updated_at = :now,
       opened_at = case when f.person then coalesce(s.opened_at, :now) else s.opened_at end,
       machine_opened_at = case when f.machine then coalesce(s.machine_opened_at, :now) else s.machine_opened_at end
     from firsts f
     where s.organization_id = :org and s.id = f.send_id and (f.person and s.opened_at is null or f.machine and s.machine_opened_at is null)`,
    {
      ids: hits.map(({ id }) => id),
      sends: hits.map(({ send }) => send.id),
      reasons: hits.map(({ reason }) => reason),
      agents: hits.map(({ open }) => open.hit.userAgent.slice(0, MAX_USER_AGENT)),
      clients: hits.map(({ client }) => client),
      devices: hits.map(({ deviceType }) => deviceType),
      countries: hits.map(({ open }) => countryOf(open.hit)),
      now: tx.now,
    },
  );
}

function emitOpen(tx: Tx, { send, reason, client, deviceType }: OpenHit): void {
  if (!send.campaign_id) return;
  if (reason) return tx.emit('engagement.counted', { campaign_id: send.campaign_id, task_id: send.id });
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
}
