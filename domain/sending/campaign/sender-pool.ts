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
  /** When the latest of its holds ends, past ones included. */
  restsUntil: Date | null;
}

/**
 * SQL condition: mailbox `m` is a sender of a campaign, whatever the mailbox's state. It needs `left join campaign_senders c`
 * on campaign and mailbox. The campaign's columns are given as SQL expressions.
 *
 * `tags` takes the mailboxes of the campaign's tags and its explicit senders, and every mailbox when neither is set.
 * `explicit` takes senders and tags and never widens. A sender that is switched off keeps its mailbox out even where a
 * tag would bring it in.
 */
export function isSender(campaign: { id: string; tags: string; strategy: string }): string {
  return `coalesce(c.enabled, true)
         and (c.mailbox_id is not null
           or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(${campaign.tags}))
           or (${campaign.strategy} = 'tags' and cardinality(${campaign.tags}) = 0
             and not exists (select 1 from campaign_senders chosen where chosen.campaign_id = ${campaign.id})))`;
}

/** {@link isSender} for the one campaign that {@link poolBindings} binds. */
export const IS_SENDER = isSender({ id: ':campaign', tags: ':tags::uuid[]', strategy: ':strategy' });

/** Mailboxes beside their row among the campaign's explicit senders, if there is one. */
export const POOL_TABLES = `mailboxes m left join campaign_senders c on c.campaign_id = :campaign and c.mailbox_id = m.id`;

/** What the campaign says of a mailbox as one of its explicit senders, looked up mailbox by mailbox: null when it is none. */
const chosen = (mailbox: string): string =>
  `(select c.enabled from campaign_senders c where c.campaign_id = :campaign and c.mailbox_id = ${mailbox} limit 1)`;
/** Whether a mailbox has a tag of the campaign, looked up mailbox by mailbox. */
const tagged = (mailbox: string): string =>
  `coalesce((select true from mailbox_tags t where t.mailbox_id = ${mailbox} and t.label_id = any(:tags::uuid[]) limit 1), false)`;
/** SQL condition: a mailbox is one that the campaign lists, by choice or by a tag. */
export const isListed = (mailbox: string): string => `coalesce(${chosen(mailbox)}, ${tagged(mailbox)})`;
/** Mailbox `m` is not switched off as a sender of the campaign. */
export const IS_ENABLED = `coalesce(${chosen('m.id')}, true)`;
/**
 * {@link IS_SENDER} for a few mailboxes of many, without a join: PostgreSQL looks up nothing for all of them at once, as it may where
 * there is an EXISTS, and reads no table whole.
 */
export const IS_SENDER_ONE = `coalesce(${chosen('m.id')}, ${tagged('m.id')} or (:strategy = 'tags' and cardinality(:tags::uuid[]) = 0
         and (select true from campaign_senders chosen where chosen.campaign_id = :campaign order by mailbox_id limit 1) is null))`;

/** A mailbox `m` whose holds, if there are any, all end by themselves. */
export const COMES_BACK = `(m.hold_code is null or m.hold_until is not null) and (m.imap_hold_code is null or m.imap_hold_until is not null)`;

/** SQL condition on {@link POOL_TABLES}: a mailbox is in the pool of the campaign ({@link resolveSenders}). */
export const IN_POOL = `m.status = 'active' and ${COMES_BACK} and ${IS_SENDER}`;

/** The columns of a campaign that its sender pool depends on. */
export interface PoolChoice extends Columns<'campaigns', 'id' | 'sender_strategy'> {
  email_tags: readonly string[];
}

/** What {@link IS_SENDER} and `:campaign` bind. */
export function poolBindings(campaign: PoolChoice): { campaign: string; tags: readonly string[]; strategy: string } {
  return { campaign: campaign.id, tags: campaign.email_tags, strategy: campaign.sender_strategy };
}

/**
 * The campaign's sender pool: its senders ({@link isSender}) that are active and not held without an end. A mailbox whose
 * hold ends is in it; the allocator waits for that end.
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
 * The mailboxes that a campaign may come to send from as it is, which a policy has to allow: its senders ({@link isSender}) that are active. Held ones are
 * among them: a hold comes and goes without a person.
 */
export async function sendersToAllow(org: OrgScope, campaign: PoolChoice): Promise<string[]> {
  const rows = await org.sql<{ id: string }>(
    `select m.id from ${POOL_TABLES} where m.organization_id = :org and m.status = 'active' and ${IS_SENDER} order by m.id`,
    poolBindings(campaign),
  );
  return rows.map(({ id }) => id);
}

/** The mailboxes that the campaigns which send now may send from, as {@link sendersToAllow} finds them for one. */
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

/** Whether the campaign's sender pool ({@link resolveSenders}) holds any mailbox. */
export async function hasSender(org: OrgScope, campaign: PoolChoice): Promise<boolean> {
  const [row] = await org.sql(
    `select 1 from ${POOL_TABLES}
     where m.organization_id = :org and ${IN_POOL} limit 1`,
    poolBindings(campaign),
  );
  return row !== undefined;
}

/**
 * Emails the pool of a campaign can give it in a day: of each mailbox the smaller of its cap and the daily limit, and all
 * together no more than that limit. Only as many mailboxes are read as that takes.
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
 * Refuses what would send from mailboxes that the caller's key may not use: every sender of the campaign must be among the
 * key's mailboxes, whatever the sender's state now. Without tags and senders every mailbox is a sender.
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
 * {@link assertPoolAllowed} for one lead that would be mailed on: the mailbox of its conversation, which may have left the pool, must be the key's too.
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
