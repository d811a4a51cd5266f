import { DAY_MS, nextUtcMidnight } from '../../../lib/clock.ts';
import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { Tx } from '../../kernel/transact.ts';
import { COMES_BACK, IS_SENDER, POOL_TABLES, poolBindings } from '../campaign/sender-pool.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';

/** Mail provider family of a mailbox, as contacts have it. */
const FAMILY = `case m.provider when 'smtp_imap' then 'other' else m.provider end`;
const RESTS = `(m.hold_code is not null and (m.hold_until is null or m.hold_until > :now)
  or m.imap_hold_code is not null and (m.imap_hold_until is null or m.imap_hold_until > :now))`;
/** When a resting mailbox comes back: the later of what sending and what reading is held for. */
const RESTS_UNTIL = `greatest(case when m.hold_code is not null then m.hold_until end, case when m.imap_hold_code is not null then m.imap_hold_until end)`;

/** Emails a mailbox may send on a UTC day, warmup included: fewer while much of its warmup mail lands in spam, but one at least. */
const CAP = `least(m.campaign_limit, greatest(1, floor(m.campaign_limit * coalesce((
    select case h.health_state when 'throttled' then 0.5 when 'quarantined' then 0.25 when 'blocked' then 0.25 else 1 end
    from warmup_standings h where h.mailbox_id = m.id and m.warmup is not null), 1))::int))`;

/** A locked mailbox with everything that decides when it may send. */
export interface Seat {
  id: string;
  /** Provider family, as contacts have it. */
  family: string;
  cap: number;
  weight: number;
  gapMs: number;
  /** Slots given out and not sent yet, and the latest email that left; epoch ms, ascending. */
  taken: number[];
  /** Emails per UTC day (YYYY-MM-DD), over all campaigns. */
  used: Map<string, number>;
  /** Emails it has given this campaign on the day in question. */
  given: number;
  /** Slots were given out since the seat was read. */
  changed: boolean;
}

/** The campaign day slots are given out for. */
export interface SeatDay {
  /** Campaign-local, YYYY-MM-DD. */
  day: string;
  /** Epoch ms. */
  from: number;
  until: number;
}

interface SeatRow {
  id: string;
  family: string;
  cap: number;
  weight: number;
  gap_seconds: number;
  last_sent_at: Date | null;
  taken: number[] | null;
  used: Record<string, number> | null;
  given: number;
}

/** The mailboxes of conversations that have begun, usable or held, and how many slots the campaign has given on the day. */
export interface Decided {
  seats: Map<string, Seat>;
  /** Those that rest for a while, until when. */
  resting: Map<string, Date>;
  /** All of the campaign's emails, and first emails among them. */
  given: { campaign: number; campaign_new: number };
  /** How the mailboxes of the campaign are best gone through. */
  pool: PoolShape;
}

/** The pool is all mailboxes of the organization, a list of many, or a list so short that it is read whole. */
type PoolShape = 'everybody' | 'long' | 'short';

/** Mailboxes of a pool up to which it is read whole. */
const SHORT = 300;

/**
 * Locks mailboxes that contacts are bound to, in one order, and reads what the campaign has given out. One that rests
 * comes back; one that has left the pool, or waits for a person, is in neither list. The campaign must be locked.
 */
export async function lockDecided(
  tx: Tx,
  campaign: CampaignView,
  ids: readonly string[],
  on: SeatDay,
): Promise<Decided> {
  const lock = tx.org.sql<{
    mailboxes: { id: string; rests: boolean; until: string | null }[] | null;
    given: Partial<Decided['given']> | null;
    listed: number;
  }>(
    `with locked as materialized (
       select m.id, ${RESTS} as rests, case when ${COMES_BACK} then ${RESTS_UNTIL} end as until
       from mailboxes m left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id
       where m.organization_id = :org and m.id = any(:ids::uuid[]) and m.status = 'active' and ${IS_SENDER}
       order by m.id for no key update of m
     )
     select (select jsonb_agg(l) from locked l) as mailboxes,
       (select jsonb_object_agg(d.scope, d.count) from daily_counters d
        where d.organization_id = :org and d.scope_id = :campaign and d.scope in ('campaign', 'campaign_new') and d.day = :day::date) as given,
       (select count(*)::int from (${LISTED} limit :short) listed) as listed`,
    { ...poolBindings(campaign), ids, now: tx.now, day: on.day, short: SHORT + 1 },
  );
  // Sent together; the second begins when the first has its locks.
  const [[found], seats] = await Promise.all([lock, readSeats(tx.org, campaign, ids, on)]);
  const rows = found!.mailboxes ?? [];
  const usable = new Set(rows.filter((row) => !row.rests).map(({ id }) => id));
  return {
    seats: new Map(seats.flatMap((seat) => (usable.has(seat.id) ? [[seat.id, seat] as const] : []))),
    resting: new Map(rows.flatMap((row) => (row.rests && row.until ? [[row.id, new Date(row.until)] as const] : []))),
    given: { campaign: 0, campaign_new: 0, ...found!.given },
    pool:
      found!.listed > SHORT
        ? 'long'
        : found!.listed === 0 && campaign.sender_strategy === 'tags' && campaign.email_tags.length === 0
          ? 'everybody'
          : 'short',
  };
}

/** Which mailboxes a search is for. */
export interface SeatSearch {
  /** Provider family they must have; null takes any. */
  family: string | null;
  pool: PoolShape;
  /** How many are wanted. */
  count: number;
  /** Free by this moment at the latest (epoch ms). */
  freeBy: number;
  /** What a mailbox may give the campaign on the day. */
  ramp: { level: number } | null;
  dailyLimit: number;
  /** Emails the campaign has given out on the day. */
  given: number;
  /** Locked already. */
  except: readonly string[];
}

/** Mailboxes of the organization looked at, by free time, before a long pool is read whole. */
const NEAR = 2_000;

/**
 * Locks mailboxes of the pool that are free soonest, those that have rested longest first. Others' locks are passed
 * over, never waited for, except for the very last one when there is no other.
 */
export async function lockFree(tx: Tx, campaign: CampaignView, search: SeatSearch, on: SeatDay): Promise<Seat[]> {
  const { pool, family, count } = search;
  const bindings = { ...searchBindings(tx, campaign, search, on), freeBy: new Date(search.freeBy) };
  const lock = (text: string, more: Record<string, number> = {}) =>
    tx.org.sql<Columns<'mailboxes', 'id'>>(text as `${string}:org${string}`, { ...bindings, count, ...more });
  const all = pool === 'everybody' ? byTime(family) : byPool(family, pool);
  let rows =
    pool === 'long'
      ? await lock(`${nearest(family)} for no key update of m skip locked`, { near: NEAR })
      : await lock(`${all} for no key update of m skip locked`);
  // The others of the organization are free before those of the pool, or these have little room left.
  if (rows.length < count && pool === 'long') rows = await lock(`${all} for no key update of m skip locked`);
  if (rows.length === 0 && search.except.length === 0) rows = await lock(`${all} for no key update of m`, { count: 1 });
  return readSeats(
    tx.org,
    campaign,
    rows.map(({ id }) => id),
    on,
  );
}

function searchBindings(
  tx: Tx,
  campaign: CampaignView,
  { family, ramp, dailyLimit, given, except }: Omit<SeatSearch, 'count' | 'freeBy'>,
  on: SeatDay,
) {
  return {
    ...poolBindings(campaign),
    now: tx.now,
    provider: family === null ? null : family === 'other' ? 'smtp_imap' : family,
    day: on.day,
    limit: dailyLimit,
    level: ramp?.level ?? null,
    gather: given > FEW_EMAILS && Math.min(dailyLimit, ramp?.level ?? Infinity) < FEW_EACH,
    except,
  };
}

/** Mailboxes listed as senders of the campaign, by choice or by a tag. */
const LISTED = `select mailbox_id from campaign_senders where campaign_id = :campaign
       union all select mailbox_id from mailbox_tags where label_id = any(:tags::uuid[])`;

const IN_SHORT = `m.id = any(array(${LISTED}))`;

/** Emails of a day up to which those of every mailbox are counted one by one. */
const FEW_EMAILS = 500;
/** Where a mailbox may give so few a day, many have given theirs: those are found at once, and not one by one. */
const FEW_EACH = 20;
const SPENT = `(not :gather or m.id not in (select s.mailbox_id from sends s
           where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id is not null
           group by s.mailbox_id having count(*) >= least(:limit::int, :level::int)))`;

/**
 * A sender of the campaign that has something left for it on the day, beside those looked at already. Only of senders it is
 * counted what they have given.
 */
const HAS_LEFT = `not (m.id = any(:except::uuid[])) and case when ${IS_SENDER} and ${SPENT} then
         (select count(*) from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id)
           < least(m.campaign_limit, :limit::int, :level::int) else false end`;

/** Only `next_free_at` says when mailboxes are free that are not held: its index is walked until enough are found. */
const MAY_GIVE = `m.next_free_at <= :freeBy and not ${RESTS} and ${HAS_LEFT}`;

/** An active mailbox of the organization, of a provider where one is asked for. */
function usable(family: string | null, table = 'm'): string {
  return `${table}.organization_id = :org and ${table}.status = 'active'${family === null ? '' : ` and ${table}.provider = :provider`}`;
}

/** Goes through all mailboxes of the organization by free time, and stops when enough are found. */
function byTime(family: string | null): string {
  return `select m.id from ${POOL_TABLES} where ${usable(family)} and ${MAY_GIVE} order by m.next_free_at limit :count`;
}

/** As {@link byTime}, but stops after `near` of them too. */
function nearest(family: string | null): string {
  return `select m.id
     from (select p.id, p.next_free_at from mailboxes p where ${usable(family, 'p')} and p.next_free_at <= :freeBy
       order by p.next_free_at limit :near) near
     join mailboxes m on m.id = near.id left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id
     where ${usable(family)} and ${MAY_GIVE} order by near.next_free_at limit :count`;
}

/** Goes through the mailboxes of the pool. The ids of a short one are looked up one by one, whatever else there is. */
function byPool(family: string | null, pool: 'long' | 'short'): string {
  const listed = pool === 'short' ? IN_SHORT : `m.id in (${LISTED})`;
  return `select m.id from ${POOL_TABLES} where ${usable(family)} and ${listed} and ${MAY_GIVE} order by m.next_free_at limit :count`;
}

/**
 * When the first mailbox of the pool will be free, beside those already looked at, one that rests included; undefined when
 * the pool holds none. Nothing is locked.
 */
export async function poolFreeAt(
  tx: Tx,
  campaign: CampaignView,
  search: Omit<SeatSearch, 'count' | 'freeBy'>,
  on: SeatDay,
): Promise<{ at: Date | null } | undefined> {
  const listed = search.pool === 'short' ? ` and ${IN_SHORT}` : '';
  const members = `from ${POOL_TABLES} where ${usable(search.family)} and ${COMES_BACK} and ${IS_SENDER}${listed}`;
  const [row] = await tx.org.sql<{ members: boolean; at: Date | null }>(
    `select exists (select 1 ${members}) as members,
       (select m.next_free_at ${members} and ${HAS_LEFT} order by m.next_free_at limit 1) as at` as `${string}:org${string}`,
    searchBindings(tx, campaign, search, on),
  );
  return row!.members ? { at: row!.at } : undefined;
}

/** Reads locked mailboxes. A statement of its own: what was read beside a row waited for would be older than its lock. */
export async function readSeats(
  org: OrgScope,
  campaign: Pick<CampaignView, 'id'>,
  ids: readonly string[],
  on: SeatDay,
): Promise<Seat[]> {
  if (ids.length === 0) return [];
  const rows = await org.sql<SeatRow>(
    `select m.id, ${FAMILY} as family, ${CAP} as cap, greatest(coalesce(c.weight, 1), 1) as weight, m.min_wait_time as gap_seconds,
       greatest((select max(s.sent_at) from sends s where s.mailbox_id = m.id),
         -- One that may have left, or that the server refused, keeps its distance too.
         (select max(s.claimed_at) from sends s where s.mailbox_id = m.id and s.sent_at is null and s.state in ('uncertain', 'bounced')),
         (select coalesce(w.sent_at, w.claimed_at) from warmup_mails w where w.mailbox_id = m.id and w.claimed_at is not null
            and w.state <> 'sending' order by w.claimed_at desc limit 1)) as last_sent_at,
       (select array_agg(extract(epoch from t.slot_at)::float8 * 1000) from (
          select s.slot_at from sends s where s.mailbox_id = m.id and s.state in ('reserved', 'sending')
          union all
          select w.slot_at from warmup_mails w where w.mailbox_id = m.id and w.state in ('reserved', 'sending')) t) as taken,
       (select jsonb_object_agg(d.day, d.count) from daily_counters d
        where d.scope_id = m.id and d.scope = 'mailbox' and d.day between :first::date and :last::date) as used,
       (select count(*)::int from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id) as given
     from mailboxes m left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id
     where m.organization_id = :org and m.id = any(:ids::uuid[])`,
    { campaign: campaign.id, ids, day: on.day, first: utcDay(on.from - DAY_MS), last: utcDay(on.until + DAY_MS) },
  );
  return rows.map((row) => ({
    id: row.id,
    family: row.family,
    cap: row.cap,
    weight: row.weight,
    gapMs: row.gap_seconds * 1000,
    taken: [...(row.taken ?? []).map(Math.round), ...(row.last_sent_at ? [row.last_sent_at.getTime()] : [])].sort(
      (a, b) => a - b,
    ),
    used: new Map(Object.entries(row.used ?? {})),
    given: row.given,
    changed: false,
  }));
}

/**
 * The first moment from `at` (epoch ms) on that keeps the seat's gap to all its slots and its cap of the UTC day. A wait
 * for another slot grows by the spread where that leaves the next slot its gap. At most a few days are searched.
 */
export function freeFrom(seat: Seat, at: number, spreadMs = 0): number {
  const { taken, gapMs, cap, used } = seat;
  if (cap <= 0) return Infinity;
  let free = at;
  for (let days = 0; days < 4; days += 1) {
    for (const [index, other] of taken.entries()) {
      if (Math.abs(free - other) >= gapMs) continue;
      const next = taken[index + 1] ?? Infinity;
      const spread = other + gapMs + spreadMs <= next - gapMs ? spreadMs : 0;
      free = other + gapMs + spread;
    }
    if ((used.get(utcDay(free)) ?? 0) < cap) return free;
    free = nextUtcMidnight(free);
  }
  return free;
}

/** Takes a slot of a seat (epoch ms). */
export function takeSlot(seat: Seat, at: number): void {
  const place = seat.taken.findLastIndex((other) => other <= at) + 1;
  seat.taken.splice(place, 0, at);
  seat.used.set(utcDay(at), (seat.used.get(utcDay(at)) ?? 0) + 1);
  seat.given += 1;
  seat.changed = true;
}

/** The UTC day of a moment (epoch ms), YYYY-MM-DD. */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
