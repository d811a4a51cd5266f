import { createSlices } from '../../../lib/slices.ts';
import { afterDay, capacityOf, kindsOf, momentOf, openDay } from './projected-day.ts';
import type { Kind, OpenTime, Piece, ProjectedMailbox } from './projected-day.ts';
import type { Span } from './pattern.ts';
import { rampLevel } from './ramp.ts';
import { compileSchedule, nextSpan, spansBetween } from './windows.ts';
import type { CompiledSchedule, Schedule } from './windows.ts';
import { DAY, localDay, nextLocalDay } from './zone.ts';

/** Maximum number of local days in two years, including the first and the last. */
const MAX_DAYS = 2 * 366 + 2;
/**
 * Maximum number of cached day starts. At most seven recur each week, and each needs memory for all groups of
 * mailboxes.
 */
const MAX_OPENINGS = 32;

export interface EstimateInput {
  readonly recipients: number;
  readonly mailboxes: readonly ProjectedMailbox[];
  /** Maximum number of emails of the campaign per day in its time zone, in total and for each mailbox. */
  readonly dailyLimit: number;
  /**
   * Ramp per mailbox: emails on the first sending day, increase per further sending day, and maximum (0 for none).
   */
  readonly ramp: { readonly start: number; readonly increment: number; readonly ceiling: number } | null;
  readonly schedule: Schedule;
  readonly now: Date;
}

/** Response of POST /campaigns-estimate, with field names of the API. */
export interface Estimate {
  recipients: number;
  mailboxes: number;
  /** Number of emails on a complete sending day, if the mailboxes send nothing else and the ramp has ended. */
  daily_capacity: number;
  /**
   * Number of emails that can still be sent today, in the schedule's time zone. 0 when today's sending is over or the
   * campaign has not begun.
   */
  remaining_today: number;
  /** Number of days on which emails are sent. */
  sending_days: number | null;
  estimated_finish_at: Date | null;
}

/**
 * Estimates when the last of `recipients` first emails is sent, by the rules of the allocator. Assumes that besides the
 * campaign's emails the mailboxes send only those in `coming`, which also count against their caps. On each day, each
 * mailbox sends as early as window, gap, cap of the UTC day and share allow, until the campaign's daily limit is
 * reached. The share is the smallest of cap, daily limit and ramp. The engine may lengthen gaps by up to a fifth if the
 * day still has time for all emails. Therefore days and emails per day are as projected, but the last email may be
 * later on its day. The number of days and the finish are null if there are no recipients, no capacity or no sending
 * days. They are also null if the end date is too early, or two years are too short.
 *
 * Mailboxes in the same state are grouped, and days with the same hours that begin in the same state are computed once.
 * After the first weeks all weeks are equal, so two years take little longer to compute than these weeks. With ten
 * thousand mailboxes of different warmup plans these weeks may take a second or two, so the function yields to the
 * event loop between days.
 */
export async function estimateSending(input: EstimateInput): Promise<Estimate> {
  const { recipients, mailboxes, dailyLimit, schedule, now } = input;
  const plan = compileSchedule(schedule);
  const begin = Math.max(now.getTime(), plan.from);
  const deadline = new Date(begin);
  deadline.setUTCFullYear(deadline.getUTCFullYear() + 2);

  // Skips the projection if the emails cannot be sent within two years.
  const shares = mailboxes.reduce((sum, { cap }) => sum + Math.min(cap, dailyLimit), 0);
  const reachable = MAX_DAYS * Math.min(dailyLimit, shares);
  // A ramp above the highest cap has no effect, so all later days have the same limit.
  const highest = mailboxes.reduce((most, { cap }) => Math.max(most, cap), 0);
  const today = localDay(plan.pattern.clock, now.getTime());
  const days = new PlayedDays(dailyLimit);
  let opening: Opening | undefined;
  let remaining = 0;
  let left = recipients;
  let sendingDays = 0;
  let index = 0;
  let finish: Date | null = null;
  const letOthers = createSlices();
  for (const day of daysOf(plan, begin, deadline.getTime())) {
    opening ??= days.open(kindsOf(mailboxes, day.midnight), day.pieces[0]!.from);
    const level = Math.min(highest, levelOn(input, index));
    index += 1;
    const played = days.play(opening, day, level);
    if (day.day === today) remaining = played.capacity;
    if (left <= 0 || left > reachable) break;
    if (played.capacity > 0) sendingDays += 1;
    if (left <= played.capacity) {
      const at = day.midnight + momentOf(opening.kinds, day, level, left);
      if (at <= deadline.getTime()) finish = new Date(at);
      break;
    }
    if (day.next === Infinity) break;
    left -= played.capacity;
    opening = played.next();
    await letOthers();
  }
  return {
    recipients,
    mailboxes: mailboxes.length,
    daily_capacity: wholeDay(input, plan, begin, deadline.getTime()),
    remaining_today: remaining,
    sending_days: finish && sendingDays,
    estimated_finish_at: finish,
  };
}

/**
 * State of the mailboxes at the start of a day, and the results of days that began in this state, by sending hours and
 * ramp.
 */
interface Opening {
  readonly kinds: readonly Kind[];
  readonly days: Map<string, PlayedDay>;
}

interface PlayedDay {
  /** Number of emails that the campaign sends on the day. */
  readonly capacity: number;
  /** Returns the state of the mailboxes at the start of the next day. */
  readonly next: () => Opening;
}

/** Computes the days of a projection. Equal days are computed once. */
class PlayedDays {
  readonly #dailyLimit: number;
  readonly #openings = new Map<string, Opening>();

  constructor(dailyLimit: number) {
    this.#dailyLimit = dailyLimit;
  }

  open(kinds: readonly Kind[], opensAt: number): Opening {
    const opened = openDay(kinds, opensAt);
    const known = this.#openings.get(opened.key);
    if (known) return known;
    const opening = { kinds: opened.kinds, days: new Map<string, PlayedDay>() };
    if (this.#openings.size >= MAX_OPENINGS) this.#openings.clear();
    this.#openings.set(opened.key, opening);
    return opening;
  }

  play({ kinds, days }: Opening, time: OpenTime, level: number): PlayedDay {
    const key = `${level};${time.next};${time.pieces.map(({ from, to }) => `${from}-${to}`).join()}`;
    let day = days.get(key);
    if (!day) days.set(key, (day = this.#play(kinds, time, level)));
    return day;
  }

  #play(kinds: readonly Kind[], time: OpenTime, level: number): PlayedDay {
    let next: Opening | undefined;
    return {
      capacity: capacityOf(kinds, time, level, this.#dailyLimit),
      next: () => (next ??= this.open(afterDay(kinds, time, level, this.#dailyLimit), time.next)),
    };
  }
}

/**
 * A campaign-local day with open time. Times are ms from `midnight` (epoch ms), the UTC midnight before the start of
 * its first sending window.
 */
interface SendingDay extends OpenTime {
  readonly day: number;
  readonly midnight: number;
}

function* daysOf(plan: CompiledSchedule, begin: number, deadline: number): Generator<SendingDay> {
  const { clock } = plan.pattern;
  for (let span = nextSpan(plan, begin), cursor = begin; span !== null && span.from <= deadline;) {
    const opens = Math.max(span.from, cursor);
    const closes = nextLocalDay(clock, opens);
    const midnight = Math.floor(opens / DAY) * DAY;
    const pieces = [...spansBetween(plan, opens, closes)].flatMap((open) =>
      splitByUtcDay({ from: open.from - midnight, to: open.to - midnight }),
    );
    span = nextSpan(plan, closes);
    const next = span ? Math.max(span.from, closes) - midnight : Infinity;
    yield { day: localDay(clock, opens), midnight, pieces, next };
    cursor = closes;
  }
}

function splitByUtcDay({ from, to }: Span): Piece[] {
  const pieces: Piece[] = [];
  for (let at = from; at < to;) {
    const day = Math.floor(at / DAY);
    const end = Math.min(to, (day + 1) * DAY);
    pieces.push({ from: at, to: end, day });
    at = end;
  }
  return pieces;
}

/** Returns the maximum that a mailbox sends for the campaign on sending day `index`, ignoring its cap. */
function levelOn({ ramp, dailyLimit }: EstimateInput, index: number): number {
  return ramp ? rampLevel({ enabled: true, ...ramp, level: null, perMailboxCap: dailyLimit }, index) : dailyLimit;
}

/** Returns the number of emails on the first day that is open from its start, if the mailboxes send nothing else. */
function wholeDay(input: EstimateInput, plan: CompiledSchedule, begin: number, deadline: number): number {
  const { clock } = plan.pattern;
  const fresh = input.mailboxes.map(({ cap, gapMs }) => ({ cap, gapMs, used: new Map(), taken: [], restsUntil: 0 }));
  const days = new PlayedDays(input.dailyLimit);
  const level = levelOn(input, Number.MAX_SAFE_INTEGER);
  for (const day of daysOf(plan, nextLocalDay(clock, begin), deadline))
    return days.play(days.open(kindsOf(fresh, day.midnight), day.pieces[0]!.from), day, level).capacity;
  return 0;
}
