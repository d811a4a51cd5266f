import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';

/** Maximum number of clicks for which one transaction emits events. */
const BATCH = 500;

interface AnnouncedClick {
  at: Date;
  url: string | null;
  link_label: string | null;
  client: string | null;
  device_type: string | null;
  send_id: string;
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  mailbox_id: string | null;
  recipient: string;
  message_id: string | null;
}

/**
 * Publishes clicks that were not found to be part of a burst: sets the send's first click time, and emits
 * campaign.email_clicked with `url` and `link_label`. Several processes may call it concurrently; each click is
 * published once. Returns the number of published clicks.
 */
export async function announceClicks(deps: Deps, requestId: string): Promise<number> {
  const due = await across(deps.db, 'maintenance').sql<Columns<'engagement_events', 'organization_id'>>(
    `select distinct organization_id from engagement_events where announce_at <= :now`,
    { now: deps.clock.now() },
  );
  let announced = 0;
  for (const { organization_id: organizationId } of due) {
    for (;;) {
      const batch = await announceSome(deps, organizationId, requestId);
      announced += batch;
      if (batch < BATCH) break;
    }
  }
  return announced;
}

/** Returns the time (ms) until the next click must be announced; null if no click waits for its announcement. */
export async function untilNextAnnouncement({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number | null> {
  const [next] = await across(db, 'maintenance').sql<{ at: Date | null }>(
    'select min(announce_at) as at from engagement_events where announce_at is not null',
  );
  return next?.at ? Math.max(0, next.at.getTime() - clock.now().getTime()) : null;
}

function announceSome(deps: Deps, organizationId: string, requestId: string): Promise<number> {
  return transact(systemCtx(deps, organizationId, requestId), async (tx) => {
    // Locks the send before its clicks, as the recording of clicks does.
    const clicks = await tx.org.sql<AnnouncedClick & { sent: boolean }>(
      `with due as (
         select id, send_id from engagement_events where organization_id = :org and announce_at <= :now order by announce_at limit ${BATCH}
       ), held as (
         select id from sends where organization_id = :org and id in (select send_id from due) order by id for update skip locked
       ), announced as (
         update engagement_events e set announce_at = null from due d
         where e.id = d.id and e.announce_at is not null and (d.send_id in (select id from held) or not exists (select 1 from sends s where s.id = d.send_id))
         returning e.send_id, e.link_id, e.at, e.client, e.device_type
       ), first as (
         update sends s set clicked_at = t.at, updated_at = :now
         from (select send_id, min(at) as at from announced group by send_id) t where s.id = t.send_id and s.clicked_at is null
       )
       select t.at, t.client, t.device_type, t.send_id, l.url, l.label as link_label, s.campaign_id, s.step_id, s.contact_id, s.mailbox_id,
         s.recipient, s.message_id
       from announced t left join sends s on s.id = t.send_id left join tracked_links l on l.id = t.link_id
       order by t.at`,
      { now: tx.now },
    );
    for (const click of clicks) {
      if (!click.campaign_id) continue;
      tx.emit('campaign.email_clicked', {
        campaign_id: click.campaign_id,
        step_id: click.step_id,
        contact_id: click.contact_id,
        contact_email: click.recipient,
        email_account_id: click.mailbox_id,
        task_id: click.send_id,
        message_id: click.message_id,
        url: click.url,
        link_label: click.link_label,
        client: click.client,
        device_type: click.device_type,
        clicked_at: click.at.toISOString(),
      });
    }
    return clicks.length;
  });
}
