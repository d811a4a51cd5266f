import { createHash } from 'node:crypto';
import { json } from '../../db/connection.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, nextUtcMidnight, utcDay } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { scheduleOf, type CampaignInEffect } from './campaign/campaign-view.ts';
import { COUNT_DAILY, countBindings, type CounterChange } from './campaign/counters.ts';
import { recipientZone } from '../platform/scheduling/recipient-zone.ts';
import { rampLevel } from '../platform/scheduling/ramp.ts';
import { nextSlot, type SlotRequest } from '../platform/scheduling/slots.ts';
import {
  compileSchedule,
  dayKey,
  nextOpening,
  spansBetween,
  startOfNextDay,
  type Schedule,
} from '../platform/scheduling/windows.ts';
import { lockFree, poolFreeAt, spentDay, withSpentDay } from './free-seats.ts';
import { isRampBefore, advanceRamp, rampToday } from './ramp-day.ts';
import { freeFrom, lockDecided, occupySlot, type Decided, type Seat, type SeatDay } from './seats.ts';
import { message, type Message, type MessageCode } from '../../messages/index.ts';

/** A contact that needs a slot for one step. */
export interface Candidate {
  enrollmentId: string;
  contactId: string;
  stepId: string;
  stepRunId: string | null;
  /** Id of an existing email to resend. Absent for a new email. */
  sendId?: string;
  /** Number of earlier attempts of this email whose slots were released. */
  attempts: number;
  recipient: string;
  /** Mail provider family of the recipient, used by `esp_match_mode`. Empty when unknown. */
  espProvider: string;
  /** The contact's own `timezone` field, used by send-time optimization. */
  contactTimezone: string | null;
  /** True for the contact's first email in this campaign. */
  isFirst: boolean;
  /** The mailbox that began the conversation. Follow-up emails are sent from the same mailbox. */
  stickyMailboxId: string | null;
  notBefore: Date | null;
  variantId: string | null;
}

/**
 * Result of the allocator for one contact: a slot, a later time for the next request, a wait for a mailbox, or a final
 * refusal. `concerns` is `campaign` if all contacts of the campaign get the same answer.
 */
export type Allocation =
  | { kind: 'slot'; sendId: string; at: Date; mailboxId: string }
  | { kind: 'later'; at: Date; why: Message; concerns: 'campaign' | 'contact'; queue?: DailyQueue }
  | { kind: 'hold'; why: 'no_mailbox'; concerns: 'campaign' | 'contact' }
  | { kind: 'never'; why: 'campaign_ended' | 'no_window' };

/** Daily limit that many contacts may wait for: the campaign's limit, its limit of new leads, or a mailbox's limit. */
export type QueueKind = 'campaign' | 'newLeads' | 'mailbox';

/**
 * Queue of contacts refused by a daily limit. From the day `from` on, `perDay` of them can be sent an email each day.
 */
export interface DailyQueue {
  kind: QueueKind;
  from: Date;
  perDay: number;
}

/** Message shown for a lead that waits because of a daily limit, by kind of limit. */
export const LIMIT_REACHED = {
  campaign: 'wait.limit_campaign',
  newLeads: 'wait.limit_new_leads',
  mailbox: 'wait.limit_mailboxes',
} as const satisfies Record<QueueKind, MessageCode>;

export interface AllocationLimits {
  /** Maximum distance (ms) of a slot from now. Defaults to the rest of the campaign-local day. */
  horizonMs?: number;
  keepBack?: ReservedQuota;
}

/** Quota of today that is reserved for other contacts, such as due follow-ups. */
export interface ReservedQuota {
  emails: number;
  /** Reserved emails that must be sent from one mailbox, by mailbox id. */
  mailboxes: ReadonlyMap<string, number>;
  /** Ids of mailboxes whose whole quota is reserved. */
  full: readonly string[];
  /** Time (epoch ms) by which all contacts with a reservation have requested their slots. */
  until: number;
}

const NO_RESERVATION: ReservedQuota = { emails: 0, mailboxes: new Map(), full: [], until: Infinity };
/**
 * Maximum delay (ms) before the next request for a contact that was refused because of reserved quota. The reserved
 * emails may be sent or held by then.
 */
const RESERVATION_MS = HOUR_MS;
/** Minimum delay (ms) before the next request for a contact that was refused because of reserved quota. */
const MIN_RESERVATION_MS = 5 * MINUTE_MS;

/**
 * Period (ms) over which the retries of contacts that wait for another day are distributed, so that they are not all
 * made in the same second.
 */
const SPREAD_MS = 60_000;
/** Maximum random extension of the minimum gap between two emails of a mailbox, as a share of the gap. */
const SPREAD_SHARE = 0.2;
/** Delay (ms) before asking again when another transaction has locked the mailboxes. */
const CONTENDED_MS = 1_000;

/**
 * Reserves send slots for one campaign. Respects sending window, days, dates, caps of campaign and mailbox, ramp,
 * new-lead cap, rotation, provider match, minimum gap per mailbox and send-time optimization. Slots lie within the
 * current campaign-local day. Chooses the mailbox with the least load for its weight among those free at the wished
 * time. A slot reserved for later does not block earlier times for other contacts. Locks the campaign and the mailboxes
 * it reads, so two callers never take the same slot. Writes `sends` rows and counts in the caller's transaction.
 */
export async function allocate(
  tx: Tx,
  inEffect: CampaignInEffect,
  candidates: readonly Candidate[],
  limits: AllocationLimits = {},
): Promise<Allocation[]> {
  if (candidates.length === 0) return [];
  const { campaign } = inEffect;
  const schedule = scheduleOf(campaign);
  const opening = nextOpening(schedule, tx.now);
  if (!opening) {
    const ended = campaign.end_date !== null && campaign.end_date <= tx.now;
    return candidates.map(() => ({ kind: 'never', why: ended ? 'campaign_ended' : 'no_window' }));
  }
  const dayEnds = startOfNextDay(campaign.timezone, opening);
  const on: SeatDay = { day: dayKey(schedule, opening), from: opening.getTime(), until: dayEnds.getTime() };
  // Locks the campaign's row before its slots and mailboxes, in the same order as campaign functions and the launcher.
  const level = await rampToday(tx, campaign, on);
  const bound = candidates.flatMap((one) => (one.stickyMailboxId && !one.isFirst ? [one.stickyMailboxId] : []));
  const decided = await lockDecided(tx, campaign, [...new Set(bound)], on);
  const round: Round = {
    tx,
    ...inEffect,
    on,
    level,
    schedule,
    horizonMs: Math.min(limits.horizonMs ?? Infinity, Math.max(0, on.until - 1 - tx.now.getTime())),
    tomorrow: nextOpening(schedule, dayEnds),
    room: campaign.daily_limit - decided.given.campaign - (limits.keepBack?.emails ?? 0),
    newRoom:
      campaign.max_new_leads_per_day === 0 ? Infinity : campaign.max_new_leads_per_day - decided.given.campaign_new,
    kept: limits.keepBack ?? NO_RESERVATION,
    decided,
    pools: new Map(),
    slots: [],
    changes: [],
  };
  const answers: Allocation[] = [];
  for (const [index, candidate] of candidates.entries())
    answers.push(await place(round, candidate, candidates.length - index));
  if (round.slots.length > 0) {
    await store(round);
    if (isRampBefore(campaign, on)) await advanceRamp(tx, campaign, on.day);
  }
  return answers;
}

/** State of one allocator call: loaded data and the slots assigned so far. */
interface Round extends CampaignInEffect {
  tx: Tx;
  on: SeatDay;
  level: number;
  schedule: Schedule;
  horizonMs: number;
  tomorrow: Date | null;
  /**
   * Number of emails that the campaign may still send on the day. `newRoom` is the number of first emails among them.
   */
  room: number;
  newRoom: number;
  kept: ReservedQuota;
  decided: Decided;
  /** Candidate mailboxes found so far, by mail provider (`gmail`, `outlook`, `other`); `''` means any provider. */
  pools: Map<string, Pool>;
  slots: Record<string, unknown>[];
  changes: CounterChange[];
}

interface Pool {
  seats: Seat[];
  /** True when no other mailbox of the pool is free within the horizon. */
  isAll: boolean;
  /**
   * Time at which another mailbox of the pool is free. Null until queried. After the query no more mailboxes are
   * locked.
   */
  rest: { at: Date | null } | undefined | null;
}

async function place(round: Round, candidate: Candidate, left: number): Promise<Allocation> {
  const { campaign, on } = round;
  if (round.room <= 0) return inQueue(round, candidate, 'campaign', campaign.daily_limit);
  if (candidate.isFirst && round.newRoom <= 0)
    return inQueue(round, candidate, 'newLeads', Math.min(campaign.max_new_leads_per_day, campaign.daily_limit));
  const wish = nextSlot(request(round, candidate));
  if ('never' in wish) return { kind: 'never', why: wish.never === 'ended' ? 'campaign_ended' : 'no_window' };
  const wished = ('at' in wish ? wish.at : wish.later).getTime();
  if ('later' in wish) {
    if (on.from > round.tx.now.getTime() + round.horizonMs)
      return { kind: 'later', at: new Date(on.from), why: message('wait.window_closed'), concerns: 'campaign' };
    // Concerns only this contact: its preferred hours may lie on another day.
    if (wished >= on.until) return nextDay(round, candidate, message('wait.other_day'), 'contact', wish.later);
    const concerns = round.settings.send_time_optimization.enabled ? 'contact' : 'campaign';
    return { kind: 'later', at: wish.later, why: message('wait.later'), concerns };
  }

  const own = candidate.isFirst ? null : candidate.stickyMailboxId;
  if (own) {
    const rests = round.decided.resting.get(own);
    if (rests) return { kind: 'later', at: rests, why: message('wait.conversation_mailbox_held'), concerns: 'contact' };
    const seat = round.decided.seats.get(own);
    if (seat) {
      const slot = slotAt(round, candidate, seat);
      if (slot.kind === 'slot') return allocateSlot(round, candidate, seat, slot.at);
      return slot.at < on.until
        ? { kind: 'later', at: new Date(slot.at), why: message('wait.conversation_mailbox_busy'), concerns: 'contact' }
        : inQueue(round, candidate, 'mailbox', Math.min(seat.cap, campaign.daily_limit));
    }
  }

  const family = campaign.esp_match_mode === 'off' ? '' : candidate.espProvider;
  const families = family === '' ? [''] : campaign.esp_match_mode === 'strict' ? [family] : [family, ''];
  let soonest = Infinity;
  let members = false;
  let spent = true;
  for (const one of families) {
    // Does not wait for a preferred provider while a mailbox of another provider is free.
    const atOnce = one !== families.at(-1);
    const found = await inPool(round, candidate, { family: one, wished, left, atOnce });
    if ('seat' in found) return allocateSlot(round, candidate, found.seat, found.at);
    members ||= found.members;
    spent &&= found.spent;
    soonest = Math.min(soonest, found.soonest);
  }
  // While mailboxes have quota, this contact's preferred hours may be the reason, and other contacts may have other
  // hours.
  const optimized = round.settings.send_time_optimization.enabled;
  const concerns = family === '' && (spent || !optimized) ? 'campaign' : 'contact';
  if (!members) return { kind: 'hold', why: 'no_mailbox', concerns };
  if (soonest >= on.until || soonest === Infinity)
    return nextDay(round, candidate, message(LIMIT_REACHED.mailbox), concerns);
  return {
    kind: 'later',
    at: new Date(Math.max(soonest, round.tx.now.getTime() + CONTENDED_MS)),
    why: message('wait.mailbox_later'),
    concerns,
  };
}

/**
 * Returns the best seat of a pool for a contact, or the earliest time the pool may have one. `spent` is true when no
 * seat is free on this day.
 */
async function inPool(
  round: Round,
  candidate: Candidate,
  { family, wished, left, atOnce }: { family: string; wished: number; left: number; atOnce: boolean },
): Promise<{ seat: Seat; at: number } | { members: boolean; soonest: number; spent: boolean }> {
  const { tx, campaign, on } = round;
  const { kept } = round;
  const search = {
    family: family || null,
    pool: round.decided.pool,
    share: mostOf(round),
  };
  let pool = round.pools.get(family);
  if (!pool) {
    const held = [...round.pools.values()].flatMap(({ seats }) => seats);
    const { seats, isAll } = await lockFree(
      tx,
      campaign,
      {
        ...search,
        needed: left,
        freeBy: tx.now.getTime() + round.horizonMs,
        except: [...round.decided.seats.keys(), ...held.map(({ id }) => id), ...kept.full],
      },
      on,
    );
    const known = [...round.decided.seats.values(), ...held].filter((seat) => family === '' || seat.family === family);
    pool = { seats: [...seats, ...known], isAll, rest: null };
    round.pools.set(family, pool);
  }
  const seats = atOnce ? pool.seats.filter((seat) => freeFrom(seat, wished) <= wished) : pool.seats;
  const found = best(round, candidate, seats, wished);
  if ('seat' in found) return found;
  if (atOnce) return { members: false, soonest: Infinity, spent: true };
  if (pool.rest === null) {
    // Stores exact free times of mailboxes, so that later calls skip these mailboxes until then.
    await storeFreeTimes(round, pool.seats);
    const except = [...pool.seats.map(({ id }) => id), ...kept.full];
    pool.rest = await poolFreeAt(tx, campaign, { ...search, except, isLater: pool.isAll }, on);
  }
  if (!pool.rest) return { members: false, soonest: Infinity, spent: true };
  const at = pool.rest.at === null ? Infinity : (nextOpening(round.schedule, pool.rest.at)?.getTime() ?? Infinity);
  const again = kept.mailboxes.size === 0 ? Infinity : reservedUntil(round);
  return {
    members: true,
    soonest: Math.min(found.soonest, at, again),
    spent: found.spent && (pool.rest.at?.getTime() ?? Infinity) >= on.until,
  };
}

/** Returns the time (epoch ms) from which unused reserved quota may be given to other contacts. */
function reservedUntil({ tx, kept }: Round): number {
  const now = tx.now.getTime();
  return Math.min(Math.max(kept.until + CONTENDED_MS, now + MIN_RESERVATION_MS), now + RESERVATION_MS);
}

/** Returns the least loaded mailbox that is free at the wished time, otherwise the mailbox that is free first. */
function best(
  round: Round,
  candidate: Candidate,
  seats: readonly Seat[],
  wished: number,
): { seat: Seat; at: number } | { soonest: number; spent: boolean } {
  const day = utcDay(wished);
  const ranked = seats
    .map((seat) => ({
      seat,
      free: freeFrom(seat, wished),
      load: (seat.used.get(day) ?? 0) / seat.weight,
      rested: seat.taken.findLast((at) => at <= wished) ?? 0,
    }))
    .filter(({ seat, free }) => free < Infinity && hasShare(round, seat, utcDay(free)))
    .sort((a, b) => a.free - b.free || a.load - b.load || a.rested - b.rested || (a.seat.id < b.seat.id ? -1 : 1));
  let soonest = Infinity;
  for (const { seat, free } of ranked) {
    if (free >= soonest) break;
    const slot = slotAt(round, candidate, seat);
    if (slot.kind === 'slot') return { seat, at: slot.at };
    soonest = Math.min(soonest, slot.at);
  }
  return { soonest, spent: !ranked.some(({ free }) => free < round.on.until) };
}

/**
 * Returns the mailbox's slot for a contact if it lies within the horizon, otherwise the time (epoch ms) of a later
 * slot. The time is Infinity if no slot is left today.
 */
function slotAt(round: Round, candidate: Candidate, seat: Seat): { kind: 'slot' | 'later'; at: number } {
  if (seat.given >= shareOf(round, seat)) return { kind: 'later', at: Infinity };
  const slot = nextSlot({
    ...request(round, candidate),
    minGapSeconds: seat.gapMs / 1000,
    maxSpreadMs: slack(round, seat),
    freeFrom: (at, spread) => freeFrom(seat, at, spread),
  });
  if ('never' in slot) return { kind: 'later', at: Infinity };
  return 'at' in slot ? { kind: 'slot', at: slot.at.getTime() } : { kind: 'later', at: slot.later.getTime() };
}

/** Returns true if a mailbox has quota left, after reservations, for the campaign's day and for the UTC day. */
function hasShare(round: Round, seat: Seat, day: string): boolean {
  const kept = round.kept.mailboxes.get(seat.id) ?? 0;
  return seat.given + kept < shareOf(round, seat) && (kept === 0 || (seat.used.get(day) ?? 0) + kept < seat.cap);
}

/**
 * Returns the emails a mailbox may send for the campaign on a day: the smallest of its cap, the daily limit and the
 * ramp.
 */
function shareOf(round: Round, seat: Seat): number {
  return Math.min(seat.cap, mostOf(round));
}

/** Returns the maximum that any mailbox may send for the campaign on the day. */
function mostOf({ campaign, level }: Round): number {
  if (!campaign.ramp_enabled) return campaign.daily_limit;
  const { ramp_start: start, ramp_increment: increment, ramp_ceiling: ceiling } = campaign;
  return rampLevel({ enabled: true, start, increment, ceiling, level, perMailboxCap: campaign.daily_limit }, 0);
}

/**
 * Returns the time (ms) that can be added to each gap without sending fewer emails. This is the day's sending time
 * minus all minimum gaps, divided by the number of emails.
 */
function slack(round: Round, seat: Seat): number {
  const { on, tx, room } = round;
  const schedule = compileSchedule(round.schedule);
  const day = { open: 0, left: 0, taken: 0 };
  // The campaign's day may overlap two or three UTC days, each with its own mailbox limit. A UTC day whose limit is
  // used up adds no sending time.
  let from = Math.max(tx.now.getTime(), on.from);
  while (from < on.until) {
    const until = Math.min(on.until, nextUtcMidnight(from));
    const left = Math.max(0, seat.cap - (seat.used.get(utcDay(from)) ?? 0));
    const taken = seat.taken.filter((at) => at >= from && at < until).length;
    if (left + taken > 0) for (const span of spansBetween(schedule, from, until)) day.open += span.to - span.from;
    day.left += left;
    day.taken += taken;
    from = until;
  }
  const emails = day.taken + Math.max(1, Math.min(day.left, shareOf(round, seat) - seat.given, room));
  return Math.max(0, Math.min(SPREAD_SHARE * seat.gapMs, day.open / emails - seat.gapMs));
}

function request({ tx, schedule, horizonMs, settings }: Round, candidate: Candidate): SlotRequest {
  const optimize = settings.send_time_optimization;
  return {
    now: tx.now,
    lastSentAt: null,
    minGapSeconds: 0,
    schedule,
    horizonMs,
    notBefore: candidate.notBefore,
    jitter: randomSequence(candidate.enrollmentId, candidate.stepId),
    ...(optimize.enabled
      ? {
          optimize: {
            hours: optimize.preferred_hours,
            timezone: recipientZone(
              optimize.use_contact_timezone ? candidate.contactTimezone : null,
              candidate.recipient,
              optimize.default_contact_timezone,
            ).timezone,
            weekendWeight: optimize.weekend_weight_multiplier,
          },
        }
      : {}),
  };
}

function nextDay(
  { tomorrow, on }: Round,
  candidate: Candidate,
  why: Message,
  concerns: 'campaign' | 'contact',
  at: Date | null = tomorrow,
): Allocation {
  if (!at) return { kind: 'never', why: 'campaign_ended' };
  const apart = Math.floor(share(candidate.enrollmentId, on.day) * SPREAD_MS);
  return { kind: 'later', at: new Date(at.getTime() + apart), why, concerns };
}

/**
 * Returns the answer for a contact refused by a daily limit. It names the queue, because only `perDay` contacts can be
 * served on the next day.
 */
function inQueue(round: Round, candidate: Candidate, kind: QueueKind, perDay: number): Allocation {
  const refusal = nextDay(round, candidate, message(LIMIT_REACHED[kind]), kind === 'mailbox' ? 'contact' : 'campaign');
  if (refusal.kind !== 'later' || !round.tomorrow) return refusal;
  return { ...refusal, queue: { kind, from: round.tomorrow, perDay: Math.max(1, perDay) } };
}

function allocateSlot(round: Round, candidate: Candidate, seat: Seat, at: number): Allocation {
  const { campaign, on, changes } = round;
  const sendId = candidate.sendId ?? newId();
  occupySlot(seat, at);
  round.room -= 1;
  changes.push({ scope: 'campaign', scopeId: campaign.id, day: on.day, by: 1 });
  changes.push({ scope: 'mailbox', scopeId: seat.id, day: utcDay(at), by: 1 });
  if (candidate.isFirst) {
    round.newRoom -= 1;
    changes.push({ scope: 'campaign_new', scopeId: campaign.id, day: on.day, by: 1 });
  }
  round.slots.push({
    id: sendId,
    enrollment_id: candidate.enrollmentId,
    step_id: candidate.stepId,
    step_run_id: candidate.stepRunId,
    contact_id: candidate.contactId,
    mailbox_id: seat.id,
    variant_id: candidate.variantId,
    recipient: candidate.recipient,
    slot_at: new Date(at),
    is_first: candidate.isFirst,
    attempts: candidate.attempts,
  });
  return { kind: 'slot', sendId, at: new Date(at), mailboxId: seat.id };
}

async function store(round: Round): Promise<void> {
  const { tx, campaign, on, slots, changes } = round;
  const all = [...round.decided.seats.values(), ...[...round.pools.values()].flatMap(({ seats }) => seats)];
  const changed = [...new Set(all)].filter((seat) => seat.changed);
  const most = mostOf(round);
  await tx.org.sql(
    `with slots as (
       insert into sends (id, organization_id, campaign_id, enrollment_id, step_id, step_run_id, contact_id, mailbox_id, variant_id, state,
         recipient, slot_at, slot_day, is_first, attempts, created_at, updated_at)
       select t.id, :org, :campaign, t.enrollment_id, t.step_id, t.step_run_id, t.contact_id, t.mailbox_id, t.variant_id, 'reserved',
         t.recipient, t.slot_at, :day, t.is_first, t.attempts, :now, :now
       from jsonb_to_recordset(:slots) as t(id uuid, enrollment_id uuid, step_id uuid, step_run_id uuid, contact_id uuid, mailbox_id uuid,
         variant_id uuid, recipient text, slot_at timestamptz, is_first boolean, attempts int)
       -- An uncertain email that a person resends keeps its row and its Message-ID.
       on conflict (id) do update set state = 'reserved', mailbox_id = excluded.mailbox_id, slot_at = excluded.slot_at,
         slot_day = excluded.slot_day, attempts = 0, updated_at = excluded.updated_at
       where sends.state = 'uncertain' and sends.again
     ), moved as (
       update mailboxes m set next_free_at = t.at, spent_days = case when t.spent then ${withSpentDay(':spentDay::uuid')} else m.spent_days end
       from unnest(:mailboxes::uuid[], :at::timestamptz[], :spent::boolean[]) as t(id, at, spent)
       where m.organization_id = :org and m.id = t.id
     )
     ${COUNT_DAILY}`,
    {
      campaign: campaign.id,
      day: on.day,
      now: tx.now,
      slots: json(slots),
      mailboxes: changed.map(({ id }) => id),
      at: changed.map((seat) => freeTime(tx, seat)),
      spent: changed.map(({ given }) => given >= most),
      spentDay: spentDay(campaign.id, on.day, most),
      ...countBindings(changes),
    },
  );
}

async function storeFreeTimes({ tx }: Round, seats: readonly Seat[]): Promise<void> {
  const busy = seats.filter((seat) => !seat.changed && freeFrom(seat, tx.now.getTime()) > tx.now.getTime());
  if (busy.length === 0) return;
  await tx.org.sql(
    `update mailboxes m set next_free_at = t.at from unnest(:mailboxes::uuid[], :at::timestamptz[]) as t(id, at)
     where m.organization_id = :org and m.id = t.id and m.next_free_at < t.at`,
    { mailboxes: busy.map(({ id }) => id), at: busy.map((seat) => freeTime(tx, seat)) },
  );
}

/**
 * A mailbox with a cap of 0 is never free. The mailbox's free time is set one day ahead, so that the allocator checks
 * the mailbox once a day. Raising the cap resets this time.
 */
function freeTime(tx: Tx, seat: Seat): string {
  const now = tx.now.getTime();
  return new Date(Math.min(freeFrom(seat, now), now + DAY_MS)).toISOString();
}

/** Pseudo-random numbers from 0 to 1 derived from enrollment and step, so that a retry gets the same values. */
function randomSequence(enrollmentId: string, stepId: string): () => number {
  let n = 0;
  return () => share(enrollmentId, `${stepId}/${n++}`);
}

function share(id: string, salt: string): number {
  return createHash('sha256').update(`${id}/${salt}`).digest().readUInt32BE() / 2 ** 32;
}
