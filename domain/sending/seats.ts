import { DAY_MS, nextUtcMidnight, utcDay } from '../../lib/clock.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { HOLDS_END, IS_SENDER_ONE, poolBindings } from './campaign/sender-pool.ts';
import type { CampaignView } from './campaign/campaign-view.ts';

/**
 * SQL for the provider family of a mailbox (`gmail`, `outlook`, `other`), with the same values as a contact's
 * `esp_provider`.
 */
const FAMILY = `case m.provider when 'smtp_imap' then 'other' else m.provider end`;
export const RESTS = `(m.hold_code is not null and (m.hold_until is null or m.hold_until > :now)
  or m.imap_hold_code is not null and (m.imap_hold_until is null or m.imap_hold_until > :now))`;
/** SQL for the time at which a mailbox can work again, which is the later end of its sending and reading holds. */
const RESTS_UNTIL = `greatest(case when m.hold_code is not null then m.hold_until end, case when m.imap_hold_code is not null then m.imap_hold_until end)`;

/**
 * SQL for the number of emails that a mailbox may send on a UTC day, warmup included. The number is lower while much of
 * the mailbox's warmup mail lands in spam, but at least one.
 */
export const CAP = `least(m.campaign_limit, greatest(1, floor(m.campaign_limit * coalesce((
    select case h.health_state when 'throttled' then 0.5 when 'quarantined' then 0.25 when 'blocked' then 0.25 else 1 end
    from warmup_standings h where h.mailbox_id = m.id and m.warmup is not null), 1))::int))`;

/**
 * Returns SQL that is true for an email of a campaign's test. Tests are sent at once and keep no gap to other emails.
 * @param send SQL of the email's id
 */
export function testEmailSql(send: string): string {
  return `exists (select from test_run_steps tested where tested.id = ${send})`;
}

/**
 * Returns SQL for the time of a mailbox's last email, including warmup but not tests. Null if it has none. Emails that
 * may have been sent, or that the server refused, are included.
 * @param mailbox SQL of the mailbox's id
 */
export function lastSentAt(mailbox: string): string {
  return `greatest((select l.sent_at from sends l where l.mailbox_id = ${mailbox} and l.sent_at is not null
           and not ${testEmailSql('l.id')} order by l.sent_at desc limit 1),
         (select l.claimed_at from sends l where l.mailbox_id = ${mailbox} and l.sent_at is null and l.state in ('uncertain', 'bounced')
           and not ${testEmailSql('l.id')} order by l.claimed_at desc nulls last limit 1),
         (select coalesce(w.sent_at, w.claimed_at) from warmup_mails w where w.mailbox_id = ${mailbox} and w.claimed_at is not null
            and w.state <> 'sending' order by w.claimed_at desc limit 1))`;
}

/** A locked mailbox with all data that decides when it may send. */
export interface Seat {
  id: string;
  /** Provider family (`gmail`, `outlook`, `other`), with the same values as a contact's `esp_provider`. */
  family: string;
  cap: number;
  weight: number;
  gapMs: number;
  /** Times (epoch ms, ascending) of reserved slots, of emails being sent, and of the latest sent email. */
  taken: number[];
  /** Number of emails per UTC day (YYYY-MM-DD), over all campaigns. */
  used: Map<string, number>;
  /** Number of this campaign's emails that the mailbox sends on the day. */
  given: number;
  /** True when a slot was reserved after the mailbox was read. */
  changed: boolean;
}

/** The campaign-local day for which slots are reserved. */
export interface SeatDay {
  /** Campaign-local date, YYYY-MM-DD. */
  day: string;
  /** Start of the period in which slots are reserved (epoch ms); `until` is its end. */
  from: number;
  until: number;
}

interface SeatRow {
  id: string;
  family: string;
  cap: number;
  weight: number;
  gap_seconds: number;
  /** Time of the mailbox's last email (epoch ms). */
  last_sent_at: number | null;
  taken: number[] | null;
  used: Record<string, number> | null;
  given: number;
}

/** Mailboxes of conversations that have begun, and the numbers of the campaign's emails on the day. */
export interface Decided {
  seats: Map<string, Seat>;
  /** End of the hold of each mailbox that has a temporary hold, by mailbox id. */
  resting: Map<string, Date>;
  /** Number of the campaign's emails on the day, and number of first emails among them. */
  given: { campaign: number; campaign_new: number };
  /** Shape of the campaign's sender pool, which determines how it is searched. */
  pool: PoolShape;
}

/** Shape of a pool: all mailboxes of the organization, a long list, or a list short enough to be read completely. */
export type PoolShape = 'everybody' | 'long' | 'short';

/** Maximum number of mailboxes in a short pool. */
export const SHORT = 300;

/**
 * Locks the campaign's slots, then the mailboxes of the contacts' conversations, in id order, and reads the campaign's
 * slots of the day. Mailboxes with a temporary hold are in `resting`. Neither list contains mailboxes that have left
 * the pool or wait for a person.
 */
export async function lockDecided(
  tx: Tx,
  campaign: CampaignView,
  ids: readonly string[],
  on: SeatDay,
): Promise<Decided> {
  // Both queries are sent together. PostgreSQL runs the second one when the locks of the first are taken.
  const [, { rows, given, listed, seats }] = await Promise.all([
    lockSlots(tx, campaign, ids),
    readBound(tx, campaign, ids, on),
  ]);
  const usable = new Set(rows.filter((row) => !row.rests).map(({ id }) => id));
  return {
    seats: new Map(seats.flatMap((row) => (usable.has(row.id) ? [[row.id, seatOf(row)] as const] : []))),
    resting: new Map(rows.flatMap((row) => (row.rests && row.until ? [[row.id, new Date(row.until)] as const] : []))),
    given: { campaign: 0, campaign_new: 0, ...given },
    pool:
      listed > SHORT
        ? 'long'
        : listed === 0 && campaign.sender_strategy === 'tags' && campaign.email_tags.length === 0
          ? 'everybody'
          : 'short',
  };
}

interface Bound {
  /** The mailboxes among `ids` that may still send for the campaign. `until` is the end of a hold, as text. */
  rows: { id: string; rests: boolean; until: string | null }[];
  given: Partial<Decided['given']> | null;
  /** Number of mailboxes plus number of tags in the campaign's list. Each is counted up to {@link SHORT} + 1. */
  listed: number;
  seats: SeatRow[];
}

/**
 * Locks the campaign's slots, then the mailboxes in id order. Until the end of the transaction PostgreSQL uses generic
 * query plans.
 */
async function lockSlots(tx: Tx, campaign: CampaignView, ids: readonly string[]): Promise<void> {
  const name = `campaign/${campaign.id}`;
  if (ids.length === 0) return tx.org.lock(name, { keepPlans: true });
  await tx.org.sql(
    `with campaign as materialized (
       select pg_advisory_xact_lock(hashtextextended(:name, 0)) is not null as locked, set_config('plan_cache_mode', 'force_generic_plan', true) as plans
     ), bound as materialized (
       -- PostgreSQL evaluates the first condition once, before it reads a row.
       select m.id from mailboxes m where (select locked from campaign) and m.organization_id = :org and m.id = any(:ids::uuid[])
       order by m.id for no key update of m
     )
     select locked, plans, (select count(*) from bound) from campaign`,
    { name, ids },
  );
}

/**
 * Reads the mailboxes among `ids` that may still send for the campaign, its slots of the day and its list of senders.
 * All must be locked by an earlier statement: data read in the locking statement could be older than the lock.
 */
async function readBound(tx: Tx, campaign: CampaignView, ids: readonly string[], on: SeatDay): Promise<Bound> {
  const [bound] = await tx.org.sql<Bound>(
    `with bound as materialized (
       select m.id, ${RESTS} as rests, case when ${HOLDS_END} then ${RESTS_UNTIL} end as until
       from mailboxes m where m.organization_id = :org and m.id = any(:ids::uuid[]) and m.status = 'active' and ${IS_SENDER_ONE}
     )
     select (select coalesce(jsonb_agg(b), '[]') from bound b) as rows,
       (select coalesce(jsonb_agg(seat), '[]') from (${SEATS}) seat) as seats,
       (select jsonb_object_agg(d.scope, d.count) from daily_counters d
        where d.organization_id = :org and d.scope_id = :campaign and d.scope in ('campaign', 'campaign_new') and d.day = :day::date) as given,
       -- The order makes the planner read an index instead of the table.
       (select count(*) from (select from campaign_senders where campaign_id = :campaign order by mailbox_id limit ${SHORT + 1}) chosen)
         + (select count(*) from (select from mailbox_tags where label_id = any(:tags::uuid[]) limit ${SHORT + 1}) tagged) as listed`,
    { ...poolBindings(campaign), ...seatBindings(campaign, ids, on), now: tx.now },
  );
  return bound!;
}

/** SQL of the mailboxes `:ids` as {@link Seat} rows for a campaign. Needs the bindings of {@link seatBindings}. */
const SEATS = `select m.id, ${FAMILY} as family, ${CAP} as cap, greatest(coalesce(c.weight, 1), 1) as weight, m.min_wait_time as gap_seconds,
       extract(epoch from ${lastSentAt('m.id')})::float8 * 1000 as last_sent_at,
       (select array_agg(extract(epoch from t.at)::float8 * 1000) from (
          select case s.state when 'sending' then s.claimed_at else s.slot_at end as at from sends s
          where s.mailbox_id = m.id and s.state in ('reserved', 'sending') and not ${testEmailSql('s.id')}
          union all
          select case w.state when 'sending' then w.claimed_at else w.slot_at end from warmup_mails w
          where w.mailbox_id = m.id and w.state in ('reserved', 'sending')) t) as taken,
       (select jsonb_object_agg(d.day, d.count) from daily_counters d
        where d.scope_id = m.id and d.scope = 'mailbox' and d.day between :first::date and :last::date) as used,
       (select count(*)::int from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id) as given
     from mailboxes m left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id
     where m.organization_id = :org and m.id = any(:ids::uuid[])`;

function seatBindings(campaign: Pick<CampaignView, 'id'>, ids: readonly string[], on: SeatDay) {
  return {
    campaign: campaign.id,
    ids,
    day: on.day,
    first: utcDay(on.from - DAY_MS),
    last: utcDay(on.until + DAY_MS),
  };
}

/** Reads mailboxes that the caller has locked, as {@link readBound} does. */
export async function readSeats(
  org: OrgScope,
  campaign: Pick<CampaignView, 'id'>,
  ids: readonly string[],
  on: SeatDay,
): Promise<Seat[]> {
  if (ids.length === 0) return [];
  const rows = await org.sql<SeatRow>(SEATS as `${string}:org${string}`, seatBindings(campaign, ids, on));
  return rows.map(seatOf);
}

function seatOf(row: SeatRow): Seat {
  const last = row.last_sent_at === null ? [] : [row.last_sent_at];
  return {
    id: row.id,
    family: row.family,
    cap: row.cap,
    weight: row.weight,
    gapMs: row.gap_seconds * 1000,
    taken: [...(row.taken ?? []).map(Math.round), ...last.map(Math.round)].sort((a, b) => a - b),
    used: new Map(Object.entries(row.used ?? {})),
    given: row.given,
    changed: false,
  };
}

/**
 * Returns the first time from `at` (epoch ms) on that keeps the minimum gap to all slots and the cap of the UTC day. If
 * that time is later than `at`, it is delayed by up to `spreadMs`, but not so much that the gap to the following slot
 * is too short. Searches at most four days.
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

/** Adds a slot (epoch ms) to a mailbox in memory. */
export function occupySlot(seat: Seat, at: number): void {
  const place = seat.taken.findLastIndex((other) => other <= at) + 1;
  seat.taken.splice(place, 0, at);
  seat.used.set(utcDay(at), (seat.used.get(utcDay(at)) ?? 0) + 1);
  seat.given += 1;
  seat.changed = true;
}
