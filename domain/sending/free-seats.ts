import { createHash } from 'node:crypto';
import type { Columns } from '../../db/rows.ts';
import type { CampaignView } from './campaign/campaign-view.ts';
import { COMES_BACK, IS_ENABLED, isListed, poolBindings } from './campaign/sender-pool.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { readSeats, RESTS, SHORT, type PoolShape, type Seat, type SeatDay } from './seats.ts';

/** Which mailboxes a search is for. */
interface SeatSearch {
  /** Provider family they must have; null takes any. */
  family: string | null;
  pool: PoolShape;
  /** How many are needed. */
  needed: number;
  /** Free by this moment at the latest (epoch ms). */
  freeBy: number;
  /** The most that a mailbox may give the campaign on the day, beside its own cap. */
  share: number;
  /** Locked already. */
  except: readonly string[];
}

/** Mailboxes locked beside those that are needed, so that there is a choice by load. */
const CHOICE = 15;
/** Mailboxes of the organization looked at, by free time, before a long pool is read whole. */
const NEAR = 2_000;
/** Days for which a mailbox is known to have given a campaign its share, at most; of older ones it is found out again. */
const MOST_SPENT = 20;

/** Mailboxes that were locked. */
interface FreeSeats {
  seats: Seat[];
  /** No other mailbox of the search is free by the moment that was asked for. */
  isAll: boolean;
}

/**
 * Locks mailboxes of the pool that are free soonest, those that have rested longest first: as many as are needed and some more to
 * choose from. Others' locks are passed over, never waited for, except for the very last one when there is no other.
 */
export async function lockFree(tx: Tx, campaign: CampaignView, search: SeatSearch, on: SeatDay): Promise<FreeSeats> {
  const { pool, family, needed } = search;
  const bindings = { ...searchBindings(tx, campaign, search, on), freeBy: new Date(search.freeBy) };
  // Numbers in the text and not bindings: a kept plan must know that it may stop soon.
  const count = needed === 1 ? 1 + CHOICE : 100 + CHOICE;
  // Found first and locked then, so that it is known whether there are others behind locks: a pool that has given all it may today is gone through once.
  const lock = async (free: string): Promise<{ found: number; ids: string[] }> => {
    const [row] = await tx.org.sql<{ found: number; ids: string[] }>(
      `with found as materialized (${free} limit ${count}), locked as (
         select m.id from mailboxes m where ${usable(family)} and m.id = any(array(select id from found)) and ${IS_FREE} for no key update of m skip locked
       )
       select (select count(*) from found)::int as found, array(select id from locked) as ids` as `${string}:org${string}`,
      bindings,
    );
    return row!;
  };
  const lockBehind = async (most: number, wait: 'skip locked' | ''): Promise<string[]> => {
    const rows = await tx.org.sql<Columns<'mailboxes', 'id'>>(
      `${whole(family, pool)} limit ${most} for no key update of m ${wait}` as `${string}:org${string}`,
      bindings,
    );
    return rows.map(({ id }) => id);
  };
  let isWhole = pool !== 'long';
  let { found, ids } = await lock(isWhole ? whole(family, pool) : near(family));
  // The others of the organization are free before those of the pool, or these have little room left.
  if (ids.length < needed && !isWhole) {
    isWhole = true;
    ({ found, ids } = await lock(whole(family, pool)));
  }
  const isAll = isWhole && found < count && ids.length === found;
  if (ids.length < needed && found > ids.length)
    ids = [...new Set([...ids, ...(await lockBehind(count, 'skip locked'))])];
  if (ids.length === 0 && found > 0 && search.except.length === 0) ids = await lockBehind(1, '');
  return { seats: await readSeats(tx.org, campaign, ids, on), isAll };
}

/**
 * When the first mailbox of the pool will be free, beside those already looked at, one that rests included; undefined when
 * the pool holds none. Nothing is locked.
 * @param search.isLater none of the others is free now
 */
export async function poolFreeAt(
  tx: Tx,
  campaign: CampaignView,
  search: Omit<SeatSearch, 'needed' | 'freeBy'> & { isLater: boolean },
  on: SeatDay,
): Promise<{ at: Date | null } | undefined> {
  const { family, pool } = search;
  const members = `from mailboxes m where ${usable(family)} and ${COMES_BACK} and ${IS_MEMBER[pool]}`;
  // One that rests is never free before its rest ends.
  const later = search.isLater ? 'm.next_free_at > :now and' : '';
  const first =
    pool === 'short'
      ? `select m.next_free_at from ${inOrder(family, `p.id = ${LISTED_SHORT}`)} where ${later} ${COMES_BACK} and ${IS_ENABLED} and ${HAS_LEFT} order by in_order.next_free_at limit 1`
      : `select m.next_free_at ${members} and ${later} ${isUnspent('m')} and ${HAS_LEFT} order by m.next_free_at limit 1`;
  const [row] = await tx.org.sql<{ members: boolean; at: Date | null }>(
    `select exists (select 1 ${members}) as members, (${first}) as at` as `${string}:org${string}`,
    searchBindings(tx, campaign, search, on),
  );
  return row!.members ? { at: row!.at } : undefined;
}

function searchBindings(
  tx: Tx,
  campaign: CampaignView,
  { family, share, except }: Pick<SeatSearch, 'family' | 'share' | 'except'>,
  on: SeatDay,
) {
  return {
    ...poolBindings(campaign),
    now: tx.now,
    provider: family === null ? null : family === 'other' ? 'smtp_imap' : family,
    day: on.day,
    share,
    spent: spentDay(campaign.id, on.day, share),
    except,
  };
}

/**
 * What a mailbox that has given a campaign its share of a day keeps (`mailboxes.spent_days`), so that it is not looked at again for
 * it: another share, as after an edit, is another key. Whatever gives a slot back empties the list.
 */
export function spentDay(campaignId: string, day: string, share: number): string {
  const hex = createHash('sha256').update(`${campaignId}/${day}/${share}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** SQL: the list of mailbox `m` with a day added, the latest first. */
export function withSpentDay(day: string): string {
  return `(array_prepend(${day}, array_remove(m.spent_days, ${day})))[1:${MOST_SPENT}]`;
}

/** SQL: the mailboxes that a pool lists by choice or by a tag, some of them twice; in order, so that an index is read and not the table. */
const listed = (
  most: string,
): string => `(select mailbox_id from campaign_senders where campaign_id = :campaign order by mailbox_id ${most})
       union all (select mailbox_id from mailbox_tags where label_id = any(:tags::uuid[]) ${most})`;
const LISTED_SHORT = `any(array(${listed(`limit ${SHORT}`)}))`;

/** SQL condition: mailbox `m` is a sender of the campaign (sender-pool.ts), where the shape of the pool is known. */
const IS_MEMBER: Record<PoolShape, string> = {
  everybody: 'true',
  short: `m.id = ${LISTED_SHORT} and ${IS_ENABLED}`,
  long: isListed('m.id'),
};

/** An active mailbox of the organization, of a provider where one is asked for. */
function usable(family: string | null, table = 'm'): string {
  return `${table}.organization_id = :org and ${table}.status = 'active'${family === null ? '' : ` and ${table}.provider = :provider`}`;
}

/** Not known to have given what it may. */
const isUnspent = (table: string): string => `not (:spent = any(${table}.spent_days))`;

/** Beside those looked at already, and with something left for the campaign on the day. */
const HAS_LEFT = `not (m.id = any(:except::uuid[])) and (select count(*) from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id)
           < least(m.campaign_limit, :share::int)`;

/** By its row alone. Only `next_free_at` says when mailboxes are free that are not held: its index is walked until enough are found. */
const IS_FREE = `m.next_free_at <= :freeBy and not ${RESTS} and ${isUnspent('m')}`;
const MAY_GIVE = `${IS_FREE} and ${HAS_LEFT}`;

/** Goes through all mailboxes of the pool by free time. The ids of a short one are looked up one by one, whatever else there is. */
function whole(family: string | null, pool: PoolShape): string {
  if (pool === 'everybody')
    return `select m.id from ${inOrder(family, 'p.next_free_at <= :freeBy')} where ${usable(family)} and ${MAY_GIVE} order by in_order.next_free_at`;
  const members = pool === 'short' ? `p.id = ${LISTED_SHORT}` : `p.id in (${listed('')})`;
  return `select m.id from ${inOrder(family, `p.next_free_at <= :freeBy and ${members}`)}
     where ${usable(family)} and ${MAY_GIVE} and ${IS_ENABLED} order by in_order.next_free_at`;
}

/** Goes through the first mailboxes of the organization by free time, and takes those of a long pool: of the others no row is read. */
function near(family: string | null): string {
  return `select m.id from ${inOrder(family, 'p.next_free_at <= :freeBy', `limit ${NEAR}`)}
     where ${isListed('in_order.id')} and ${usable(family)} and ${MAY_GIVE} order by in_order.next_free_at`;
}

/**
 * Mailboxes in order by what an index alone says, without those that are known to have given what they may; whatever is counted for each of the others is
 * counted until enough have room.
 */
function inOrder(family: string | null, among: string, most = ''): string {
  return `(select p.id, p.next_free_at from mailboxes p where ${usable(family, 'p')} and ${among} and ${isUnspent('p')}
       order by p.next_free_at ${most}) in_order
     join mailboxes m on m.id = in_order.id`;
}
