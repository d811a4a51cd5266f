import type { Span } from './pattern.ts';
import { DAY } from './zone.ts';

/**
 * What mailboxes send on one sending day of a projection (estimate.ts), and how the day leaves them. All moments are ms from the UTC midnight before
 * the day opens, and UTC days are counted from there: so two days that look alike are the same to a mailbox, whatever their dates.
 */

/** A mailbox as a projection sees it; moments in epoch ms, UTC days since 1970. */
export interface ProjectedMailbox {
  /** Emails per UTC day, over all campaigns. */
  readonly cap: number;
  readonly gapMs: number;
  /** Emails counted so far, by UTC day (YYYY-MM-DD); slots given out for later included. */
  readonly used: ReadonlyMap<string, number>;
  /** Its latest email, and the slots it has given out. */
  readonly taken: readonly number[];
  /** It sends nothing before. */
  readonly restsUntil: number;
  /** Emails that others than campaigns will send from it, which have no slots yet. */
  readonly coming?: Coming | undefined;
}

/** Emails from a UTC day on: of that day and those after it; the last number is for all days from then on. */
export interface Coming {
  readonly firstDay: number;
  readonly emails: readonly number[];
}

/** An open stretch within one UTC day. */
export interface Piece extends Span {
  readonly day: number;
}

/** The open time of a campaign-local day. */
export interface OpenTime {
  readonly pieces: readonly Piece[];
  /** The first open moment of the day after it; Infinity when there is none. */
  readonly next: number;
}

/** Mailboxes that are in the same state, and so do the same. */
export interface Kind {
  readonly count: number;
  readonly cap: number;
  readonly gapMs: number;
  /** The first moment its own emails leave free. */
  readonly free: number;
  /** What it has sent for the campaign on its latest UTC day. */
  readonly own: { readonly day: number; readonly emails: number };
  /** What it had counted before, by UTC day. */
  readonly used: ReadonlyMap<number, number>;
  readonly coming: Coming | undefined;
  /** Times too near to emails it had given out before; sorted and disjoint. */
  readonly blocked: readonly Span[];
}

/** The mailboxes as they are before anything of the projection was sent; `midnight` (epoch ms) is the one that moments are counted from. */
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
    // An email exactly a gap before or after is allowed.
    const span = { from: at - gapMs + 1, to: at + gapMs };
    if (last && span.from <= last.to) last.to = span.to;
    else blocked.push(span);
  }
  return blocked;
}

/**
 * The mailboxes as a day opens at `opensAt`; moments are counted from the UTC midnight before it from then on. What no longer matters is forgotten, so that
 * mailboxes become alike again. Two openings with the same `key` are the same.
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
    coming: coming && comingFrom(coming, days),
    blocked:
      blocked.length === 0
        ? blocked
        : blocked.flatMap((span) => (span.to - shift > from ? [{ from: span.from - shift, to: span.to - shift }] : [])),
  };
}

/** The same, counted from `days` later; days that have passed are forgotten. */
function comingFrom({ firstDay, emails }: Coming, days: number): Coming {
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

/** Emails that mailboxes send a gap apart, the first of them at `from`. */
interface Row {
  readonly count: number;
  readonly gapMs: number;
  readonly from: number;
  readonly emails: number;
}

/** What one mailbox of a kind sends on a day, up to a moment of it or to its end, and its state then. */
interface Alone {
  readonly emails: number;
  readonly free: number;
  readonly own: Kind['own'];
  /** When the latest of them leaves; -Infinity without one. */
  readonly last: number;
}

/**
 * What a mailbox sends up to and including the moment `until`, each email as early as its gap, its cap of the UTC day and `level`, the most that it gives the
 * campaign on the day, allow.
 * @param rows where its emails are added, when somebody asks for each of them
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

/** What others have counted, or will send, on a UTC day. */
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

/** Emails of all mailboxes on a day, of which the campaign takes `most` at the most. */
export function capacityOf(kinds: readonly Kind[], { pieces }: OpenTime, level: number, most: number): number {
  return Math.min(
    most,
    kinds.reduce((sum, kind) => sum + kind.count * sendAlone(kind, pieces, level).emails, 0),
  );
}

/** The moment at which email number `n` of the day leaves. */
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

/** The mailboxes after a day of which the campaign took what its limit allows. */
export function afterDay(kinds: readonly Kind[], time: OpenTime, level: number, dailyLimit: number): Kind[] {
  const { pieces, next } = time;
  if (capacityOf(kinds, time, level, Infinity) <= dailyLimit)
    return kinds.map((kind) => {
      const { free, own } = sendAlone(kind, pieces, level);
      return { ...kind, free, own };
    });
  const closes = pieces.at(-1)!.to;
  // Who sent what matters only where it leaves the next day less.
  const rested = kinds.every(({ gapMs }) => closes + gapMs <= next);
  if (rested && Math.floor((closes - 1) / DAY) < Math.floor(next / DAY)) return [...kinds];

  const at = momentOf(kinds, time, level, dailyLimit);
  const lots = kinds.map((kind): Lot => {
    const { emails, last, free, own } = sendAlone(kind, pieces, level, at - 1);
    return { kind: { ...kind, free, own }, emails, last, most: sendAlone(kind, pieces, level, at).emails };
  });
  const given = lots.reduce((sum, { kind, emails }) => sum + kind.count * emails, 0);
  return shareOut(lots, dailyLimit - given, at);
}

/** Mailboxes shortly before the day's limit is reached: what each has sent, and what it might have sent a moment later. */
interface Lot {
  readonly kind: Kind;
  readonly emails: number;
  readonly most: number;
  readonly last: number;
}

/**
 * Gives out the last emails of a day, all due at one moment, one at a time to the mailbox that has sent least; among those that have sent as much, to the one whose
 * last email is the longest ago.
 */
function shareOut(lots: readonly Lot[], emails: number, at: number): Kind[] {
  const day = Math.floor(at / DAY);
  const given = [...lots];
  const split: Kind[] = [];
  // Who may send one more, by what they have sent on the UTC day.
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
