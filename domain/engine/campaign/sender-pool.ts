import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError } from '../../../lib/errors.ts';
import type { Tx } from '../../kernel/transact.ts';

/** A mailbox a campaign may send from, and its share of the volume. */
export interface PoolMember {
  mailboxId: string;
  weight: number;
}

/** Names the pool of a campaign as `pool (id, weight)`, for a `with`; its bindings are those of {@link poolBindings}. */
export const SENDER_POOL = `chosen as (select mailbox_id, weight, enabled from campaign_senders where organization_id = :org and campaign_id = :campaign),
     pool as (
       select m.id, coalesce(c.weight, 1) as weight
       from mailboxes m left join chosen c on c.mailbox_id = m.id
       where m.organization_id = :org and m.status = 'active' and (m.hold_code is null or m.hold_until is not null)
         and (m.imap_hold_code is null or m.imap_hold_until is not null)
         and coalesce(c.enabled, true)
         and (c.mailbox_id is not null
           or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(:tags::uuid[]))
           or (:strategy = 'tags' and cardinality(:tags::uuid[]) = 0 and not exists (select 1 from chosen)))
     )`;

/**
 * Whether mailbox `m` is a sender of a campaign, beside `left join campaign_senders c` on both: the condition of
 * {@link SENDER_POOL} for who looks at few mailboxes of many, or at campaigns. Held mailboxes count.
 */
export function isSender(campaign: { id: string; tags: string; strategy: string }): string {
  return `coalesce(c.enabled, true)
         and (c.mailbox_id is not null
           or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(${campaign.tags}))
           or (${campaign.strategy} = 'tags' and cardinality(${campaign.tags}) = 0
             and not exists (select 1 from campaign_senders chosen where chosen.campaign_id = ${campaign.id})))`;
}

/** {@link isSender} of the campaign that {@link poolBindings} binds. */
export const IS_SENDER = isSender({ id: ':campaign', tags: ':tags::uuid[]', strategy: ':strategy' });

/** The part of a campaign its sender pool depends on. */
export interface PoolChoice {
  id: string;
  sender_strategy: 'tags' | 'explicit';
  email_tags: readonly string[];
}

/** What {@link SENDER_POOL} binds. */
export function poolBindings(campaign: PoolChoice): { campaign: string; tags: readonly string[]; strategy: string } {
  return { campaign: campaign.id, tags: campaign.email_tags, strategy: campaign.sender_strategy };
}

/**
 * The campaign's sender pool: active mailboxes without an open-ended hold; holds that end are the allocator's to wait
 * for. `tags` takes the mailboxes of its tags and its explicit senders, and every mailbox when neither is set.
 * `explicit` takes senders and tags and never widens. A sender that is switched off keeps its mailbox out even where a
 * tag would bring it in.
 */
export async function resolveSenders(org: OrgScope, campaign: PoolChoice): Promise<PoolMember[]> {
  const rows = await org.sql<{ id: string; weight: number }>(
    `with ${SENDER_POOL} select id, weight from pool order by id`,
    poolBindings(campaign),
  );
  return rows.map((row) => ({ mailboxId: row.id, weight: row.weight }));
}

/**
 * Refuses what would send from mailboxes that the caller's key may not use: every mailbox that the campaign's choice of
 * senders takes in must be among them, whatever its state at this moment. The default pool takes in all mailboxes.
 * @throws AppError forbidden
 */
export async function assertPoolAllowed(tx: Tx, campaign: PoolChoice): Promise<void> {
  const allowed = tx.actor.allowedMailboxes;
  if (!allowed) return;
  const [outside] = await tx.org.sql<{ id: string }>(
    `with chosen as (select mailbox_id, enabled from campaign_senders where organization_id = :org and campaign_id = :campaign)
     select m.id from mailboxes m left join chosen c on c.mailbox_id = m.id
     where m.organization_id = :org and coalesce(c.enabled, true) and m.id <> all(:allowed::uuid[])
       and (c.mailbox_id is not null
         or exists (select 1 from mailbox_tags t where t.mailbox_id = m.id and t.label_id = any(:tags::uuid[]))
         or (:strategy = 'tags' and cardinality(:tags::uuid[]) = 0 and not exists (select 1 from chosen)))
     limit 1`,
    { ...poolBindings(campaign), allowed },
  );
  if (!outside) return;
  throw new AppError('forbidden', 'The campaign would send from mailboxes that this API key may not use', {
    fix: 'Name its senders among the allowed_email_accounts of the key, or use a key without that restriction.',
  });
}
