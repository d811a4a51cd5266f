import type { Columns } from '../../../db/rows.ts';
import { DAY_MS, MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { countDaily } from '../../sending/campaign/counters.ts';
import { freeFrom, readSeats, occupySlot, type Seat } from '../../sending/seats.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import type { Span } from '../../platform/scheduling/pattern.ts';
import { compileSchedule, spansBetween, type CompiledSchedule } from '../../platform/scheduling/windows.ts';
import { pickPartners, readPool, type Pool } from './pool.ts';
import { targetWithin, type HealthState, type Ramp } from './ramp.ts';
import { matchedOf } from './routing.ts';
import { resetFreeTime } from './standing.ts';

/** Number of mailboxes that are planned in one transaction. */
const CHUNK = 250;
/** Number of parallel transactions. While the database stores one chunk, the process computes the next. */
const LANES = 2;
/**
 * Maximum random delay (ms) added to the next free time, if the randomly drawn slot does not respect the mailbox's gap.
 */
const SPREAD_MS = 4 * MINUTE_MS;
const NO_CAMPAIGN = { id: '00000000-0000-0000-0000-000000000000' };

interface PlanRow extends Ramp, Window {
  id: string;
  email: string;
  provider: string;
  host: string;
  health_state: HealthState;
}

/** Hours in which a mailbox exchanges warmup emails. */
export type Window = Columns<'mailboxes', 'timezone' | 'warmup_days' | 'warmup_start_time' | 'warmup_end_time'>;

/**
 * Plans the rest of the current UTC day for mailboxes of the workspace that have no plan yet. Works in chunks until the
 * given mailbox has a plan. Several processes may plan concurrently. Each call skips mailboxes that other transactions
 * have locked; they are planned later.
 * @returns the number of planned mailboxes
 */
export async function planDay(ctx: Ctx, mailboxId?: string): Promise<number> {
  await release(ctx);
  const pool = await readPool(reader(ctx), ctx.clock.now());
  let planned = 0;
  let over = false;
  const work = async (): Promise<void> => {
    while (!over) {
      const done = await transact(ctx, (tx) => planChunk(tx, pool, mailboxId));
      planned += done.length;
      over ||= done.length === 0 || (mailboxId !== undefined && done.includes(mailboxId));
    }
  };
  await Promise.all(Array.from({ length: LANES }, work));
  return planned;
}

/** Sets mailboxes whose quarantine or block has expired to `throttled`, so that they rejoin the pool. */
async function release(ctx: Ctx): Promise<void> {
  await transact(ctx, async (tx) => {
    const rows = await tx.org.sql<Columns<'warmup_standings', 'mailbox_id'> & { was: HealthState }>(
      `with over as (
         select s.mailbox_id, s.health_state from warmup_standings s join mailboxes m on m.id = s.mailbox_id
         where s.organization_id = :org and s.health_state in ('quarantined', 'blocked') and s.blocked_until <= :now
         for no key update of m, s skip locked)
       update warmup_standings s set health_state = 'throttled', reason = null
       from over where s.mailbox_id = over.mailbox_id returning s.mailbox_id, over.health_state as was`,
      { now: tx.now },
    );
    await resetFreeTime(
      tx,
      rows.map(({ mailbox_id: id }) => id),
    );
    for (const { mailbox_id: id, was } of rows)
      tx.emit('warmup.health_changed', { email_account_id: id, health_state: 'throttled', previous_state: was });
  });
}

/** Plans one chunk of mailboxes. The first chunk includes the given mailbox. Returns the ids of planned mailboxes. */
async function planChunk(tx: Tx, pool: Pool, mailboxId: string | undefined): Promise<string[]> {
  const from = tx.now.getTime();
  const day = utcDay(from);
  const until = (Math.floor(from / DAY_MS) + 1) * DAY_MS;
  // Takes the row lock that campaigns also take when they reserve slots.
  const rows = await tx.org.sql<PlanRow>(
    `select m.id, m.email, m.provider, m.smtp ->> 'host' as host, s.health_state, m.warmup, m.warmup_paused_at, m.warmup_base, m.warmup_max,
       m.warmup_increase, m.timezone, m.warmup_days, m.warmup_start_time, m.warmup_end_time
     from warmup_standings s join mailboxes m on m.id = s.mailbox_id
     where s.organization_id = :org and (s.planned_day is null or s.planned_day < cast(:day as date))
       and m.warmup is not null and m.warmup_paused_at is null and m.status = 'active'
     order by m.id = :first desc, m.id limit :chunk for no key update of m, s skip locked`,
    { day, chunk: CHUNK, first: mailboxId ?? null },
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const seats = new Map(
    (await readSeats(tx.org, NO_CAMPAIGN, ids, { day, from, until })).map((seat) => [seat.id, seat] as const),
  );
  const hours = new Map<string, Hours>();
  const mails = rows.flatMap((row) => {
    const key = `${row.timezone} ${row.warmup_days} ${row.warmup_start_time} ${row.warmup_end_time}`;
    if (!hours.has(key)) hours.set(key, hoursLeft(row, from, until));
    return planMailbox(tx, pool, row, seats.get(row.id)!, hours.get(key)!);
  });
  await insertMails(tx, mails);
  await countDaily(
    tx.org,
    mails.map(({ mailbox_id: scopeId }) => ({ scope: 'mailbox', scopeId, day, by: 1 })),
  );
  await tx.org.sql(
    `update warmup_standings set planned_day = cast(:day as date) where organization_id = :org and mailbox_id = any(:ids::uuid[])`,
    { day, ids },
  );
  return ids;
}

interface PlannedMail {
  id: string;
  mailbox_id: string;
  partner_id: string;
  answers: string | null;
  slot_at: Date;
}

function planMailbox(tx: Tx, pool: Pool, row: PlanRow, seat: Seat, hours: Hours): PlannedMail[] {
  const wanted = targetWithin(seat.cap, row, row.health_state, tx.now);
  const { spans, openMs, share } = hours;
  if (wanted === 0 || openMs === 0) return [];
  const partners = pickPartners(pool, { id: row.id, matched: matchedOf(row) }, Math.max(1, Math.round(wanted * share)));
  return partners.flatMap((partner) => {
    const at = freeFrom(seat, momentIn(spans, Math.random() * openMs), Math.floor(Math.random() * SPREAD_MS));
    if (!spans.some(({ from, to }) => at >= from && at < to)) return [];
    occupySlot(seat, at);
    return { id: newId(), mailbox_id: row.id, partner_id: partner, answers: null, slot_at: new Date(at) };
  });
}

/** The warmup hours that remain in a UTC day. */
interface Hours {
  /** Open intervals in epoch ms. */
  spans: readonly Span[];
  openMs: number;
  /**
   * Share (0 to 1) of the day's warmup hours that remains. A plan that is created during the day is reduced by this
   * share.
   */
  share: number;
}

function hoursLeft(row: Window, from: number, until: number): Hours {
  const schedule = openingHours(row);
  const spans = [...spansBetween(schedule, from, until)];
  const openMs = lengthOf(spans);
  const wholeMs = lengthOf([...spansBetween(schedule, until - DAY_MS, until)]);
  return { spans, openMs, share: wholeMs === 0 ? 0 : Math.min(1, openMs / wholeMs) };
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Returns the warmup hours of a mailbox as a compiled schedule. */
export function openingHours(row: Window): CompiledSchedule {
  return compileSchedule({
    timezone: row.timezone,
    days: row.warmup_days,
    startTime: row.warmup_start_time,
    endTime: row.warmup_end_time,
    windows: null,
    startDate: null,
    endDate: null,
  });
}

/** Returns the time (epoch ms) that lies `into` ms of open time after the start. */
function momentIn(spans: readonly { from: number; to: number }[], into: number): number {
  let left = into;
  for (const { from, to } of spans) {
    if (left < to - from) return Math.floor(from + left);
    left -= to - from;
  }
  return spans.at(-1)!.to - 1;
}

/** Stores emails with their slots. The caller must update the daily counts. */
export async function insertMails(tx: Tx, mails: readonly PlannedMail[]): Promise<void> {
  if (mails.length === 0) return;
  await tx.org.sql(
    `insert into warmup_mails (id, organization_id, mailbox_id, partner_id, answers, slot_at, slot_day, created_at)
     select t.id, :org, t.mailbox, t.partner, t.answers, t.slot, (t.slot at time zone 'utc')::date, :now
     from unnest(:ids::uuid[], :mailboxes::uuid[], :partners::uuid[], :answers::uuid[], :slots::timestamptz[]) as t(id, mailbox, partner, answers, slot)
     on conflict (answers) do nothing`,
    {
      now: tx.now,
      ids: mails.map(({ id }) => id),
      mailboxes: mails.map((mail) => mail.mailbox_id),
      partners: mails.map((mail) => mail.partner_id),
      answers: mails.map(({ answers }) => answers),
      slots: mails.map((mail) => mail.slot_at),
    },
  );
}
