import { createHash } from 'node:crypto';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import { poolBindings, SENDER_POOL } from '../campaign/sender-pool.ts';
import type { Tx } from '../../kernel/transact.ts';
import { scheduleOf, type CampaignInEffect } from '../campaign/campaign-view.ts';
import { COUNT_DAILY, countBindings, readCounters, type CounterChange } from '../campaign/counters.ts';
import { recipientZone } from '../../records/schedule/recipient-zone.ts';
import { rampLevel } from '../../records/schedule/ramp.ts';
import { nextSlot } from '../../records/schedule/slots.ts';
import { dayKey, nextOpening, startOfNextDay } from '../../records/schedule/windows.ts';

/** One contact that wants to send one step. */
export interface Candidate {
  enrollmentId: string;
  contactId: string;
  stepId: string;
  stepRunId: string | null;
  /** Attempts to hand this email over so far, with slots that were given back. */
  attempts: number;
  recipient: string;
  /** Mail provider family of the recipient, for esp_match_mode; empty when unknown. */
  espProvider: string;
  /** The contact's own timezone field, for send-time optimization. */
  contactTimezone: string | null;
  /** The contact's first email in this campaign. */
  isFirst: boolean;
  /** The mailbox the conversation began with; later emails come from it. */
  stickyMailboxId: string | null;
  notBefore: Date | null;
  variantId: string | null;
}

/** What the allocator answers: a slot, a later moment to ask again, a hold until something changes, or never. */
export type Allocation =
  | { kind: 'slot'; sendId: string; at: Date; mailboxId: string }
  | { kind: 'later'; at: Date; why: string }
  | { kind: 'hold'; why: 'no_mailbox' }
  | { kind: 'never'; why: 'campaign_ended' | 'no_window' };

interface MailboxRow {
  id: string;
  provider: string;
  campaign_limit: number;
  min_wait_time: number;
  weight: number;
  /** The latest slot given out, or the latest email that left: whichever is later. */
  last_at: Date | null;
}

interface Seat {
  mailbox: MailboxRow;
  lastAt: Date | null;
  /** Slots given out per UTC day, over all campaigns. */
  used: Map<string, number>;
}

export interface AllocationLimits {
  /** How far ahead (ms) slots may lie; the rest of the campaign-local day unless said. */
  horizonMs?: number;
  /** Emails of today that belong to others, such as due follow-ups, and are not given to these candidates. */
  keepBack?: number;
}

/** Contacts that must wait for another day ask again a little apart, not all in the same second. */
const SPREAD_MS = 60_000;

/**
 * Gives out send slots for one campaign (DESIGN section 3, "Sending"): window, days, dates, caps of campaign and
 * mailbox, ramp, new-lead cap, rotation, provider match, gap per mailbox, send-time optimization. Slots lie within the
 * present campaign-local day. Runs under a lock of the campaign and of its mailboxes, so two callers never take the
 * same slot; `sends` rows and counts are written in the caller's transaction.
 */
export async function allocate(
  tx: Tx,
  { campaign, settings }: CampaignInEffect,
  candidates: readonly Candidate[],
  limits: AllocationLimits = {},
): Promise<Allocation[]> {
  if (candidates.length === 0) return [];
  const schedule = scheduleOf(campaign);
  const now = tx.now;
  const opening = nextOpening(schedule, now);
  if (!opening) {
    const ended = campaign.end_date !== null && campaign.end_date <= now;
    return candidates.map(() => ({ kind: 'never', why: ended ? 'campaign_ended' : 'no_window' }));
  }
  const day = dayKey(schedule, opening);
  // The campaign's row before its slots and mailboxes, as every verb of the campaign and its launcher take them.
  const level = await rampToday(tx, campaign, day);
  // Sent together, and run in this order.
  const [, seats] = await Promise.all([tx.org.lock(`campaign/${campaign.id}`), seatsOf(tx, campaign)]);
  if (seats.length === 0) return candidates.map(() => ({ kind: 'hold', why: 'no_mailbox' }));

  const utcDay = opening.toISOString().slice(0, 10);
  const dayEnds = startOfNextDay(campaign.timezone, opening);
  // A campaign-local day lies on two UTC days, and mailboxes count by UTC day.
  const lastUtcDay = dayEnds.toISOString().slice(0, 10);
  const counters = await readCounters(
    tx.org,
    [campaign.id, ...seats.map((seat) => seat.mailbox.id)],
    [day, utcDay, lastUtcDay],
  );
  for (const seat of seats) {
    for (const on of [utcDay, lastUtcDay]) seat.used.set(on, counters.get(`mailbox/${seat.mailbox.id}/${on}`) ?? 0);
  }
  const ramp = (cap: number) =>
    rampLevel(
      {
        enabled: campaign.ramp_enabled,
        start: campaign.ramp_start,
        increment: campaign.ramp_increment,
        ceiling: campaign.ramp_ceiling,
        level,
        perMailboxCap: cap,
      },
      0,
    );
  const rampCap = seats.reduce((sum, seat) => sum + ramp(seat.mailbox.campaign_limit), 0);
  let campaignRoom =
    Math.min(campaign.daily_limit, rampCap) -
    (counters.get(`campaign/${campaign.id}/${day}`) ?? 0) -
    (limits.keepBack ?? 0);
  let newRoom =
    campaign.max_new_leads_per_day === 0
      ? Infinity
      : campaign.max_new_leads_per_day - (counters.get(`campaign_new/${campaign.id}/${day}`) ?? 0);

  const tomorrow = nextOpening(schedule, dayEnds);
  const optimize = settings.send_time_optimization;
  const slots: Record<string, unknown>[] = [];
  const changes: CounterChange[] = [];
  const answers = candidates.map((candidate): Allocation => {
    const nextDay = (why: string): Allocation =>
      tomorrow
        ? {
            kind: 'later',
            at: new Date(tomorrow.getTime() + Math.floor(share(candidate.enrollmentId, day) * SPREAD_MS)),
            why,
          }
        : { kind: 'never', why: 'campaign_ended' };
    if (campaignRoom <= 0) return nextDay('the daily limit of the campaign is reached');
    if (candidate.isFirst && newRoom <= 0) return nextDay('the limit of new leads a day is reached');
    const pool = fitting(seats, candidate, campaign.esp_match_mode);
    if (pool.length === 0) return { kind: 'hold', why: 'no_mailbox' };
    const free = pool.filter((seat) => usedOn(seat, utcDay) < seat.mailbox.campaign_limit);
    if (free.length === 0) return nextDay('the daily limit of the mailboxes is reached');
    const seat = free.reduce((best, next) => (before(next, best, utcDay) ? next : best));
    const draw = draws(candidate.enrollmentId, candidate.stepId);
    const slot = nextSlot({
      now,
      lastSentAt: seat.lastAt,
      minGapSeconds: seat.mailbox.min_wait_time,
      schedule,
      horizonMs: Math.min(limits.horizonMs ?? Infinity, Math.max(0, dayEnds.getTime() - 1 - now.getTime())),
      notBefore: candidate.notBefore,
      jitter: draw,
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
    });
    if ('never' in slot) return { kind: 'never', why: slot.never === 'ended' ? 'campaign_ended' : 'no_window' };
    if ('later' in slot) return { kind: 'later', at: slot.later, why: 'the next free time is further ahead' };
    const slotDay = slot.at.toISOString().slice(0, 10);
    if (usedOn(seat, slotDay) >= seat.mailbox.campaign_limit)
      return nextDay('the daily limit of the mailboxes is reached');
    const sendId = newId();
    seat.lastAt = slot.at;
    seat.used.set(slotDay, usedOn(seat, slotDay) + 1);
    campaignRoom -= 1;
    if (candidate.isFirst) newRoom -= 1;
    changes.push({ scope: 'campaign', scopeId: campaign.id, day, by: 1 });
    changes.push({ scope: 'mailbox', scopeId: seat.mailbox.id, day: slotDay, by: 1 });
    if (candidate.isFirst) changes.push({ scope: 'campaign_new', scopeId: campaign.id, day, by: 1 });
    slots.push({
      id: sendId,
      enrollment_id: candidate.enrollmentId,
      step_id: candidate.stepId,
      step_run_id: candidate.stepRunId,
      contact_id: candidate.contactId,
      mailbox_id: seat.mailbox.id,
      variant_id: candidate.variantId,
      recipient: candidate.recipient,
      slot_at: slot.at,
      is_first: candidate.isFirst,
      attempts: candidate.attempts,
    });
    return { kind: 'slot', sendId, at: slot.at, mailboxId: seat.mailbox.id };
  });

  if (slots.length > 0) {
    const moved = seats.filter((seat) => seat.lastAt !== seat.mailbox.last_at);
    await tx.org.sql(
      `with slots as (
         insert into sends (id, organization_id, campaign_id, enrollment_id, step_id, step_run_id, contact_id, mailbox_id, variant_id, state,
           recipient, slot_at, slot_day, is_first, attempts, created_at, updated_at)
         select t.id, :org, :campaign, t.enrollment_id, t.step_id, t.step_run_id, t.contact_id, t.mailbox_id, t.variant_id, 'reserved',
           t.recipient, t.slot_at, :day, t.is_first, t.attempts, :now, :now
         from jsonb_to_recordset(:slots) as t(id uuid, enrollment_id uuid, step_id uuid, step_run_id uuid, contact_id uuid, mailbox_id uuid,
           variant_id uuid, recipient text, slot_at timestamptz, is_first boolean, attempts int)
       ), moved as (
         update mailboxes m set last_slot_at = t.at from unnest(:mailboxes::uuid[], :at::timestamptz[]) as t(id, at)
         where m.organization_id = :org and m.id = t.id
       )
       ${COUNT_DAILY}`,
      {
        campaign: campaign.id,
        day,
        now,
        slots: json(slots),
        mailboxes: moved.map((seat) => seat.mailbox.id),
        at: moved.map((seat) => seat.lastAt!.toISOString()),
        ...countBindings(changes),
      },
    );
  }
  return answers;
}

/** The campaign's usable mailboxes, locked in one order so that campaigns which share them cannot deadlock. */
async function seatsOf(tx: Tx, campaign: CampaignInEffect['campaign']): Promise<Seat[]> {
  const rows = await tx.org.sql<MailboxRow>(
    `with ${SENDER_POOL}
     select m.id, m.provider, m.campaign_limit, m.min_wait_time, greatest(pool.weight, 1) as weight,
       greatest(m.last_slot_at, (select max(s.sent_at) from sends s where s.mailbox_id = m.id)) as last_at
     from mailboxes m join pool on pool.id = m.id
     where m.organization_id = :org and m.status = 'active' and (m.hold_code is null or m.hold_until <= :now)
     order by m.id for no key update of m`,
    { ...poolBindings(campaign), now: tx.now },
  );
  return rows.map((mailbox) => ({ mailbox, lastAt: mailbox.last_at, used: new Map() }));
}

function usedOn(seat: Seat, day: string): number {
  return seat.used.get(day) ?? 0;
}

/** Mailboxes this contact may come from. A conversation stays with its mailbox while that is in the pool. */
function fitting(seats: readonly Seat[], candidate: Candidate, mode: 'off' | 'prefer' | 'strict'): readonly Seat[] {
  if (candidate.stickyMailboxId) {
    const own = seats.filter((seat) => seat.mailbox.id === candidate.stickyMailboxId);
    if (own.length > 0) return own;
  }
  if (mode === 'off' || candidate.espProvider === '') return seats;
  const same = seats.filter(
    (seat) => (seat.mailbox.provider === 'smtp_imap' ? 'other' : seat.mailbox.provider) === candidate.espProvider,
  );
  return same.length > 0 || mode === 'strict' ? same : seats;
}

/** Round robin by weight: the mailbox that has given least for its weight today, then the one that rested longest. */
function before(a: Seat, b: Seat, day: string): boolean {
  const load = usedOn(a, day) / a.mailbox.weight - usedOn(b, day) / b.mailbox.weight;
  if (load !== 0) return load < 0;
  const rest = (a.lastAt?.getTime() ?? 0) - (b.lastAt?.getTime() ?? 0);
  return rest !== 0 ? rest < 0 : a.mailbox.id < b.mailbox.id;
}

/** The ramp level of a sending day; the first to ask on a new day raises it. Others may hold an older view of the campaign. */
async function rampToday(tx: Tx, campaign: CampaignInEffect['campaign'], day: string): Promise<number> {
  // A day before the latest can come back when the timezone is edited; it raises nothing.
  if (!campaign.ramp_enabled || (campaign.ramp_day !== null && campaign.ramp_day >= day)) return campaign.ramp_level;
  await tx.org.sql(
    `update campaigns set ramp_day = :day, ramp_level = case when ramp_day is null then ramp_start else ramp_level + ramp_increment end
     where organization_id = :org and id = :id and (ramp_day is null or ramp_day < :day::date)`,
    { id: campaign.id, day },
  );
  const [row] = await tx.org.sql<{ ramp_level: number }>(
    `select ramp_level from campaigns where organization_id = :org and id = :id`,
    { id: campaign.id },
  );
  return row!.ramp_level;
}

/** Draws in 0 to 1 that depend on the send alone: asking again draws the same. */
function draws(enrollmentId: string, stepId: string): () => number {
  let n = 0;
  return () => share(enrollmentId, `${stepId}/${n++}`);
}

function share(id: string, salt: string): number {
  return createHash('sha256').update(`${id}/${salt}`).digest().readUInt32BE() / 2 ** 32;
}
