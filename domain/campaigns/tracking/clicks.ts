import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { BURST_MS, machineReason, type Hit, type MachineReason } from './machine.ts';
import { MAX_USER_AGENT } from '../../platform/kernel/actor.ts';
import { countryOf, originOf } from './user-agent.ts';

const UUID_LENGTH = 36;

/** A link of a sent email: its target and the rows it belongs to. The ticket is kept when its campaign is deleted. */
interface Ticket
  extends
    Columns<'tracked_links', 'id' | 'organization_id' | 'url' | 'send_id'>,
    /** Columns of the send; null if it was deleted. `sent_at` is also null during sending. */
    Columns<'sends', 'campaign_id' | 'step_id' | 'contact_id' | 'mailbox_id' | 'sent_at'> {}

/**
 * Finds the ticket of a tracked link; undefined if there is none. Its id is an HMAC, which cannot be guessed, and the
 * redirect uses the stored URL. So a visitor cannot choose the target. On the tracking domain of one workspace only
 * links of that workspace work, because visitors trust the domain's owner.
 * @param path the id, possibly followed by text that a mail program added to the link
 * @param hosts host names that the visitor's browser and the proxies in between may have requested, in lower case
 */
export async function findTicket(deps: Deps, path: string, hosts: readonly string[] = []): Promise<Ticket | undefined> {
  const id = path.slice(0, UUID_LENGTH);
  if (!isUuid(id)) return undefined;
  const [ticket] = await across(deps.db, 'credential').sql<Ticket>(
    `select l.id, l.organization_id, l.url, l.send_id, s.campaign_id, l.step_id, s.contact_id, s.mailbox_id,
       case when s.id is null then l.created_at else s.sent_at end as sent_at
     from tracked_links l left join sends s on s.id = l.send_id
     where l.id = :id and not exists (
       select 1 from tracking_domains d where d.domain = any(cast(:hosts as text[])) and d.organization_id <> l.organization_id)`,
    { id, hosts },
  );
  return ticket && /^https?:\/\//i.test(ticket.url) ? ticket : undefined;
}

/**
 * Records a click on a tracked link. A machine's click is recorded as final at once. A person's click is announced
 * {@link BURST_MS} later (see {@link announceClicks}): a second link of the same email clicked within that time turns
 * both clicks into a burst.
 */
export async function recordClick(deps: Deps, ticket: Ticket, hit: Hit, requestId: string): Promise<void> {
  await transact(systemCtx(deps, ticket.organization_id, requestId), async (tx) => {
    const reason = machineReason(hit, tx.now, ticket.sent_at, deps.config.TRACKING_INSTANT_MS);
    // Locks the send, so that the second of two concurrent clicks in one email sees the first.
    if (!reason)
      await tx.org.sql(`select id from sends where organization_id = :org and id = :send for update`, {
        send: ticket.send_id,
      });
    await store(tx, ticket, hit, reason);
  });
}

async function store(tx: Tx, ticket: Ticket, hit: Hit, reason: MachineReason | null): Promise<void> {
  const { client, deviceType } = originOf(hit.userAgent);
  const automated = await tx.org.sql(
    `with fellows as (
       select id, announce_at from engagement_events
       where organization_id = :org and send_id = :send and type = 'click' and link_id <> :link and at > :since
         and (announce_at is not null or machine_reason = 'burst')
     ), unmasked as (
       update engagement_events e set machine = true, machine_reason = 'burst', announce_at = null
       from fellows f where e.id = f.id and f.announce_at is not null and :reason::text is null
     ), verdict as (
       select coalesce(:reason::text, case when exists (select 1 from fellows) then 'burst' end) as reason
     ), hit as (
       insert into engagement_events
         (id, organization_id, type, send_id, campaign_id, step_id, contact_id, mailbox_id, link_id, machine, machine_reason, user_agent, client,
          device_type, country_code, announce_at, at)
       select :event, :org, 'click', :send, :campaign, :step, :contact, :mailbox, :link, reason is not null, reason, :agent, :client,
         :device, :country, case when reason is null then :due::timestamptz end, :now
       from verdict
     ), marked as (
       update sends set machine_clicked_at = :now, updated_at = :now
       where organization_id = :org and id = :send and machine_clicked_at is null and exists (select 1 from verdict where reason is not null)
     )
     select 1 from verdict where reason is not null`,
    {
      event: newId(),
      send: ticket.send_id,
      campaign: ticket.campaign_id,
      step: ticket.step_id,
      contact: ticket.contact_id,
      mailbox: ticket.mailbox_id,
      link: ticket.id,
      reason,
      agent: hit.userAgent.slice(0, MAX_USER_AGENT),
      client,
      device: deviceType,
      country: countryOf(hit),
      since: new Date(tx.now.getTime() - BURST_MS),
      due: new Date(tx.now.getTime() + BURST_MS),
      now: tx.now,
    },
  );
  if (automated.length > 0 && ticket.campaign_id)
    tx.emit('engagement.counted', { campaign_id: ticket.campaign_id, task_id: ticket.send_id });
}
