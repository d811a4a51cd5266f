import { createHash } from 'node:crypto';
import type { EmailName } from './campaign.ts';
import { acts, type Act } from './acts.ts';
import type { Size } from './size.ts';

/** Role of recipients: their behaviour and its expected outcome. */
interface Role {
  name: string;
  /** Share (0 to 1) of recipients with this role, at least one recipient. `one` means exactly one recipient. */
  share: number | 'one';
  /** Final status of the lead in GET /v1/campaigns/:id/leads. */
  ends: 'completed' | 'replied' | 'bounced' | 'unsubscribed' | 'paused';
  /** Names of the emails that these recipients must get, each once. */
  gets: readonly EmailName[];
  /** Names of emails that they may get in addition, because a worker may already have claimed them at the opt-out. */
  mayGet?: readonly EmailName[];
  /** Outcome of the wait_for_event step. */
  wait?: 'resumed' | 'timed_out';
  /** True if their mail server refuses emails with 550. */
  refused?: true;
  does: Partial<Record<EmailName, readonly Act[]>>;
}

const { open, openByProxy, click, scan, reply, awayReply, reportUndeliverable, unsubscribe, buy } = acts;

/** All roles. Times are milliseconds after the arrival of an email, drawn from a range by the recipient's address. */
export const ROLES: readonly Role[] = [
  { name: 'no such address', share: 0.02, ends: 'bounced', gets: [], refused: true, does: {} },
  {
    name: 'bounces later',
    share: 0.015,
    ends: 'bounced',
    gets: ['hello'],
    mayGet: ['offer'],
    does: { hello: [reportUndeliverable([1500, 4000])] },
  },
  {
    name: 'unsubscribes',
    share: 0.03,
    ends: 'unsubscribed',
    gets: ['hello'],
    mayGet: ['offer'],
    does: { hello: [open([2500, 4000]), unsubscribe([4500, 7000])] },
  },
  {
    name: 'out of office',
    share: 'one',
    ends: 'paused',
    gets: ['hello'],
    mayGet: ['offer'],
    does: { hello: [awayReply([300, 600])] },
  },
  {
    name: 'answers the hello',
    share: 0.03,
    ends: 'replied',
    gets: ['hello'],
    mayGet: ['offer'],
    does: { hello: [open([2500, 5000]), reply([5500, 9000])] },
  },
  {
    name: 'answers the offer',
    share: 0.04,
    ends: 'replied',
    gets: ['hello', 'offer'],
    does: { hello: [open([2500, 5000])], offer: [open([2500, 4000]), reply([5000, 12_000])] },
  },
  {
    name: 'buys',
    share: 0.2,
    ends: 'completed',
    gets: ['hello', 'offer', 'welcome'],
    wait: 'resumed',
    does: {
      hello: [open([2500, 6000])],
      offer: [open([2500, 5000]), click([5500, 8000]), buy([12_000, 28_000])],
      welcome: [open([2500, 6000])],
    },
  },
  {
    name: 'clicks',
    share: 0.12,
    ends: 'completed',
    gets: ['hello', 'offer', 'nudge'],
    wait: 'timed_out',
    does: { hello: [open([2500, 5000]), click([5500, 8000])], offer: [open([2500, 8000])] },
  },
  {
    name: 'reads',
    share: 0.2,
    ends: 'completed',
    gets: ['hello', 'offer', 'nudge'],
    wait: 'timed_out',
    does: { hello: [open([2500, 8000])], offer: [open([2500, 8000])], nudge: [open([2500, 6000])] },
  },
  {
    name: 'has a privacy proxy',
    share: 0.08,
    ends: 'completed',
    gets: ['hello', 'offer', 'nudge'],
    wait: 'timed_out',
    does: { hello: [openByProxy([50, 400])], offer: [openByProxy([50, 400])], nudge: [openByProxy([50, 400])] },
  },
  {
    name: 'has a link scanner',
    share: 0.02,
    ends: 'completed',
    gets: ['hello', 'offer', 'nudge'],
    wait: 'timed_out',
    does: { hello: [scan([50, 400])] },
  },
  // Role of all other recipients, because most emails are only read or ignored.
  { name: 'does nothing', share: 1, ends: 'completed', gets: ['hello', 'offer', 'nudge'], wait: 'timed_out', does: {} },
];

/** Recipient with a role. */
export interface Person {
  email: string;
  role: Role;
}

/**
 * Assigns roles to recipients. There must be enough recipients for all roles. The assignment depends only on the
 * addresses, so the same list always behaves the same.
 * @returns people by address
 */
export function cast(addresses: readonly string[], { perRole }: Pick<Size, 'perRole'>): Map<string, Person> {
  const line = [...addresses].sort((a, b) => draw(a, 'role') - draw(b, 'role'));
  const people = new Map<string, Person>();
  const beyondOneEach = addresses.length - ROLES.length;
  for (const role of ROLES) {
    const byShare = role.share === 'one' ? 1 : 1 + Math.floor(role.share * beyondOneEach);
    const count = role.share === 'one' || perRole === 'all' ? byShare : perRole;
    for (const email of line.splice(0, count)) people.set(email, { email, role });
  }
  return people;
}

/** Returns a number from 0 to 1 that depends only on the address and the question. */
export function draw(email: string, question: string): number {
  return createHash('sha256').update(`spring/${email}/${question}`).digest().readUInt32BE() / 2 ** 32;
}
