import type { Span } from './pattern.ts';
import { DAY } from './zone.ts';

/**
 * This file simulates the emails of mailboxes on one sending day of a projection (`estimate.ts`), and the mailboxes'
 * state afterwards. Times are ms from the UTC midnight before the day opens, and UTC days are counted from that
 * midnight. Therefore two days with the same sending hours have equal values.
 */

/** A mailbox as input of a projection. Times are in epoch ms, and UTC days are counted from 1970-01-01. */
export interface ProjectedMailbox {
  /** Maximum number of emails per UTC day, over all campaigns. */
  readonly cap: number;
  readonly gapMs: number;
  /** Number of emails per UTC day (YYYY-MM-DD), including reserved slots. */
  readonly used: ReadonlyMap<string, number>;
  /** Times of the mailbox's latest email and of its reserved slots. */
  readonly taken: readonly number[];
  /** Time before which the mailbox may not send. */
  readonly restsUntil: number;
  /** Future emails of the mailbox that belong to no campaign and have no slots yet, such as warmup. */
  readonly coming?: UpcomingEmails | undefined;
}

/** Number of emails per UTC day, from `firstDay` on. The last number applies to all later days. */
export interface UpcomingEmails {
  readonly firstDay: number;
  readonly emails: readonly number[];
}

/** An open interval within one UTC day. */
export interface Piece extends Span {
  readonly day: number;
}

/** Open time of a campaign-local day. */
export interface OpenTime {
  readonly pieces: readonly Piece[];
  /** Start of the first sending window of the following day; Infinity when there is none. */
  readonly next: number;
}

/** A group of mailboxes in the same state. All of them send the same emails. */
export interface Kind {
  readonly count: number;
  readonly cap: number;
  readonly gapMs: number;
  /** Earliest time at which the minimum gap to the emails of this projection allows another email. */
  readonly free: number;
  /** Number of emails sent for the campaign on the latest UTC day with emails. */
  readonly own: { readonly day: number; readonly emails: number };
  /** Number of emails that were sent or reserved before the projection, by UTC day. */
  readonly used: ReadonlyMap<number, number>;
  readonly coming: UpcomingEmails | undefined;
  /** Intervals in which an email would be too close to a slot reserved before the projection. Sorted and disjoint. */
  readonly blocked: readonly Span[];
}

/**
 * Returns the groups of mailboxes at the start of the projection. All times in the result are ms from `midnight` (epoch
 * ms).
 */
export function kindsOf(mailboxes: readonly ProjectedMailbox[], midnight: number): Kind[] {
  const since = midnight / DAY;
  return mailboxes.map(({ cap, gapMs, used, taken, restsUntil, coming }) => ({
    count: 1,
    cap,
    gapMs,
    free: restsUntil - midnight,
    own: { day: 0, emails: 0 },
    used: new Map([...used].map(([day, emails]) => [Date.parse(`${day}T00:00:00Z`) / DAY - since, emails])),
    coming: coming && { ...coming, firstDay: coming.firstDay - since },
    blocked: blockedBy(
      taken.map((at) => at - midnight),
      gapMs,
    ),
  }));
}

function blockedBy(taken: readonly number[], gapMs: number): Span[] {
  const blocked: { from: number; to: number }[] = [];
  if (gapMs === 0) return blocked;
  for (const at of taken.toSorted((a, b) => a - b)) {
    const last = blocked.at(-1);
    // An email is allowed exactly one gap before or after the slot.
    const span = { from: at - gapMs + 1, to: at + gapMs };
    if (last && span.from <= last.to) last.to = span.to;
    else blocked.push(span);
  }
  return blocked;
}

/**
 * Returns the groups of mailboxes at the start of a sending day, with times relative to the UTC midnight before that
 * start. Drops state that has no effect any more, so that groups can be merged. Two day starts with the same `key` are
 * equal.
 */
export function openDay(kinds: readonly Kind[], opensAt: number): { key: string; kinds: Kind[] } {
  const days = Math.floor(opensAt / DAY);
  const from = opensAt - days * DAY;
  const alike = new Map<string, Kind>();
  for (const kind of kinds) {
    const later = laterBy(kind, days, from);
    const key = keyOf(later);
    const same = alike.get(key);
    alike.set(key, same ? { ...same, count: same.count + later.count } : later);
  }
  return { key: [...alike].map(([key, { count }]) => `${count}*${key}`).join('|'), kinds: [...alike.values()] };
}

function laterBy(kind: Kind, days: number, from: number): Kind {
  const { free, own, used, coming, blocked, count, cap, gapMs } = kind;
  const shift = days * DAY;
  return {
    count,
    cap,
    gapMs,
    free: Math.max(free - shift, from),
    own: own.day === days ? { day: 0, emails: own.emails } : { day: 0, emails: 0 },
    used:
      used.size === 0
        ? used
        : new Map([...used].flatMap(([day, emails]) => (day >= days ? [[day - days, emails] as const] : []))),
    coming: coming && upcomingFrom(coming, days),
    blocked:
      blocked.length === 0
        ? blocked
        : blocked.flatMap((span) => (span.to - shift > from ? [{ from: span.from - shift, to: span.to - shift }] : [])),
  };
}

/** Returns the same emails, with UTC days counted from `days` days later. Drops days that have passed. */
function upcomingFrom({ firstDay, emails }: UpcomingEmails, days: number): UpcomingEmails {
  const passed = Math.min(Math.max(0, days - firstDay), emails.length - 1);
  return { firstDay: Math.max(0, firstDay - days), emails: passed === 0 ? emails : emails.slice(passed) };
}

function keyOf({ cap, gapMs, free, own, used, coming, blocked }: Kind): string {
  const passing =
    used.size > 0 || blocked.length > 0
      ? `,${[...used].join(';')},${blocked.map(({ from, to }) => `${from}-${to}`).join()}`
      : '';
  const later = coming ? `;${coming.firstDay};${coming.emails.join(';')}` : '';
  return `${cap},${gapMs},${free},${own.emails}${passing}${later && `/${later}`}`;
}

/** A series of emails at intervals of `gapMs`, the first at `from`. */
interface Row {
  readonly count: number;
  readonly gapMs: number;
  readonly from: number;
  readonly emails: number;
}

/** Number of emails that one mailbox of a group sends up to a time of the day, and its state at that time. */
interface Alone {
  readonly emails: number;
  readonly free: number;
  readonly own: Kind['own'];
  /** Time of the latest email; -Infinity without one. */
  readonly last: number;
}

/**
 * Returns the number of emails that a mailbox sends up to and including `until`. Each is sent as early as the gap, the
 * cap of the UTC day and `level`, the campaign's maximum per mailbox and day, allow.
 * @param rows collects the emails, if given
 */
function sendAlone(kind: Kind, pieces: readonly Piece[], level: number, until = Infinity, rows?: Row[]): Alone {
  const { count, cap, gapMs, blocked } = kind;
  const share = Math.min(cap, level);
  let { free, own } = kind;
  let emails = 0;
  let last = -Infinity;
  for (const piece of pieces) {
    if (piece.from > until || emails >= share) break;
    if (own.day !== piece.day) own = { day: piece.day, emails: 0 };
    const counted = usedOn(kind, piece.day);
    for (const span of blocked.length === 0 ? [piece] : clearOf(blocked, piece)) {
      const from = Math.max(span.from, free);
      const end = Math.min(span.to, until + 1);
      const room = Math.min(share - emails, cap - own.emails - counted);
      if (from >= end || room <= 0) continue;
      const sent = gapMs === 0 ? room : Math.min(room, Math.floor((end - 1 - from) / gapMs) + 1);
      rows?.push({ count, gapMs, from, emails: sent });
      emails += sent;
      own = { day: piece.day, emails: own.emails + sent };
      last = from + (sent - 1) * gapMs;
      free = last + gapMs;
    }
  }
  return { emails, free, own, last };
}

/** Returns the number of emails on a UTC day that do not belong to the projection: sent, reserved and expected ones. */
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

/** Returns the number of emails that all mailboxes send for the campaign on a day, at most `most`. */
export function capacityOf(kinds: readonly Kind[], { pieces }: OpenTime, level: number, most: number): number {
  return Math.min(
    most,
    kinds.reduce((sum, kind) => sum + kind.count * sendAlone(kind, pieces, level).emails, 0),
  );
}

/** Returns the time at which the `n`th email of the day is sent. */
export function momentOf(kinds: readonly Kind[], { pieces }: OpenTime, level: number, n: number): number {
  const rows: Row[] = [];
  for (const kind of kinds) sendAlone(kind, pieces, level, Infinity, rows);
  const sentUntil = (moment: number): number => {
    let sum = 0;
    for (const { from, emails, count, gapMs } of rows)
      if (from <= moment)
        sum += count * (gapMs === 0 ? emails : Math.min(emails, Math.floor((moment - from) / gapMs) + 1));
    return sum;
  };
  let low = pieces[0]!.from;
  let high = pieces.at(-1)!.to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (sentUntil(middle) >= n) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the state of the mailboxes after a day on which the campaign sent as many emails as its limit allows. */
export function afterDay(kinds: readonly Kind[], time: OpenTime, level: number, dailyLimit: number): Kind[] {
  const { pieces, next } = time;
  if (capacityOf(kinds, time, level, Infinity) <= dailyLimit)
    return kinds.map((kind) => {
      const { free, own } = sendAlone(kind, pieces, level);
      return { ...kind, free, own };
    });
  const closes = pieces.at(-1)!.to;
  // If all gaps and limits end before the next day, all mailboxes are then equal again, however the emails were
  // distributed.
  const rested = kinds.every(({ gapMs }) => closes + gapMs <= next);
  if (rested && Math.floor((closes - 1) / DAY) < Math.floor(next / DAY)) return [...kinds];

  const at = momentOf(kinds, time, level, dailyLimit);
  const lots = kinds.map((kind): Lot => {
    const { emails, last, free, own } = sendAlone(kind, pieces, level, at - 1);
    return { kind: { ...kind, free, own }, emails, last, most: sendAlone(kind, pieces, level, at).emails };
  });
  const given = lots.reduce((sum, { kind, emails }) => sum + kind.count * emails, 0);
  return distributeLast(lots, dailyLimit - given, at);
}

/**
 * A group of mailboxes just before the daily limit is reached: the emails sent so far, and the number that could be
 * sent a millisecond later.
 */
interface Lot {
  readonly kind: Kind;
  readonly emails: number;
  readonly most: number;
  readonly last: number;
}

/**
 * Distributes the last emails of a day, which are all due at the same time, among the mailboxes. Each email goes to the
 * mailbox with the fewest emails. If several have equally few, it goes to the one whose last email is the oldest.
 */
function distributeLast(lots: readonly Lot[], emails: number, at: number): Kind[] {
  const day = Math.floor(at / DAY);
  const given = [...lots];
  const split: Kind[] = [];
  // Groups that may send one more email, by their number of emails on the UTC day.
  const turns = new Map<number, number[]>();
  const waits = (index: number, load: number): void => {
    const { emails: sent, most } = given[index]!;
    if (sent >= most) return;
    const turn = turns.get(load);
    if (turn) turn.push(index);
    else turns.set(load, [index]);
  };
  for (const [index, { kind }] of lots.entries())
    waits(index, (kind.own.day === day ? kind.own.emails : 0) + usedOn(kind, day));

  let left = emails;
  for (let load = Math.min(...turns.keys()); left > 0 && turns.size > 0; load += 1) {
    const turn = turns.get(load) ?? [];
    turns.delete(load);
    for (const index of turn.sort((a, b) => given[a]!.last - given[b]!.last || a - b)) {
      if (left === 0) break;
      const lot = given[index]!;
      const { kind } = lot;
      const count = Math.min(left, kind.count);
      left -= count;
      if (count < kind.count) split.push({ ...kind, count: kind.count - count });
      const own = { day, emails: kind.own.day === day ? kind.own.emails + 1 : 1 };
      const sent = { ...kind, count, own, free: at + kind.gapMs };
      given[index] = { kind: sent, emails: lot.emails + 1, most: lot.most, last: at };
      waits(index, load + 1);
    }
  }
  return [...given.map(({ kind }) => kind), ...split];
}
