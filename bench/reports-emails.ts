import { DAY_MS } from '../lib/clock.ts';
import type { Cell } from './fill.ts';

/**
 * The emails of a reporting benchmark. Each is derived from its number, so that every table can be written separately.
 * A few campaigns have most of the emails. The volume grows over time, with two seasons a year. Contacts receive emails
 * in rotation.
 */

/** Numbers of rows of a reporting benchmark. */
export interface Shape {
  contacts: number;
  sends: number;
  engagements: number;
  campaigns: number;
}

/** Workspace that owns the rows. */
export interface Office {
  organizationId: string;
  campaignIds: string[];
  stepIds: string[];
  mailboxIds: string[];
  goals: Record<'signup' | 'activation' | 'paid', string>;
  now: Date;
}

export interface Email {
  n: number;
  contact: number;
  campaign: number;
  step: number;
  mailbox: number;
  at: number;
  opened: boolean;
  clicked: boolean;
  replied: boolean;
  positive: boolean;
  bounced: boolean;
}

/** Age (days) of the oldest email. */
export const DAYS = 730;
const SPACES = {
  contact: 1,
  send: 2,
  variant: 3,
  segment: 4,
  label: 5,
  person: 6,
  event: 7,
  engagement: 8,
  visitor: 9,
} as const;

/**
 * Returns an id that sorts like its number, so that keys are written in order. Its timestamp is far in the future,
 * because retention uses it and would otherwise delete rows during the measurement.
 */
export function idOf(space: keyof typeof SPACES, n: number): string {
  return `f000000${SPACES[space]}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** Returns a pseudo-random number from 0 to 1 for `n`. The same arguments give the same number. */
export function drawn(n: number, salt: number): number {
  let x = Math.imul(n ^ (salt * 0x9e3779b1), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  x ^= x >>> 16;
  return (x >>> 0) / 2 ** 32;
}

/** Returns the email with a number below `shape.sends`, counted from the oldest. */
export function emailOf(n: number, shape: Shape, office: Office): Email {
  const u = (n + drawn(n, 1)) / shape.sends;
  const r = drawn(n, 2);
  const contact = n % shape.contacts;
  return {
    n,
    contact,
    // The k-th campaign of the list gets k times fewer emails than the first.
    campaign: Math.floor(Math.exp(drawn(n, 3) * Math.log(shape.campaigns))) - 1,
    step: Math.floor(n / shape.contacts) % 3,
    mailbox: contact % office.mailboxIds.length,
    at: Math.floor(office.now.getTime() - DAYS * DAY_MS * (1 - Math.sqrt(u) - 0.015 * Math.sin(8 * Math.PI * u))),
    opened: r < 0.4,
    clicked: r < 0.08,
    replied: r < 0.04,
    positive: r < 0.01,
    bounced: r > 0.99,
  };
}

/** Yields all emails, oldest first. */
export function* emails(shape: Shape, office: Office): Generator<Email> {
  for (let n = 0; n < shape.sends; n += 1) yield emailOf(n, shape, office);
}

/** Formats a time for PostgreSQL, in milliseconds. Days are cached, because Date is a hundred times slower. */
export function iso(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  let name = DAY_NAMES.get(day);
  if (name === undefined) DAY_NAMES.set(day, (name = new Date(day * DAY_MS).toISOString().slice(0, 11)));
  const rest = ms - day * DAY_MS;
  const second = Math.floor(rest / 1000);
  const fraction = String(rest % 1000).padStart(3, '0');
  return `${name}${TWO[Math.floor(second / 3600)]}:${TWO[Math.floor(second / 60) % 60]}:${TWO[second % 60]}.${fraction}Z`;
}
const DAY_NAMES = new Map<number, string>();
const TWO = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
/** Returns one of the values, in rotation. */
export const pick = <T>(of: readonly T[], n: number): T => of[n % of.length]!;

/** Table name, columns and rows. */
export type Table = { table: string; columns: readonly string[]; rows: Iterable<readonly Cell[]> };

/** Yields the emails of each contact that has any. */
export function* byContact(shape: Shape, office: Office): Generator<Email[]> {
  for (let contact = 0; contact < Math.min(shape.contacts, shape.sends); contact += 1) {
    const mine: Email[] = [];
    for (let n = contact; n < shape.sends; n += shape.contacts) mine.push(emailOf(n, shape, office));
    yield mine;
  }
}

/** Yields the result of `map` for each row. */
export function* mapped<In, Out>(rows: Iterable<In>, map: (row: In) => Out): Generator<Out> {
  for (const row of rows) yield map(row);
}
