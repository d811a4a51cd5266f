import test from 'ava';
import fc from 'fast-check';
import { estimateSending, type Estimate, type EstimateInput } from './estimate.ts';
import type { Span } from './pattern.ts';
import type { UpcomingEmails, ProjectedMailbox } from './projected-day.ts';
import { rampLevel } from './ramp.ts';
import { compileSchedule, nextSpan, spansBetween, type CompiledSchedule } from './windows.ts';
import { DAY, MINUTE, localDay, nextLocalDay } from './zone.ts';

/**
 * Reference implementation without the grouping of equal days: simulates every day of two years in calendar times.
 * `estimateSending` must return the same finish, remaining emails of today and number of days.
 */
function playEveryDay(input: EstimateInput): Omit<Estimate, 'daily_capacity'> {
  const { recipients, mailboxes, dailyLimit, schedule, now } = input;
  const plan = compileSchedule(schedule);
  const begin = Math.max(now.getTime(), plan.from);
  const deadline = new Date(begin);
  deadline.setUTCFullYear(deadline.getUTCFullYear() + 2);
  const today = localDay(plan.pattern.clock, now.getTime());
  let kinds = kindsOf(mailboxes);
  let remaining = 0;
  let left = recipients;
  let days = 0;
  let index = 0;
  let finish: Date | null = null;
  for (const day of sendingDays(plan, begin, deadline.getTime())) {
    const level = levelOn(input, index);
    index += 1;
    kinds = startDay(kinds, day.pieces[0]!);
    const capacity = emailsUpTo(dailyLimit, kinds, day.pieces, level);
    if (day.day === today) remaining = capacity;
    if (left <= 0) break;
    if (capacity > 0) days += 1;
    if (left <= capacity) {
      const at = momentOf(kinds, day.pieces, level, left);
      if (at <= deadline.getTime()) finish = new Date(at);
      break;
    }
    left -= capacity;
    kinds = afterDay(kinds, day, level, dailyLimit);
  }
  return {
    recipients,
    mailboxes: mailboxes.length,
    remaining_today: remaining,
    sending_days: finish && days,
    estimated_finish_at: finish,
  };
}

/** A group of mailboxes in the same state, which therefore behave alike. */
interface Kind {
  readonly count: number;
  readonly cap: number;
  readonly gapMs: number;
  /** Earliest time at which the gaps to the projection's own emails allow another email. */
  readonly free: number;
  /** Emails sent for the campaign on the latest UTC day. */
  readonly own: { readonly day: number; readonly emails: number };
  /** Emails counted before the projection, by UTC day. */
  readonly used: ReadonlyMap<number, number>;
  readonly coming: UpcomingEmails | undefined;
  /** Times too close to earlier reserved slots. Sorted and disjoint. */
  readonly blocked: readonly Span[];
}

/** An open interval within one UTC day. `day` counts from 1970. */
interface Piece extends Span {
  readonly day: number;
}

/** A campaign-local day with open time. */
interface SendingDay {
  readonly day: number;
  readonly pieces: readonly Piece[];
  /** First open time after the day; Infinity when there is none. */
  readonly next: number;
}

function* sendingDays(plan: CompiledSchedule, begin: number, deadline: number): Generator<SendingDay> {
  const { clock } = plan.pattern;
  for (let span = nextSpan(plan, begin), cursor = begin; span !== null && span.from <= deadline;) {
    const opens = Math.max(span.from, cursor);
    const midnight = nextLocalDay(clock, opens);
    const pieces = [...spansBetween(plan, opens, midnight)].flatMap(splitByUtcDay);
    span = nextSpan(plan, midnight);
    yield { day: localDay(clock, opens), pieces, next: span ? Math.max(span.from, midnight) : Infinity };
    cursor = midnight;
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

/**
 * Returns the maximum number of emails that a mailbox sends for the campaign on sending day `index`, ignoring its cap.
 */
function levelOn({ ramp, dailyLimit }: EstimateInput, index: number): number {
  return ramp ? rampLevel({ enabled: true, ...ramp, level: null, perMailboxCap: dailyLimit }, index) : dailyLimit;
}

function kindsOf(mailboxes: readonly ProjectedMailbox[]): Kind[] {
  return merge(
    mailboxes.map(({ cap, gapMs, used, taken, restsUntil, coming }) => ({
      count: 1,
      cap,
      gapMs,
      free: restsUntil,
      own: { day: 0, emails: 0 },
      used: new Map([...used].map(([day, emails]) => [Date.parse(`${day}T00:00:00Z`) / DAY, emails])),
      coming,
      blocked: blockedBy(taken, gapMs),
    })),
  );
}

function blockedBy(taken: readonly number[], gapMs: number): Span[] {
  const blocked: { from: number; to: number }[] = [];
  if (gapMs === 0) return blocked;
  for (const at of taken.toSorted((a, b) => a - b)) {
    const last = blocked.at(-1);
    // An email exactly one gap before or after is allowed.
    const span = { from: at - gapMs + 1, to: at + gapMs };
    if (last && span.from <= last.to) last.to = span.to;
    else blocked.push(span);
  }
  return blocked;
}

/**
 * Removes state that has no effect any more at the start of a sending day, so that equal mailboxes can be grouped
 * again.
 */
function startDay(kinds: readonly Kind[], { from, day }: Piece): Kind[] {
  return merge(
    kinds.map((kind) => ({
      ...kind,
      free: Math.max(kind.free, from),
      own: kind.own.day === day ? kind.own : { day, emails: 0 },
      used: kind.used.size === 0 ? kind.used : new Map([...kind.used].filter(([counted]) => counted >= day)),
      coming: kind.coming && comingFrom(kind.coming, day),
      blocked: kind.blocked.length === 0 ? kind.blocked : kind.blocked.filter(({ to }) => to > from),
    })),
  );
}

function comingFrom({ firstDay, emails }: UpcomingEmails, day: number): UpcomingEmails {
  return {
    firstDay: Math.max(day, firstDay),
    emails: emails.slice(Math.min(Math.max(0, day - firstDay), emails.length - 1)),
  };
}

function merge(kinds: readonly Kind[]): Kind[] {
  const merged = new Map<string, Kind>();
  for (const kind of kinds) {
    const { count, cap, gapMs, free, own, used, coming, blocked } = kind;
    const passing =
      used.size > 0 || blocked.length > 0
        ? `,${[...used].join(';')},${blocked.map(({ from, to }) => `${from}-${to}`).join()}`
        : '';
    const later = coming ? `,${coming.firstDay};${coming.emails.join(';')}` : '';
    const key = `${cap},${gapMs},${free},${own.day},${own.emails}${passing}|${later}`;
    merged.set(key, { ...kind, count: count + (merged.get(key)?.count ?? 0) });
  }
  return [...merged.values()];
}

/**
 * Returns the number of emails that a mailbox sends on a day up to and including a time, each as early as possible.
 * Also returns its state at that time.
 */
function sendAlone(
  kind: Kind,
  pieces: readonly Piece[],
  level: number,
  until = Infinity,
): Pick<Kind, 'free' | 'own'> & { emails: number; last: number } {
  const { cap, gapMs } = kind;
  const share = Math.min(cap, level);
  let { free, own } = kind;
  let emails = 0;
  let last = -Infinity;
  for (const piece of pieces) {
    if (piece.from > until || emails >= share) break;
    if (own.day !== piece.day) own = { day: piece.day, emails: 0 };
    for (const span of clearOf(kind.blocked, piece)) {
      const from = Math.max(span.from, free);
      const end = Math.min(span.to, until + 1);
      const room = Math.min(share - emails, cap - own.emails - usedOn(kind, piece.day));
      if (from >= end || room <= 0) continue;
      const sent = gapMs === 0 ? room : Math.min(room, Math.floor((end - 1 - from) / gapMs) + 1);
      emails += sent;
      own = { day: piece.day, emails: own.emails + sent };
      last = from + (sent - 1) * gapMs;
      free = last + gapMs;
    }
  }
  return { emails, free, own, last };
}

/**
 * Returns the number of emails on a UTC day that are not part of the projection: emails sent or reserved before, and
 * later emails of other senders.
 */
function usedOn({ used, coming }: Pick<Kind, 'used' | 'coming'>, day: number): number {
  const later = coming && day >= coming.firstDay ? (coming.emails[day - coming.firstDay] ?? coming.emails.at(-1)!) : 0;
  return (used.get(day) ?? 0) + later;
}

function* clearOf(blocked: readonly Span[], { from, to }: Span): Generator<Span> {
  let at = from;
  for (const span of blocked) {
    if (span.to <= at) continue;
    if (span.from >= to) break;
    if (span.from > at) yield { from: at, to: span.from };
    at = span.to;
  }
  if (at < to) yield { from: at, to };
}

/**
 * Returns the number of emails of all mailboxes up to and including a time of the day, ignoring the campaign's limit.
 */
function emailsUntil(kinds: readonly Kind[], pieces: readonly Piece[], level: number, until?: number): number {
  return kinds.reduce((sum, kind) => sum + kind.count * sendAlone(kind, pieces, level, until).emails, 0);
}

/**
 * Returns the number of emails of all mailboxes on the day, at most `most`. Stops as soon as that number is reached.
 */
function emailsUpTo(most: number, kinds: readonly Kind[], pieces: readonly Piece[], level: number): number {
  let sum = 0;
  for (const kind of kinds) {
    if (sum >= most) return most;
    sum += kind.count * sendAlone(kind, pieces, level).emails;
  }
  return Math.min(most, sum);
}

/** Returns the time (epoch ms) at which email number `n` of the day is sent. */
function momentOf(kinds: readonly Kind[], pieces: readonly Piece[], level: number, n: number): number {
  let low = pieces[0]!.from;
  let high = pieces.at(-1)!.to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (emailsUntil(kinds, pieces, level, middle) >= n) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the mailboxes after a day on which the campaign sent up to its limit. */
function afterDay(kinds: readonly Kind[], { pieces, next }: SendingDay, level: number, dailyLimit: number): Kind[] {
  const closes = pieces.at(-1)!.to;
  if (emailsUpTo(dailyLimit + 1, kinds, pieces, level) <= dailyLimit)
    return kinds.map((kind) => ({ ...kind, ...sendAlone(kind, pieces, level) }));
  // The distribution of emails matters only if it reduces the next day's capacity.
  const rested = kinds.every(({ gapMs }) => closes + gapMs <= next);
  if (rested && Math.floor((closes - 1) / DAY) < Math.floor(next / DAY))
    return kinds.map((kind) => ({ ...kind, own: { day: 0, emails: 0 } }));

  const at = momentOf(kinds, pieces, level, dailyLimit);
  const lots = kinds.map((kind): Lot => ({
    ...kind,
    ...sendAlone(kind, pieces, level, at - 1),
    most: sendAlone(kind, pieces, level, at).emails,
  }));
  return shareOut(lots, dailyLimit - lots.reduce((sum, { count, emails }) => sum + count * emails, 0), at);
}

/**
 * A group of mailboxes just before the daily limit is reached: emails sent so far, and the number possible a
 * millisecond later.
 */
interface Lot extends Kind {
  readonly emails: number;
  readonly most: number;
  readonly last: number;
}

/**
 * Distributes the last emails of a day, which are all due at the same time. Each email goes to the mailbox with the
 * fewest emails.
 */
function shareOut(given: readonly Lot[], emails: number, at: number): Lot[] {
  const lots = [...given];
  const day = Math.floor(at / DAY);
  const load = (lot: Lot): number => (lot.own.day === day ? lot.own.emails : 0) + usedOn(lot, day);
  for (let left = emails; left > 0;) {
    const [lot] = lots.filter((one) => one.emails < one.most).sort((a, b) => load(a) - load(b) || a.last - b.last);
    if (!lot) break;
    const count = Math.min(left, lot.count);
    left -= count;
    const own = { day, emails: lot.own.day === day ? lot.own.emails + 1 : 1 };
    lots.splice(lots.indexOf(lot), 1, {
      ...lot,
      count,
      own,
      emails: lot.emails + 1,
      last: at,
      free: at + lot.gapMs,
    });
    if (count < lot.count) lots.push({ ...lot, count: lot.count - count });
  }
  return lots;
}

const boxes = fc.array(
  fc.record({
    cap: fc.nat(12),
    gapMinutes: fc.constantFrom(0, 1, 7, 45, 90, 300),
    used: fc.array(fc.record({ inDays: fc.integer({ min: -1, max: 3 }), emails: fc.nat(9) }), { maxLength: 2 }),
    taken: fc.array(fc.integer({ min: -200, max: 3000 }), { maxLength: 2 }),
    rests: fc.constantFrom(0, 0, 600, 5000),
    coming: fc.option(fc.record({ inDays: fc.nat(3), emails: fc.array(fc.nat(6), { minLength: 1, maxLength: 12 }) }), {
      nil: undefined,
    }),
    alike: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
);

const asked = fc
  .record({
    boxes,
    minute: fc.integer({ min: Date.UTC(2025, 0) / MINUTE, max: Date.UTC(2026, 0) / MINUTE }),
    // Number of recipients, as a percentage of the emails possible in 500 days.
    part: fc.integer({ min: 1, max: 100 }),
    dailyLimit: fc.integer({ min: 1, max: 60 }),
    ramp: fc.option(fc.record({ start: fc.integer({ min: 1, max: 3 }), increment: fc.nat(2), ceiling: fc.nat(9) })),
    schedule: fc.record({
      timezone: fc.constantFrom('UTC', 'Europe/Budapest', 'America/Los_Angeles', 'Australia/Sydney', 'Asia/Kolkata'),
      days: fc.constantFrom(null, 127, 127, 0b1010101),
      startTime: fc.constantFrom(null, null, '09:00', '22:00'),
      endTime: fc.constantFrom(null, null, '02:00', '17:00'),
      windows: fc.constant(null),
      startDate: fc.constant(null),
      endDate: fc.constant(null),
    }),
  })
  .map(({ boxes: drawn, minute, part, ...fields }): EstimateInput => {
    const now = minute * MINUTE;
    const today = Math.floor(now / DAY);
    const dayOf = (inDays: number): string => new Date((today + inDays) * DAY).toISOString().slice(0, 10);
    const mailboxes = drawn.flatMap(({ cap, gapMinutes, used, taken, rests, coming, alike }) =>
      Array.from({ length: alike }, () => ({
        cap,
        gapMs: gapMinutes * MINUTE,
        used: new Map(used.map(({ inDays, emails }) => [dayOf(inDays), emails])),
        taken: taken.map((ahead) => now + ahead * MINUTE),
        restsUntil: rests === 0 ? 0 : now + rests * MINUTE,
        coming: coming && { firstDay: today + coming.inDays, emails: coming.emails },
      })),
    );
    const perDay = Math.min(
      mailboxes.reduce((sum, { cap }) => sum + cap, 0),
      fields.dailyLimit,
    );
    return { ...fields, mailboxes, now: new Date(now), recipients: 5 * part * perDay };
  });

test('property: days that are alike may be played once: the projection is that of every day by itself', async (t) => {
  await fc.assert(
    fc.asyncProperty(asked, async (input) => {
      const { daily_capacity: _, ...estimate } = await estimateSending(input);
      t.deepEqual(estimate, playEveryDay(input));
    }),
    { numRuns: 60 },
  );
});
