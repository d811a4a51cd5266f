import { createHash } from 'node:crypto';
import type { Columns } from '../../db/rows.ts';
import type { CampaignView } from './campaign/campaign-view.ts';
import { HOLDS_END, IS_ENABLED, isListed, poolBindings } from './campaign/sender-pool.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { readSeats, RESTS, SHORT, type PoolShape, type Seat, type SeatDay } from './seats.ts';

/** Criteria of a search for free mailboxes. */
interface SeatSearch {
  /** Required mail provider (`gmail`, `outlook`, `other`). Null accepts any. */
  family: string | null;
  pool: PoolShape;
  /** Number of mailboxes needed. */
  needed: number;
  /** Latest time (epoch ms) at which a mailbox must be free. */
  freeBy: number;
  /**
   * Maximum number of emails that a mailbox may send for the campaign on the day. The mailbox's own daily limit applies
   * as well.
   */
  share: number;
  /** Ids of mailboxes that are locked already. */
  except: readonly string[];
}

/** Number of mailboxes to lock in addition to those needed, so that the least loaded ones can be chosen. */
const CHOICE = 15;
/**
 * Number of the organization's mailboxes to check first, starting with the one that is free soonest. If none fits, a
 * long pool is searched completely.
 */
const NEAR = 2_000;
/** Maximum number of entries in a mailbox's `spent_days`. Entries that were dropped are computed again. */
const MAX_SPENT = 20;

/** Mailboxes that the search has locked. */
interface FreeSeats {
  seats: Seat[];
  /** True when no other mailbox of the search is free by the requested time. */
  isAll: boolean;
}

/**
 * Locks the pool's mailboxes that are free soonest, first those idle longest. Locks some more than needed, for a choice
 * by load. Skips mailboxes locked by other transactions, and waits for a lock only if there is no other mailbox.
 */
export async function lockFree(tx: Tx, campaign: CampaignView, search: SeatSearch, on: SeatDay): Promise<FreeSeats> {
  const { pool, family, needed } = search;
  const bindings = { ...searchBindings(tx, campaign, search, on), freeBy: new Date(search.freeBy) };
  // The count is part of the SQL text, not a binding, so that a cached plan knows that it may stop early.
  const count = needed === 1 ? 1 + CHOICE : 100 + CHOICE;
  // Counts the free mailboxes before it locks them. If it can lock only some of them, other transactions have locked
  // the others. Otherwise the pool is exhausted and is not searched again.
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
  // The first {@link NEAR} mailboxes contained too few of the pool with quota left. Searches the whole pool.
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
 * Returns the earliest time at which another mailbox of the pool, held ones included, is free; undefined if the pool is
 * empty. Takes no locks.
 * @param search.isLater true if no other mailbox is free now
 */
export async function poolFreeAt(
  tx: Tx,
  campaign: CampaignView,
  search: Omit<SeatSearch, 'needed' | 'freeBy'> & { isLater: boolean },
  on: SeatDay,
): Promise<{ at: Date | null } | undefined> {
  const { family, pool } = search;
  const members = `from mailboxes m where ${usable(family)} and ${HOLDS_END} and ${IS_MEMBER[pool]}`;
  // A held mailbox is never free before its hold ends.
  const later = search.isLater ? 'm.next_free_at > :now and' : '';
  const first =
    pool === 'short'
      ? `select m.next_free_at from ${inOrder(family, `p.id = ${LISTED_SHORT}`)} where ${later} ${HOLDS_END} and ${IS_ENABLED} and ${HAS_LEFT} order by in_order.next_free_at limit 1`
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
 * Returns the key stored in `mailboxes.spent_days` when a mailbox has used up its share of a campaign's day. Later
 * searches skip the mailbox. Changing the share changes the key. Releasing a slot empties the list.
 */
export function spentDay(campaignId: string, day: string, share: number): string {
  const hex = createHash('sha256').update(`${campaignId}/${day}/${share}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Returns SQL for the `spent_days` of mailbox `m` with a day added in front. */
export function withSpentDay(day: string): string {
  return `(array_prepend(${day}, array_remove(m.spent_days, ${day})))[1:${MAX_SPENT}]`;
}

/**
 * Returns SQL for the ids of mailboxes that a pool lists explicitly or by a tag, possibly with duplicates. Sorted, so
 * that PostgreSQL reads an index and not the table.
 */
const listed = (
  most: string,
): string => `(select mailbox_id from campaign_senders where campaign_id = :campaign order by mailbox_id ${most})
       union all (select mailbox_id from mailbox_tags where label_id = any(:tags::uuid[]) ${most})`;
const LISTED_SHORT = `any(array(${listed(`limit ${SHORT}`)}))`;

/** SQL conditions, by the shape of the pool: mailbox `m` is a sender of the campaign (`sender-pool.ts`). */
const IS_MEMBER: Record<PoolShape, string> = {
  everybody: 'true',
  short: `m.id = ${LISTED_SHORT} and ${IS_ENABLED}`,
  long: isListed('m.id'),
};

/**
 * Returns an SQL condition for active mailboxes of the organization. If a provider is given, only its mailboxes match.
 */
function usable(family: string | null, table = 'm'): string {
  return `${table}.organization_id = :org and ${table}.status = 'active'${family === null ? '' : ` and ${table}.provider = :provider`}`;
}

/** Returns an SQL condition: the mailbox is not recorded as having used up its share of the day. */
const isUnspent = (table: string): string => `not (:spent = any(${table}.spent_days))`;

/** SQL condition: the mailbox is not excluded and has quota left for the campaign on the day. */
const HAS_LEFT = `not (m.id = any(:except::uuid[])) and (select count(*) from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id)
           < least(m.campaign_limit, :share::int)`;

/**
 * SQL condition on the mailbox's own row: free and not held. Uses only `next_free_at` for the free time, so that its
 * index is read until enough are found.
 */
const IS_FREE = `m.next_free_at <= :freeBy and not ${RESTS} and ${isUnspent('m')}`;
const MAY_GIVE = `${IS_FREE} and ${HAS_LEFT}`;

/**
 * Returns SQL that reads all mailboxes of the pool by free time. The ids of a short pool are looked up one by one.
 */
function whole(family: string | null, pool: PoolShape): string {
  if (pool === 'everybody')
    return `select m.id from ${inOrder(family, 'p.next_free_at <= :freeBy')} where ${usable(family)} and ${MAY_GIVE} order by in_order.next_free_at`;
  const members = pool === 'short' ? `p.id = ${LISTED_SHORT}` : `p.id in (${listed('')})`;
  return `select m.id from ${inOrder(family, `p.next_free_at <= :freeBy and ${members}`)}
     where ${usable(family)} and ${MAY_GIVE} and ${IS_ENABLED} order by in_order.next_free_at`;
}

/**
 * Returns SQL that reads the organization's first mailboxes by free time and keeps those of a long pool. Reads no rows
 * of other mailboxes.
 */
function near(family: string | null): string {
  return `select m.id from ${inOrder(family, 'p.next_free_at <= :freeBy', `limit ${NEAR}`)}
     where ${isListed('in_order.id')} and ${usable(family)} and ${MAY_GIVE} order by in_order.next_free_at`;
}

/**
 * Returns SQL that reads mailboxes in index order, without those that have used up their share of the day. Stops as
 * soon as enough mailboxes with quota are found.
 */
function inOrder(family: string | null, among: string, most = ''): string {
  return `(select p.id, p.next_free_at from mailboxes p where ${usable(family, 'p')} and ${among} and ${isUnspent('p')}
       order by p.next_free_at ${most}) in_order
     join mailboxes m on m.id = in_order.id`;
}
