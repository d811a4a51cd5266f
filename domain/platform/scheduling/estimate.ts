import { createSlices } from '../../../lib/slices.ts';
import { afterDay, capacityOf, kindsOf, momentOf, openDay } from './projected-day.ts';
import type { Kind, OpenTime, Piece, ProjectedMailbox } from './projected-day.ts';
import type { Span } from './pattern.ts';
import { rampLevel } from './ramp.ts';
import { compileSchedule, nextSpan, spansBetween } from './windows.ts';
import type { CompiledSchedule, Schedule } from './windows.ts';
import { DAY, localDay, nextLocalDay } from './zone.ts';

/** Local days of two years, those that they begin and end in included. */
const MOST_DAYS = 2 * 366 + 2;
/** Openings that are remembered: a week has seven at the most that come again, and each is as large as the pool of mailboxes. */
const MOST_OPENINGS = 32;

export interface EstimateInput {
  readonly recipients: number;
  readonly mailboxes: readonly ProjectedMailbox[];
  /** Emails of the campaign per campaign-local day; no mailbox gives it more than that either. */
  readonly dailyLimit: number;
  /** What each mailbox gives the campaign on its first sending day, what each further one adds, and where that ends (0: nowhere). */
  readonly ramp: { readonly start: number; readonly increment: number; readonly ceiling: number } | null;
  readonly schedule: Schedule;
  readonly now: Date;
}

/** The answer of POST /campaigns-estimate, under the API's names. */
export interface Estimate {
  recipients: number;
  mailboxes: number;
  /** Emails on a whole sending day of mailboxes that have sent nothing before, the ramp at its end. */
  daily_capacity: number;
  /** Emails that can still leave on the present day of the schedule's zone; 0 when it does not send any more, or not yet. */
  remaining_today: number;
  /** Days on which mail goes out. */
  sending_days: number | null;
  estimated_finish_at: Date | null;
}

/**
 * Projects when the last of `recipients` first emails goes out, by the rules of the allocator and as if nothing else were
 * sent from these mailboxes but what is coming, of which each email takes one of the cap: day by day of the schedule, each mailbox as early as its window, gap, cap of the UTC day and
 * share allow, until the campaign's limit of the day is reached. The share is the smallest of cap, daily limit and ramp. The
 * engine may lengthen gaps by up to a fifth where that costs no email of the day: days and emails per day are as
 * projected, the last email may leave a little later on its day. Both projections are null when there is no
 * recipient, no capacity, no sending day, an end date too soon, or more than two years of sending.
 *
 * Mailboxes that are in the same state count as one, and days that begin in the same state and have the same hours are played once: after the first weeks
 * a week is like the one before it, so two years cost little more than these weeks, however many mailboxes of unlike caps there are. These weeks may take
 * a second or two with ten thousand mailboxes whose warmup plans are all different, so others get the event loop between days.
 */
export async function estimateSending(input: EstimateInput): Promise<Estimate> {
  const { recipients, mailboxes, dailyLimit, schedule, now } = input;
  const plan = compileSchedule(schedule);
  const begin = Math.max(now.getTime(), plan.from);
  const deadline = new Date(begin);
  deadline.setUTCFullYear(deadline.getUTCFullYear() + 2);

  // Whoever cannot be done in two years is told so without going through their days.
  const shares = mailboxes.reduce((sum, { cap }) => sum + Math.min(cap, dailyLimit), 0);
  const reachable = MOST_DAYS * Math.min(dailyLimit, shares);
  // A ramp that has passed every cap changes nothing any more: its days are alike.
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

/** The mailboxes as a day opens, and the days that have begun so, by their hours and the ramp. */
interface Opening {
  readonly kinds: readonly Kind[];
  readonly days: Map<string, PlayedDay>;
}

interface PlayedDay {
  /** Emails that the campaign sends on it. */
  readonly capacity: number;
  /** How it leaves the mailboxes for the day after it. */
  readonly next: () => Opening;
}

/** Plays days, those that are alike once. */
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
    if (this.#openings.size >= MOST_OPENINGS) this.#openings.clear();
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

/** A campaign-local day with open time; its moments are ms from `midnight` (epoch ms), the UTC midnight before it opens. */
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

/** The most a mailbox gives the campaign on its sending day `index`, its own cap aside. */
function levelOn({ ramp, dailyLimit }: EstimateInput, index: number): number {
  return ramp ? rampLevel({ enabled: true, ...ramp, level: null, perMailboxCap: dailyLimit }, index) : dailyLimit;
}

/** What the first day that is open from its beginning on gives when no mailbox has sent anything. */
function wholeDay(input: EstimateInput, plan: CompiledSchedule, begin: number, deadline: number): number {
  const { clock } = plan.pattern;
  const fresh = input.mailboxes.map(({ cap, gapMs }) => ({ cap, gapMs, used: new Map(), taken: [], restsUntil: 0 }));
  const days = new PlayedDays(input.dailyLimit);
  const level = levelOn(input, Number.MAX_SAFE_INTEGER);
  for (const day of daysOf(plan, nextLocalDay(clock, begin), deadline))
    return days.play(days.open(kindsOf(fresh, day.midnight), day.pieces[0]!.from), day, level).capacity;
  return 0;
}
