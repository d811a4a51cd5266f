import { GROUP_PLACES } from '../domain/reporting/aggregates/groups.ts';
import { DAY_MS } from '../lib/clock.ts';
import type { Cell } from './fill.ts';
import {
  byContact,
  idOf,
  iso,
  mapped,
  pick,
  type Email,
  type Office,
  type Shape,
  type Table,
} from './reports-emails.ts';

/**
 * Rows of the groups to which the emails belong. `heron facts rebuild` would create the same rows, but it queries the
 * database for each email, which takes too long.
 */

type Dimension = keyof typeof GROUP_PLACES | 'category';

const DIMENSIONS = [...Object.keys(GROUP_PLACES), 'category'] as Dimension[];
/** Factor that is larger than the number of days, so that two days and a group fit in one number. */
const SPAN = 1024;

/** Functions that return the number of an email's group in a dimension; different groups have different numbers. */
const NUMBERS: Record<Dimension, (email: Email) => number> = {
  all: () => 0,
  campaign: ({ campaign }) => campaign,
  step: ({ campaign, step }) => campaign * 3 + step,
  variant: ({ campaign, n }) => (n % 5 < 2 ? 1 + campaign * 2 + (n % 2) : 0),
  offer: ({ campaign }) => campaign % 4,
  angle: ({ step }) => step,
  cta: ({ campaign }) => campaign % 2,
  mailbox: ({ mailbox }) => mailbox,
  audience_source: ({ campaign }) => campaign % 4,
  segment: ({ campaign }) => (campaign % 4 === 1 ? 1 + (campaign % 12) : 0),
  copy: ({ campaign, step }) => campaign * 3 + step,
  category: ({ n }) => (n % 3 === 0 ? 1 + (n % 7) : 0),
};

/** Functions that return the value of a group by its number; null for emails without a group. */
const VALUES: Record<Dimension, (number: number, office: Office) => string | null> = {
  all: () => 'all',
  campaign: (number, { campaignIds }) => campaignIds[number]!,
  step: (number, { stepIds }) => stepIds[number]!,
  variant: (number) => (number === 0 ? null : idOf('variant', number - 1)),
  offer: (number) => pick(['Trial', 'Demo', 'Audit', null], number),
  angle: (number) => pick(['Pain', 'Gain', null], number),
  cta: (number) => pick(['Book', 'Reply'], number),
  mailbox: (number, { mailboxIds }) => mailboxIds[number]!,
  audience_source: (number) => pick(['import', 'segment', 'api', 'manual'], number),
  segment: (number) => (number === 0 ? null : idOf('segment', number - 1)),
  copy: (number) => `copy${number}`,
  category: (number) => (number === 0 ? null : idOf('label', number - 1)),
};

/** Returns the groups of an email by dimension. */
export function groupValues(email: Email, office: Office): Record<Dimension, string | null> {
  return Object.fromEntries(
    DIMENSIONS.map((dimension) => [dimension, VALUES[dimension](NUMBERS[dimension](email), office)]),
  ) as Record<Dimension, string | null>;
}

/**
 * Yields the tables of the groups: the groups of each email with the days of the contact's next emails, and their
 * counts.
 */
export function* groupTables(shape: Shape, office: Office): Generator<Table> {
  yield {
    table: 'send_groups',
    columns: ['send_id', 'organization_id', 'sent_at', 'next_days'],
    rows: mapped(grouped(shape, office), ({ email, nextDays }) => [
      idOf('send', email.n),
      office.organizationId,
      iso(email.at),
      `{${nextDays.map(dayText).join(',')}}`,
    ]),
  };
  yield {
    table: 'fact_groups',
    columns: ['organization_id', 'dimension', 'key', 'day', 'next_day', 'sends', 'is_folded'],
    rows: counts(shape, office),
  };
}

const dayOf = (email: Email): number => Math.floor(email.at / DAY_MS);
const dayText = (day: number): string => (day === Infinity ? 'infinity' : iso(day * DAY_MS).slice(0, 10));

interface Grouped {
  email: Email;
  /** Group numbers by dimension. */
  numbers: number[];
  /** UTC day of the contact's next email in the same group, by dimension. Infinity if there is no such email. */
  nextDays: number[];
}

function* grouped(shape: Shape, office: Office): Generator<Grouped> {
  for (const emails of byContact(shape, office)) {
    const mine = emails
      .sort((a, b) => a.at - b.at || a.n - b.n)
      .map((email) => ({ email, numbers: DIMENSIONS.map((dimension) => NUMBERS[dimension](email)) }));
    for (const [index, { email, numbers }] of mine.entries()) {
      const nextDays = numbers.map((number, place) => {
        for (let later = index + 1; later < mine.length; later += 1)
          if (mine[later]!.numbers[place] === number) return dayOf(mine[later]!.email);
        return Infinity;
      });
      yield { email, numbers, nextDays };
    }
  }
}

function* counts(shape: Shape, office: Office): Generator<Cell[]> {
  const sends = DIMENSIONS.map(() => new Map<number, number>());
  const lastDay = Math.floor(office.now.getTime() / DAY_MS) + 1;
  for (const { email, numbers, nextDays } of grouped(shape, office)) {
    const day = lastDay - dayOf(email);
    for (const [place, number] of numbers.entries()) {
      const nextDay = nextDays[place] === Infinity ? 0 : lastDay - nextDays[place]!;
      const group = (number * SPAN + day) * SPAN + nextDay;
      sends[place]!.set(group, (sends[place]!.get(group) ?? 0) + 1);
    }
  }
  for (const [place, dimension] of DIMENSIONS.entries())
    for (const [group, count] of sends[place]!) {
      const [nextDay, rest] = [group % SPAN, Math.floor(group / SPAN)];
      yield [
        office.organizationId,
        dimension,
        VALUES[dimension](Math.floor(rest / SPAN), office),
        dayText(lastDay - (rest % SPAN)),
        dayText(nextDay === 0 ? Infinity : lastDay - nextDay),
        count,
        't',
      ];
    }
}
