import { LRUCache } from 'lru-cache';
import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { createHitRecorder, type HitOn, type HitRecorder } from './hit-recorder.ts';
import { BURST_MS, machineReason, type MachineReason } from './machine.ts';
import type { RecordedHit } from './repetitions.ts';
import { MAX_USER_AGENT } from '../../platform/kernel/actor.ts';
import { countryOf, originOf } from './user-agent.ts';

const UUID_LENGTH = 36;

/**
 * Row of a tracked link in an email. It is kept when the campaign is deleted. `sent_at` is null while the email is
 * being sent.
 */
type Ticket = Columns<'tracked_links', 'id' | 'organization_id' | 'url' | 'send_id'> & Columns<'sends', 'sent_at'>;

/**
 * Time (ms) for which a process caches tickets, and their maximum number. A cached entry is wrong only if a tracking
 * domain moves to another workspace, which is rare.
 */
const KEPT_MS = 60_000;
const KEPT = 20_000;

/** Finds the ticket of a tracked link; undefined if there is none. */
type FindTicket = (path: string, hosts?: readonly string[]) => Promise<Ticket | undefined>;

/**
 * Returns a function that finds the tickets of tracked links and caches them. A link's id is an HMAC, which cannot be
 * guessed, and the redirect uses the stored URL. Therefore a visitor cannot choose the target. On the tracking domain
 * of one workspace only links of that workspace work, because visitors trust the domain's owner.
 *
 * The function's `path` is the id, possibly followed by text that a mail program added to the link. Its `hosts` are the
 * host names that the visitor's browser and the proxies in between may have requested, in lower case.
 */
export function createTicketLookup(deps: Deps): FindTicket {
  const kept = new LRUCache<string, Ticket>({ max: KEPT, ttl: KEPT_MS });
  return async (path, hosts = []) => {
    const id = path.slice(0, UUID_LENGTH);
    if (!isUuid(id)) return undefined;
    const key = [id, ...hosts].join(' ');
    const found = kept.get(key) ?? (await readTicket(deps, id, hosts));
    // Does not cache a ticket without a sending time, because the next click needs that time.
    if (found?.sent_at) kept.set(key, found);
    return found;
  };
}

async function readTicket(deps: Deps, id: string, hosts: readonly string[]): Promise<Ticket | undefined> {
  const [ticket] = await across(deps.db, 'credential').sql<Ticket>(
    `select l.id, l.organization_id, l.url, l.send_id, case when s.id is null then l.created_at else s.sent_at end as sent_at
     from tracked_links l left join sends s on s.id = l.send_id
     where l.id = :id and not exists (
       select 1 from tracking_domains d where d.domain = any(cast(:hosts as text[])) and d.organization_id <> l.organization_id)`,
    { id, hosts },
  );
  return ticket && /^https?:\/\//i.test(ticket.url) ? ticket : undefined;
}

/**
 * Creates the recorder for clicks of a process. Only repeated clicks of a machine are merely counted. Each click of a
 * person is stored, because it may become part of a burst.
 */
export function createClickRecorder(deps: Deps): HitRecorder<Ticket> {
  return createHitRecorder<Ticket>(deps, {
    name: 'clicks',
    idOf: ({ id }) => id,
    write: (hits, requestId) => recordClicks(deps, hits, requestId),
    mayCount: ({ reason }) => reason !== null,
  });
}

/**
 * Records clicks on tracked links. A machine's click is recorded as final at once. A person's click is announced {@link
 * BURST_MS} later (see {@link announceClicks}). If a second link of the same email is clicked within that time, both
 * clicks are recorded as a burst. Clicks of one organization are stored in one transaction.
 */
export async function recordClicks(
  deps: Deps,
  clicks: readonly HitOn<Ticket>[],
  requestId: string,
): Promise<RecordedHit[]> {
  const recorded = new Map<HitOn<Ticket>, RecordedHit>();
  for (const organizationId of new Set(clicks.map(({ subject }) => subject.organization_id))) {
    await transact(systemCtx(deps, organizationId, requestId), async (tx) => {
      const hits = clicks.flatMap((click) =>
        click.subject.organization_id === organizationId
          ? [
              {
                id: newId(),
                click,
                reason: machineReason(click.hit, tx.now, click.subject.sent_at, deps.config.TRACKING_INSTANT_MS),
              },
            ]
          : [],
      );
      // Locks the emails, so that the second of two concurrent clicks in one email sees the first.
      const sends = hits.flatMap(({ click, reason }) => (reason ? [] : [click.subject.send_id]));
      if (sends.length > 0)
        await tx.org.sql(
          'select id from sends where organization_id = :org and id = any(:sends::uuid[]) order by id for update',
          { sends: [...new Set(sends)] },
        );
      for (const { id, click, reason } of hits)
        recorded.set(click, { id, organizationId, sentAt: click.subject.sent_at, reason });
      for (let left = hits; left.length > 0;) {
        // Stores clicks of the same email one after the other, because each must read the earlier ones.
        const emails = new Set<string>();
        const next = left.filter(
          ({ click }) => !emails.has(click.subject.send_id) && emails.add(click.subject.send_id),
        );
        await store(tx, next);
        left = left.filter((hit) => !next.includes(hit));
      }
    });
  }
  return clicks.map((click) => recorded.get(click)!);
}

interface ClickHit {
  id: string;
  click: HitOn<Ticket>;
  reason: MachineReason | null;
}

/** Stores clicks of different emails, at most one per email. */
async function store(tx: Tx, hits: readonly ClickHit[]): Promise<void> {
  const origins = hits.map(({ click }) => originOf(click.hit.userAgent));
  const automated = await tx.org.sql<{ send_id: string; campaign_id: string | null }>(
    `with hits as (
       select t.*, s.campaign_id, s.contact_id, s.mailbox_id, l.step_id
       from unnest(:ids::uuid[], :sends::uuid[], :links::uuid[], :reasons::text[], :agents::text[], :clients::text[], :devices::text[], :countries::text[])
         as t(id, send_id, link_id, reason, agent, client, device, country)
       left join sends s on s.organization_id = :org and s.id = t.send_id
       left join tracked_links l on l.organization_id = :org and l.id = t.link_id
     ), fellows as (
       select h.id as hit, e.id, e.announce_at, h.reason
       from hits h join engagement_events e on e.organization_id = :org and e.send_id = h.send_id and e.type = 'click' and e.link_id <> h.link_id
         and e.at > :since and (e.announce_at is not null or e.machine_reason = 'burst')
     ), unmasked as (
       update engagement_events e set machine = true, machine_reason = 'burst', announce_at = null
       from fellows f where e.id = f.id and f.announce_at is not null and f.reason is null
     ), verdicts as (
       select h.*, coalesce(h.reason, case when exists (select from fellows f where f.hit = h.id) then 'burst' end) as verdict from hits h
     ), stored as (
       insert into engagement_events
         (id, organization_id, type, send_id, campaign_id, step_id, contact_id, mailbox_id, link_id, machine, machine_reason, user_agent, client,
          device_type, country_code, announce_at, at)
       select id, :org, 'click', send_id, campaign_id, step_id, contact_id, mailbox_id, link_id, verdict is not null, verdict, agent, client,
         device, country, case when verdict is null then :due::timestamptz end, :now
       from verdicts
     ), marked as (
       update sends s set machine_clicked_at = :now, updated_at = :now from verdicts v
       where s.organization_id = :org and s.id = v.send_id and s.machine_clicked_at is null and v.verdict is not null
     )
     select send_id, campaign_id from verdicts where verdict is not null`,
    {
      ids: hits.map(({ id }) => id),
      sends: hits.map(({ click }) => click.subject.send_id),
      links: hits.map(({ click }) => click.subject.id),
      reasons: hits.map(({ reason }) => reason),
      agents: hits.map(({ click }) => click.hit.userAgent.slice(0, MAX_USER_AGENT)),
      clients: origins.map(({ client }) => client),
      devices: origins.map(({ deviceType }) => deviceType),
      countries: hits.map(({ click }) => countryOf(click.hit)),
      since: new Date(tx.now.getTime() - BURST_MS),
      due: new Date(tx.now.getTime() + BURST_MS),
      now: tx.now,
    },
  );
  for (const { send_id, campaign_id } of automated)
    if (campaign_id) tx.emit('engagement.counted', { campaign_id, task_id: send_id });
}
