import type { OrderedDomain, OrderedMailbox, OrderLine, PersonName } from '../../../db/json-columns.ts';
import type { Offer } from './ports.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Maximum cost of a quote or an order, in cents, which PostgreSQL and the payment provider can store. */
export const MAX_CENTS = 99_999_999;

/** Spreads mailboxes evenly over domains. The first domains get one more if the number does not divide evenly. */
export function spreadMailboxes(count: number, domains: readonly string[]): number[] {
  const [each, rest] = [Math.floor(count / domains.length), count % domains.length];
  return domains.map((_domain, index) => each + (index < rest ? 1 : 0));
}

/** The line items and totals of an order. */
interface Bill {
  lines: OrderLine[];
  mailboxMonthlyCents: number;
  warmupMonthlyCents: number;
  domainCents: number;
  totalMonthlyCents: number;
  /** Total of the first month and the registrations, in cents. */
  dueTodayCents: number;
}

/** Computes the bill of an order: mailboxes and warmup per month, registrations once. */
export function billOf(
  offer: Offer,
  {
    count,
    warmup = false,
    domains,
  }: { count: number; warmup?: boolean | undefined; domains: readonly OrderedDomain[] },
): Bill {
  const line = (
    key: string,
    label: Message,
    quantity: number,
    unit: number,
    interval: OrderLine['interval'],
  ): OrderLine => ({ key, label, quantity, unit_cents: unit, total_cents: quantity * unit, interval });
  const lines = [
    line('mailboxes', message('line.mailboxes', { provider: offer.name }), count, offer.mailboxMonthlyCents, 'month'),
    ...(warmup ? [line('warmup', message('line.warmup'), count, offer.warmupMonthlyCents, 'month')] : []),
    ...domains
      .filter(({ registration }) => registration)
      .map(({ domain, price_cents: price }) =>
        line(`domain:${domain}`, message('line.domain', { domain }), 1, price, 'once'),
      ),
  ];
  const sum = (some: readonly OrderLine[]) => some.reduce((total, { total_cents: cents }) => total + cents, 0);
  const totalMonthlyCents = sum(lines.filter(({ interval }) => interval === 'month'));
  const domainCents = sum(lines.filter(({ interval }) => interval === 'once'));
  return {
    lines,
    mailboxMonthlyCents: count * offer.mailboxMonthlyCents,
    warmupMonthlyCents: warmup ? count * offer.warmupMonthlyCents : 0,
    domainCents,
    totalMonthlyCents,
    dueTodayCents: totalMonthlyCents + domainCents,
  };
}

/**
 * Assigns addresses to the mailboxes of an order. Names rotate, so that over several domains each name is used once
 * before any is repeated. If an address is taken, another spelling is used, such as one with initials.
 * @param taken addresses in use, in lower case
 */
export function nameMailboxes(
  domains: readonly { domain: string; mailboxes: number }[],
  names: readonly PersonName[],
  taken: ReadonlySet<string>,
): OrderedMailbox[] {
  const used = new Set(taken);
  const mailboxes: OrderedMailbox[] = [];
  for (const { domain, mailboxes: count } of domains)
    for (let n = 0; n < count; n += 1) {
      const name = names.length > 0 ? names[mailboxes.length % names.length]! : { first_name: '', last_name: '' };
      const email = firstFree(localParts(name), domain, used);
      used.add(email);
      mailboxes.push({ ...name, email, domain });
    }
  return mailboxes;
}

/** Yields an unlimited number of local parts of an address for a person, the best first. */
function* localParts({ first_name: given, last_name: family }: PersonName): Generator<string> {
  const [first, last] = [ascii(given), ascii(family)];
  if (first && last)
    yield* [`${first}.${last}`, first, `${first}${last}`, `${first[0]}.${last}`, `${first}.${last[0]}`];
  const base = [first, last].filter(Boolean).join('.') || 'team';
  yield base;
  for (let n = 2; ; n += 1) yield `${base}${n}`;
}

function firstFree(candidates: Iterable<string>, domain: string, used: ReadonlySet<string>): string {
  for (const local of candidates) if (!used.has(`${local}@${domain}`)) return `${local}@${domain}`;
  throw new RangeError('the candidates ended');
}

/**
 * Reduces a name to lower-case letters and digits without diacritics, at most 30, which every mail system accepts.
 */
function ascii(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 30);
}
