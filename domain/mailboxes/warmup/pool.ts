import type { OrgScope } from '../../../db/tenancy.ts';
import type { HealthState } from './ramp.ts';
import { matchedOf, matchesSide, type Matched, type WarmupRule } from './routing.ts';

/** A mailbox of the pool, with the fields that are needed to choose pairs and plan emails. */
interface Member {
  id: string;
  matched: Matched;
  health: HealthState;
}

/** Mailboxes of a workspace that currently take part in warmup, with the workspace's rules. */
export interface Pool {
  members: readonly Member[];
  rules: readonly WarmupRule[];
  /** Cache of possible partners. The key is the set of rules that match the sender. */
  partners: Map<string, Partners>;
}

/** Mailboxes that a sender may write to. `upTo` contains the cumulative weights. */
interface Partners {
  members: readonly { id: string; weight: number }[];
  upTo: Float64Array;
}

/** Maximum number of emails per day from one mailbox to another. */
export const PER_PARTNER = 2;
/**
 * Maximum number of possible partners for which the weights of all are computed for each sender. If there are more,
 * partners are drawn at random.
 */
const SMALL = 60;
/**
 * Maximum number of draws per wanted partner. If they do not suffice, the weights of all partners are computed instead.
 */
const DRAWS = 6;

interface MemberRow {
  id: string;
  email: string;
  provider: string;
  host: string;
  health_state: HealthState;
}

/**
 * Reads the pool of the workspace. Leaves out mailboxes whose warmup is paused or off, and mailboxes that are held,
 * quarantined or blocked.
 */
export async function readPool(org: OrgScope, now: Date): Promise<Pool> {
  const rules = await org.sql<WarmupRule>(
    `select * from warmup_rules where organization_id = :org and enabled order by priority, id`,
  );
  const rows = await org.sql<MemberRow>(
    `select m.id, m.email, m.provider, m.smtp ->> 'host' as host, s.health_state
     from warmup_standings s join mailboxes m on m.id = s.mailbox_id
     where s.organization_id = :org and m.warmup is not null and m.warmup_paused_at is null and m.status = 'active' and m.imap is not null
       and (m.hold_code is null or m.hold_until <= :now) and (m.imap_hold_code is null or m.imap_hold_until <= :now)
       and s.health_state not in ('quarantined', 'blocked')`,
    { now },
  );
  return {
    rules,
    partners: new Map(),
    members: rows.map((row) => ({ id: row.id, matched: matchedOf(row), health: row.health_state })),
  };
}

/**
 * Draws the partners of a mailbox for a day, at random by the weights of the rules. A partner is drawn at most twice,
 * and never with weight 0. Returns fewer than `count` if the pool is too small. The duration does not depend on the
 * size of the pool.
 */
export function pickPartners(pool: Pool, sender: Pick<Member, 'id' | 'matched'>, count: number): string[] {
  const partners = partnersOf(pool, sender.matched);
  const few = partners.members.length <= Math.max(SMALL, 2 * count);
  const chosen = few ? [] : pickSome(partners, sender.id, count);
  if (chosen.length === count) return chosen;
  const others = partners.members.filter(({ id }) => id !== sender.id);
  const all: string[] = [];
  for (let round = 0; round < PER_PARTNER && all.length < count; round += 1)
    all.push(...byWeight(others, count - all.length));
  return all;
}

/** Returns the possible partners of a sender. The result is shared by all senders that match the same rules. */
function partnersOf(pool: Pool, sender: Matched): Partners {
  const rules = pool.rules.filter((rule) => matchesSide(rule, 'sender', sender));
  const key = rules.map(({ id }) => id).join();
  const known = pool.partners.get(key);
  if (known) return known;
  const members = pool.members.flatMap(({ id, matched }) => {
    const weight = rules.find((rule) => matchesSide(rule, 'recipient', matched))?.weight ?? 1;
    return weight > 0 ? [{ id, weight }] : [];
  });
  const upTo = new Float64Array(members.length);
  let sum = 0;
  for (const [index, { weight }] of members.entries()) upTo[index] = sum += weight;
  const partners = { members, upTo };
  pool.partners.set(key, partners);
  return partners;
}

/**
 * Draws different partners by weight. May return fewer than `count`, because partners with a very high weight are drawn
 * repeatedly.
 */
function pickSome({ members, upTo }: Partners, senderId: string, count: number): string[] {
  const chosen = new Set<string>();
  for (let tries = count * DRAWS; tries > 0 && chosen.size < count; tries -= 1) {
    const { id } = members[placeOf(upTo, Math.random() * upTo.at(-1)!)]!;
    if (id !== senderId) chosen.add(id);
  }
  return [...chosen];
}

/** Returns the first index whose cumulative weight exceeds `at`, by binary search. */
function placeOf(upTo: Float64Array, at: number): number {
  let [low, high] = [0, upTo.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (upTo[middle]! > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Draws without repetition, with a probability that grows with the weight (Efraimidis and Spirakis). */
function byWeight(weighed: readonly { id: string; weight: number }[], count: number): string[] {
  return weighed
    .map(({ id, weight }) => ({ id, key: Math.random() ** (1 / weight) }))
    .sort((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ id }) => id);
}
