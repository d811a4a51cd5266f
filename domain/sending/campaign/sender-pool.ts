import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError } from '../../../lib/errors.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

/** A mailbox a campaign may send from, and its share of the volume. */
interface PoolMember {
  mailboxId: string;
  weight: number;
  /** End of the mailbox's latest hold. May be in the past. */
  restsUntil: Date | null;
}

/**
 * Returns an SQL condition: mailbox `m` is a sender of a campaign, whatever the state of the mailbox. Needs `left join
 * campaign_senders c` on campaign and mailbox. The campaign's columns are given as SQL expressions. Strategy `tags`
 * uses the explicit senders and the mailboxes with the campaign's tags. Without explicit senders and tags, every
 * mailbox of the organization is a sender. Strategy `explicit` uses only the explicit senders and the tags. A disabled
 * sender is excluded even if a tag matches.
 */
export function isSender(campaign: { id: string; tags: string; strategy: string }): string {
  return `coalesce(c.enabled, true)
         and (c.mailbox_id is not null
           or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(${campaign.tags}))
           or (${campaign.strategy} = 'tags' and cardinality(${campaign.tags}) = 0
             and not exists (select 1 from campaign_senders chosen where chosen.campaign_id = ${campaign.id})))`;
}

/** Variant of {@link isSender} for the campaign that {@link poolBindings} binds. */
export const IS_SENDER = isSender({ id: ':campaign', tags: ':tags::uuid[]', strategy: ':strategy' });

/** SQL join of mailboxes with their rows in the campaign's list of explicit senders, if there are any. */
export const POOL_TABLES = `mailboxes m left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id`;

/**
 * SQL expression: the `enabled` flag of a mailbox as explicit sender of the campaign, with one lookup per mailbox. Null
 * when it is not an explicit sender.
 */
const chosen = (mailbox: string): string =>
  `(select c.enabled from campaign_senders c where c.campaign_id = :campaign and c.mailbox_id = ${mailbox} limit 1)`;
/** SQL expression: true if a mailbox has a tag of the campaign, with one lookup per mailbox. */
const tagged = (mailbox: string): string =>
  `coalesce((select true from mailbox_tags t where t.mailbox_id = ${mailbox} and t.label_id = any(:tags::uuid[]) limit 1), false)`;
/** Returns an SQL condition: the campaign lists the mailbox explicitly or by a tag. */
export const isListed = (mailbox: string): string => `coalesce(${chosen(mailbox)}, ${tagged(mailbox)})`;
/** SQL condition: mailbox `m` is not disabled as an explicit sender of the campaign. */
export const IS_ENABLED = `coalesce(${chosen('m.id')}, true)`;
/**
 * Variant of {@link IS_SENDER} without a join, for a few of many mailboxes. Uses scalar subqueries per mailbox, because
 * for an EXISTS PostgreSQL may read a whole table.
 */
export const IS_SENDER_ONE = `coalesce(${chosen('m.id')}, ${tagged('m.id')} or (:strategy = 'tags' and cardinality(:tags::uuid[]) = 0
         and (select true from campaign_senders chosen where chosen.campaign_id = :campaign order by mailbox_id limit 1) is null))`;

/** SQL condition: every hold of mailbox `m` has an end. */
export const HOLDS_END = `(m.hold_code is null or m.hold_until is not null) and (m.imap_hold_code is null or m.imap_hold_until is not null)`;

/** SQL condition on {@link POOL_TABLES}: a mailbox is in the campaign's pool ({@link resolveSenders}). */
export const IN_POOL = `m.status = 'active' and ${HOLDS_END} and ${IS_SENDER}`;

/** Columns of a campaign that determine its sender pool. */
export interface PoolChoice extends Columns<'campaigns', 'id' | 'sender_strategy'> {
  email_tags: readonly string[];
}

/** Returns the bindings of {@link IS_SENDER} and `:campaign`. */
export function poolBindings(campaign: PoolChoice): { campaign: string; tags: readonly string[]; strategy: string } {
  return { campaign: campaign.id, tags: campaign.email_tags, strategy: campaign.sender_strategy };
}

/**
 * Returns the campaign's sender pool: its active senders ({@link isSender}) without a hold of unlimited length.
 * Mailboxes with a temporary hold are included; the allocator waits for its end.
 */
export async function resolveSenders(org: OrgScope, campaign: PoolChoice): Promise<PoolMember[]> {
  const rows = await org.sql<{ id: string; weight: number; rests: Date | null }>(
    `select m.id, coalesce(c.weight, 1) as weight, greatest(m.hold_until, m.imap_hold_until) as rests from ${POOL_TABLES}
     where m.organization_id = :org and ${IN_POOL}
     order by m.id`,
    poolBindings(campaign),
  );
  return rows.map((row) => ({ mailboxId: row.id, weight: row.weight, restsUntil: row.rests }));
}

/**
 * Returns the active senders ({@link isSender}) of a campaign. The policy of a key or application must contain all of
 * them. Held mailboxes are included, because holds start and end without a person.
 */
export async function sendersToAllow(org: OrgScope, campaign: PoolChoice): Promise<string[]> {
  const rows = await org.sql<{ id: string }>(
    `select m.id from ${POOL_TABLES} where m.organization_id = :org and m.status = 'active' and ${IS_SENDER} order by m.id`,
    poolBindings(campaign),
  );
  return rows.map(({ id }) => id);
}

/** Returns the senders of all active campaigns, selected as in {@link sendersToAllow}. */
export async function sendersOfActive(org: OrgScope): Promise<string[]> {
  const rows = await org.sql<{ id: string }>(
    `select m.id from mailboxes m where m.organization_id = :org and m.status = 'active' and exists (
       select 1 from campaigns k left join campaign_senders c on c.campaign_id = k.id and c.mailbox_id = m.id
       where k.organization_id = :org and k.status = 'active'
         and ${isSender({ id: 'k.id', tags: 'k.email_tags', strategy: 'k.sender_strategy' })})
     order by m.id`,
  );
  return rows.map(({ id }) => id);
}

/** Returns true if the campaign's sender pool ({@link resolveSenders}) is not empty. */
export async function hasSender(org: OrgScope, campaign: PoolChoice): Promise<boolean> {
  const [row] = await org.sql(
    `select 1 from ${POOL_TABLES}
     where m.organization_id = :org and ${IN_POOL} limit 1`,
    poolBindings(campaign),
  );
  return row !== undefined;
}

/**
 * Returns the emails per day that the pool can send for a campaign: the sum of min(cap, daily limit), at most the daily
 * limit. Reads no more mailboxes than needed to reach the limit.
 */
export async function poolCapacity(org: OrgScope, campaign: PoolChoice, dailyLimit: number): Promise<number> {
  const [row] = await org.sql<{ emails: number }>(
    `select least(coalesce(sum(emails), 0), :limit)::float8 as emails from (
       select least(m.campaign_limit, :limit) as emails from ${POOL_TABLES}
       where m.organization_id = :org and m.campaign_limit > 0 and ${IN_POOL}
       limit :limit) pool`,
    { ...poolBindings(campaign), limit: dailyLimit },
  );
  return row!.emails;
}

/**
 * Refuses a change if the campaign has a sender that the caller's key may not use, whatever the state of the sender.
 * Without tags and explicit senders, every mailbox is a sender.
 * @throws AppError forbidden
 */
export async function assertPoolAllowed(tx: Tx, campaign: PoolChoice): Promise<void> {
  const allowed = tx.actor.allowedMailboxes;
  if (!allowed) return;
  const [outside] = await tx.org.sql<{ id: string }>(
    `select m.id from ${POOL_TABLES}
     where m.organization_id = :org and m.id <> all(:allowed::uuid[]) and ${IS_SENDER} limit 1`,
    { ...poolBindings(campaign), allowed },
  );
  if (!outside) return;
  throw new AppError('forbidden', message('campaigns.pool_not_allowed'), {
    fix: message('campaigns.pool_not_allowed.fix'),
  });
}

/**
 * Variant of {@link assertPoolAllowed} for the resumption of one lead. The key must also include the conversation's
 * mailbox, which may have left the pool.
 * @throws AppError forbidden
 */
export async function assertLeadAllowed(
  tx: Tx,
  campaign: PoolChoice,
  { mailbox_id: mailboxId }: Columns<'enrollments', 'mailbox_id'>,
): Promise<void> {
  if (mailboxId) assertMailboxAllowed(tx.actor, mailboxId);
  await assertPoolAllowed(tx, campaign);
}
