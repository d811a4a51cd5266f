import { randomInt } from 'node:crypto';
import type { OrgScope } from '../../db/tenancy.ts';
import type { HealthState } from './ramp.ts';
import { matchedOf, pairWeight, type Matched, type WarmupRule } from './routing.ts';

/** A mailbox of the pool, as pairing and planning look at it. */
export interface Member {
  id: string;
  matched: Matched;
  health: HealthState;
}

/** The mailboxes of a workspace that are being warmed and can send and be read now, with its rules. */
export interface Pool {
  members: readonly Member[];
  rules: readonly WarmupRule[];
}

/** Emails that a mailbox sends one other on a day at most. */
const PER_PARTNER = 2;
/** A pool up to this size is weighed as a whole; of a larger one some are drawn. */
const SMALL = 60;
/** Draws per partner that is wanted, from a large pool. */
const DRAWS = 12;

interface MemberRow {
  id: string;
  email: string;
  provider: string;
  host: string;
  health_state: HealthState;
}

/** Reads the pool of the workspace. Mailboxes that are paused, off, held, quarantined or blocked are not in it. */
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
    members: rows.map((row) => ({ id: row.id, matched: matchedOf(row), health: row.health_state })),
  };
}

/**
 * Draws whom a mailbox writes to on a day: at random by the weights of the rules, nobody more often than twice, nobody whose weight is 0.
 * Fewer than `count` where the pool is too small.
 */
export function drawPartners(pool: Pool, sender: Pick<Member, 'id' | 'matched'>, count: number): string[] {
  const weigh = (member: Member) =>
    member.id === sender.id ? 0 : pairWeight(pool.rules, sender.matched, member.matched);
  const candidates = pool.members.length <= SMALL ? pool.members : drawn(pool.members, count * DRAWS);
  const weighed = candidates.flatMap((member) => {
    const weight = weigh(member);
    return weight > 0 ? [{ id: member.id, weight }] : [];
  });
  const chosen: string[] = [];
  for (let round = 0; round < PER_PARTNER && chosen.length < count; round += 1)
    chosen.push(...byWeight(weighed, count - chosen.length));
  return chosen;
}

/** Some members at random, none twice. */
function drawn(members: readonly Member[], count: number): Member[] {
  const found = new Map<string, Member>();
  for (let tries = 0; tries < count * 2 && found.size < Math.min(count, members.length); tries += 1) {
    const member = members[randomInt(members.length)]!;
    found.set(member.id, member);
  }
  return [...found.values()];
}

/** Draws without repetition: the larger the weight, the likelier (Efraimidis and Spirakis). */
function byWeight(weighed: readonly { id: string; weight: number }[], count: number): string[] {
  return weighed
    .map(({ id, weight }) => ({ id, key: Math.random() ** (1 / weight) }))
    .sort((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ id }) => id);
}
