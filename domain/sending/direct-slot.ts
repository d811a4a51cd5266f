import type { Columns } from '../../db/rows.ts';
import { DAY_MS, MINUTE_MS, utcDay } from '../../lib/clock.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { COUNT_DAILY, countBindings } from './campaign/counters.ts';
import { releaseReservedSends } from './control/release.ts';
import { freeFrom, readSeats, type Seat } from './seats.ts';
import { message, type Message } from '../../messages/index.ts';
import { holdTitle } from './control/hold-codes.ts';

/** A direct send that is due. The campaign's row is locked. */
type DueDirectSend = Columns<
  'direct_sends',
  'id' | 'mailbox_id' | 'to_emails' | 'contact_id' | 'attempts' | 'send_mode'
>;

type DirectSlot = { kind: 'slot'; at: Date } | { kind: 'later'; at: Date; why: Message } | { kind: 'never' };

/** Maximum delay (ms) before the next attempt when the mailbox cannot send. */
const RETRY_MS = 15 * MINUTE_MS;
/** Placeholder campaign id, used to read a mailbox without counting emails of a campaign. */
const NO_CAMPAIGN = { id: '00000000-0000-0000-0000-000000000000' };

interface Sender extends Columns<
  'mailboxes',
  'status' | 'hold_code' | 'hold_until' | 'imap_hold_code' | 'imap_hold_until'
> {
  id: string;
}

/**
 * Reserves a slot of the mailbox for a direct send: the first time that keeps the daily cap and the minimum gap to all
 * other emails. Unless `send_mode` is `smart`, releases campaign slots that would delay the email, because a person
 * waits for it. Contacts whose slots are released request new ones. Returns `later` when the mailbox cannot send now,
 * and `never` when it is deleted.
 */
export async function reserveDirect(tx: Tx, email: DueDirectSend): Promise<DirectSlot> {
  const mailboxId = email.mailbox_id;
  if (mailboxId === null) return { kind: 'never' };
  const before = await readSender(tx, mailboxId);
  if (!before) return { kind: 'never' };
  const rests = restOf(tx, before);
  if (rests) return rests;
  // Releases the campaign slots first, because all writers lock sends before mailboxes.
  if (email.send_mode !== 'smart') await releaseCampaignSlots(tx, mailboxId);
  const sender = await readSender(tx, mailboxId, 'for no key update');
  if (!sender) return { kind: 'never' };
  const restsNow = restOf(tx, sender);
  if (restsNow) return restsNow;
  const seat = await readSeat(tx, mailboxId);
  const at = freeFrom(seat, tx.now.getTime());
  if (at === Infinity) return sendsNothing(tx);
  await store(tx, email, mailboxId, new Date(at));
  return { kind: 'slot', at: new Date(at) };
}

/**
 * Reserves a slot for a test email of a campaign. The slot is now, because a test keeps no gap, or on the next day if
 * the daily cap is used up. Releases no campaign slots. Returns the same results as {@link reserveDirect}.
 */
export async function reserveTest(tx: Tx, email: Omit<DueDirectSend, 'send_mode'>): Promise<DirectSlot> {
  const mailboxId = email.mailbox_id;
  const sender = mailboxId === null ? undefined : await readSender(tx, mailboxId, 'for no key update');
  if (!sender) return { kind: 'never' };
  const rests = restOf(tx, sender);
  if (rests) return rests;
  const seat = await readSeat(tx, sender.id);
  const at = freeFrom({ ...seat, taken: [] }, tx.now.getTime());
  if (at === Infinity) return sendsNothing(tx);
  await store(tx, email, sender.id, new Date(at));
  return { kind: 'slot', at: new Date(at) };
}

function sendsNothing(tx: Tx): DirectSlot {
  return { kind: 'later', at: new Date(tx.now.getTime() + RETRY_MS), why: message('wait.mailbox_sends_nothing') };
}

async function readSender(tx: Tx, id: string, lock: '' | 'for no key update' = ''): Promise<Sender | undefined> {
  const [row] = await tx.org.sql<Sender>(
    `select id, status, hold_code, hold_until, imap_hold_code, imap_hold_until from mailboxes where organization_id = :org and id = :id ${lock}` as `${string}:org${string}`,
    { id },
  );
  return row;
}

/** Returns the reason why a mailbox cannot send now and the time of the next attempt, or undefined if it can send. */
function restOf(tx: Tx, sender: Sender): Extract<DirectSlot, { kind: 'later' }> | undefined {
  const soon = tx.now.getTime() + RETRY_MS;
  if (sender.status !== 'active') return { kind: 'later', at: new Date(soon), why: message('wait.mailbox_off') };
  const holds = [
    { code: sender.hold_code, until: sender.hold_until },
    { code: sender.imap_hold_code, until: sender.imap_hold_until },
  ].filter(({ code, until }) => code !== null && (until === null || until > tx.now));
  if (holds.length === 0) return undefined;
  const until = Math.max(...holds.map((hold) => hold.until?.getTime() ?? soon));
  return {
    kind: 'later',
    at: new Date(Math.min(until, soon)),
    why: message('wait.mailbox_held', { reason: holdTitle(holds[0]!.code!) }),
  };
}

async function readSeat(tx: Tx, mailboxId: string): Promise<Seat> {
  const now = tx.now.getTime();
  const on = { day: utcDay(now), from: now, until: now + DAY_MS };
  const [seat] = await readSeats(tx.org, NO_CAMPAIGN, [mailboxId], on);
  return seat!;
}

/**
 * Releases the campaign slots that delay a direct send: those within the minimum gap of the earliest time without
 * campaign slots.
 */
async function releaseCampaignSlots(tx: Tx, mailboxId: string): Promise<void> {
  const slots = await tx.org.sql<Columns<'sends', 'id' | 'slot_at'>>(
    `select id, slot_at from sends where organization_id = :org and mailbox_id = :mailbox and state = 'reserved' and campaign_id is not null and not again
     order by slot_at`,
    { mailbox: mailboxId },
  );
  if (slots.length === 0) return;
  const seat = await readSeat(tx, mailboxId);
  const now = tx.now.getTime();
  if (freeFrom(seat, now) <= now) return;
  const times = new Set(slots.map(({ slot_at }) => slot_at.getTime()));
  const used = new Map(seat.used);
  for (const at of times) used.set(utcDay(at), (used.get(utcDay(at)) ?? 0) - 1);
  const at = freeFrom({ ...seat, taken: seat.taken.filter((taken) => !times.has(taken)), used }, now);
  const near = slots.filter(({ slot_at }) => Math.abs(slot_at.getTime() - at) < seat.gapMs);
  const day = utcDay(at);
  const left = (seat.used.get(day) ?? 0) - near.filter(({ slot_at }) => utcDay(slot_at.getTime()) === day).length;
  const last = slots.findLast((slot) => utcDay(slot.slot_at.getTime()) === day && !near.includes(slot));
  // If the day's cap is used up, the latest campaign slot of the day is released too.
  const standBack = left >= seat.cap && last ? [...near, last] : near;
  for (const { id } of standBack.sort((a, b) => (a.id < b.id ? -1 : 1))) await releaseReservedSends(tx, { sendId: id });
}

async function store(tx: Tx, email: Omit<DueDirectSend, 'send_mode'>, mailboxId: string, at: Date): Promise<void> {
  const day = utcDay(at.getTime());
  await tx.org.sql(
    `with slot as (
       insert into sends (id, organization_id, contact_id, mailbox_id, state, recipient, slot_at, slot_day, attempts, created_at, updated_at)
       values (cast(:id as uuid), :org, cast(:contact as uuid), cast(:mailbox as uuid), 'reserved', :recipient, :at, :day, :attempts, :now, :now)
       -- An uncertain email that a person resends keeps its row and its Message-ID.
       on conflict (id) do update set state = 'reserved', mailbox_id = excluded.mailbox_id, slot_at = excluded.slot_at,
         slot_day = excluded.slot_day, attempts = 0, updated_at = excluded.updated_at
       where sends.state = 'uncertain' and sends.again
     )
     ${COUNT_DAILY}`,
    {
      id: email.id,
      contact: email.contact_id,
      mailbox: mailboxId,
      recipient: email.to_emails[0]!,
      at,
      day,
      attempts: email.attempts,
      now: tx.now,
      ...countBindings([{ scope: 'mailbox', scopeId: mailboxId, day, by: 1 }]),
    },
  );
}
