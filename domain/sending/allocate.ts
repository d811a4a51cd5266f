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

/** One contact that wants to send one step. */
export interface Candidate {
  enrollmentId: string;
  contactId: string;
  stepId: string;
  stepRunId: string | null;
  /** The email itself, where it is one to be sent again. */
  sendId?: string;
  /** Attempts to hand this email over so far, with slots that were given back. */
  attempts: number;
  recipient: string;
  /** Mail provider family of the recipient, for esp_match_mode; empty when unknown. */
  espProvider: string;
  /** The contact's own timezone field, for send-time optimization. */
  contactTimezone: string | null;
  /** The contact's first email in this campaign. */
  isFirst: boolean;
  /** The mailbox the conversation began with; emails after the first come from it. */
  stickyMailboxId: string | null;
  notBefore: Date | null;
  variantId: string | null;
}

/**
 * What the allocator answers: a slot, a later moment to ask again, a hold until something changes, or never. `concerns` says
 * who else would get the same answer now: everybody of the campaign, or contacts of this kind only.
 */
export type Allocation =
  | { kind: 'slot'; sendId: string; at: Date; mailboxId: string }
  | { kind: 'later'; at: Date; why: Message; concerns: 'campaign' | 'contact'; queue?: DailyQueue }
  | { kind: 'hold'; why: 'no_mailbox'; concerns: 'campaign' | 'contact' }
  | { kind: 'never'; why: 'campaign_ended' | 'no_window' };

/** A limit of a day that many may wait for: the campaign's, that of its new leads, or that of the mailbox of a conversation. */
export type QueueKind = 'campaign' | 'newLeads' | 'mailbox';

/** What somebody waits for whom such a limit refused: so many emails on every day from an opening on. */
export interface DailyQueue {
  kind: QueueKind;
  from: Date;
  perDay: number;
}

/** The reason that a lead in such a queue waits. */
export const LIMIT_REACHED = {
  campaign: 'wait.limit_campaign',
  newLeads: 'wait.limit_new_leads',
  mailbox: 'wait.limit_mailboxes',
} as const satisfies Record<QueueKind, MessageCode>;

export interface AllocationLimits {
  /** How far ahead (ms) slots may lie; the rest of the campaign-local day unless said. */
  horizonMs?: number;
  keepBack?: KeepBack;
}

/** Emails of today that belong to others, such as due follow-ups, and are not given to these candidates. */
export interface KeepBack {
  emails: number;
  /** Those that must leave from one mailbox, by its id. */
  mailboxes: ReadonlyMap<string, number>;
  /** Mailboxes that have no room beside them. */
  full: readonly string[];
  /** When the last of those who keep room of a mailbox has asked for it (epoch ms). */
  until: number;
}

const NOTHING_KEPT: KeepBack = { emails: 0, mailboxes: new Map(), full: [], until: Infinity };
/** How soon (ms) to ask again for what was kept back, at the latest: those it is kept for may leave, or be held. */
const KEPT_MS = HOUR_MS;
/** And at the earliest. */
const SOONEST_KEPT_MS = 5 * MINUTE_MS;

/** Contacts that must wait for another day ask again a little apart, not all in the same second. */
const SPREAD_MS = 60_000;
/** The longest part of a minimum gap by which it may grow. */
const SPREAD_SHARE = 0.2;
/** How soon (ms) to ask again where another transaction holds the mailboxes. */
const CONTENDED_MS = 1_000;

/**
 * Gives out send slots for one campaign: window, days, dates, caps of campaign and mailbox, ramp, new-lead cap, rotation,
 * provider match, gap per mailbox, send-time optimization. Slots lie within the present campaign-local day. Of the
 * mailboxes that are free when a contact can be written to, the one with the least load for its weight is taken; a
 * slot reserved for later leaves the time before it to others. Runs under a lock of the campaign and of the mailboxes it
 * looks at, so two callers never take the same slot; `sends` rows and counts are written in the caller's transaction.
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
  // The campaign's row before its slots and mailboxes, as every verb of the campaign and its launcher take them.
  const level = await rampToday(tx, campaign, on);
  const bound = candidates.flatMap((one) => (one.stickyMailboxId && !one.isFirst ? [one.stickyMailboxId] : []));
  // Sent together; what is read second is read under the lock.
  const [, decided] = await Promise.all([
    tx.org.lock(`campaign/${campaign.id}`, { keepPlans: true }),
    lockDecided(tx, campaign, [...new Set(bound)], on),
  ]);
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
    kept: limits.keepBack ?? NOTHING_KEPT,
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

/** One call of the allocator: what it has read, and what it has given out so far. */
interface Round extends CampaignInEffect {
  tx: Tx;
  on: SeatDay;
  level: number;
  schedule: Schedule;
  horizonMs: number;
  tomorrow: Date | null;
  /** Emails the campaign may still send on the day, and first emails among them. */
  room: number;
  newRoom: number;
  kept: KeepBack;
  decided: Decided;
  /** Seats found so far, by provider family; '' is any. */
  pools: Map<string, Pool>;
  slots: Record<string, unknown>[];
  changes: CounterChange[];
}

interface Pool {
  seats: Seat[];
  /** No other mailbox of the pool is free within the horizon. */
  isAll: boolean;
  /** When another mailbox of the pool is free; once asked, nothing more is locked. */
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
    // Its own hour may be what it waits for.
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
      if (slot.kind === 'slot') return give(round, candidate, seat, slot.at);
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
    // A preferred provider is not waited for while another mailbox is free.
    const atOnce = one !== families.at(-1);
    const found = await inPool(round, candidate, { family: one, wished, left, atOnce });
    if ('seat' in found) return give(round, candidate, found.seat, found.at);
    members ||= found.members;
    spent &&= found.spent;
    soonest = Math.min(soonest, found.soonest);
  }
  // While mailboxes have room it may be the contact's own hour that none of them meets.
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

/** The seat of a pool that suits a contact best, or when the pool may have one; `spent` when it has none left on this day. */
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
    // What the seats that were looked at know better than their rows is kept, so that they are not looked at in vain again.
    await storeFreeTimes(round, pool.seats);
    const except = [...pool.seats.map(({ id }) => id), ...kept.full];
    pool.rest = await poolFreeAt(tx, campaign, { ...search, except, isLater: pool.isAll }, on);
  }
  if (!pool.rest) return { members: false, soonest: Infinity, spent: true };
  const at = pool.rest.at === null ? Infinity : (nextOpening(round.schedule, pool.rest.at)?.getTime() ?? Infinity);
  const again = kept.mailboxes.size === 0 ? Infinity : keptUntil(round);
  return {
    members: true,
    soonest: Math.min(found.soonest, at, again),
    spent: found.spent && (pool.rest.at?.getTime() ?? Infinity) >= on.until,
  };
}

/** When room that is kept back may be there for others (epoch ms): once those it is kept for have asked. */
function keptUntil({ tx, kept }: Round): number {
  const now = tx.now.getTime();
  return Math.min(Math.max(kept.until + CONTENDED_MS, now + SOONEST_KEPT_MS), now + KEPT_MS);
}

/** Of the seats free at the wished time the one with the least load, else the one that is free first. */
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

/** The slot a seat has for a contact within the horizon, or when it has one (epoch ms; Infinity for not today). */
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

/** Whether a mailbox has an email of the campaign's day and of a UTC day left beside those that are kept back. */
function hasShare(round: Round, seat: Seat, day: string): boolean {
  const kept = round.kept.mailboxes.get(seat.id) ?? 0;
  return seat.given + kept < shareOf(round, seat) && (kept === 0 || (seat.used.get(day) ?? 0) + kept < seat.cap);
}

/** What a mailbox may give the campaign on a day: the smallest of its cap, the daily limit and the ramp. */
function shareOf(round: Round, seat: Seat): number {
  return Math.min(seat.cap, mostOf(round));
}

/** The most that any mailbox may give the campaign on the day. */
function mostOf({ campaign, level }: Round): number {
  if (!campaign.ramp_enabled) return campaign.daily_limit;
  const { ramp_start: start, ramp_increment: increment, ramp_ceiling: ceiling } = campaign;
  return rampLevel({ enabled: true, start, increment, ceiling, level, perMailboxCap: campaign.daily_limit }, 0);
}

/**
 * By how much (ms) gaps may grow without costing an email: what the rest of the day's open time has left over once every
 * email that may still leave has its gap.
 */
function slack(round: Round, seat: Seat): number {
  const { on, tx, room } = round;
  const schedule = compileSchedule(round.schedule);
  const day = { open: 0, left: 0, taken: 0 };
  // The campaign's day may lie on two or three UTC days, and each has a cap of its own: one that is used up has no time either.
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
    jitter: draws(candidate.enrollmentId, candidate.stepId),
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

/** Refused by a limit of the day: many may wait for the next one, and only so many of them can be served on it. */
function inQueue(round: Round, candidate: Candidate, kind: QueueKind, perDay: number): Allocation {
  const refusal = nextDay(round, candidate, message(LIMIT_REACHED[kind]), kind === 'mailbox' ? 'contact' : 'campaign');
  if (refusal.kind !== 'later' || !round.tomorrow) return refusal;
  return { ...refusal, queue: { kind, from: round.tomorrow, perDay: Math.max(1, perDay) } };
}

function give(round: Round, candidate: Candidate, seat: Seat, at: number): Allocation {
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
       -- An uncertain email that a person wants sent again keeps its row, and with it its Message-ID.
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

/** A cap of none is free when it is raised, which says so itself; until then it is looked at once a day. */
function freeTime(tx: Tx, seat: Seat): string {
  const now = tx.now.getTime();
  return new Date(Math.min(freeFrom(seat, now), now + DAY_MS)).toISOString();
}

/** Draws in 0 to 1 that depend on the send alone: asking again draws the same. */
function draws(enrollmentId: string, stepId: string): () => number {
  let n = 0;
  return () => share(enrollmentId, `${stepId}/${n++}`);
}

function share(id: string, salt: string): number {
  return createHash('sha256').update(`${id}/${salt}`).digest().readUInt32BE() / 2 ** 32;
}
