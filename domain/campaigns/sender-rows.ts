import type { OrgScope } from '../../db/tenancy.ts';
import type { SenderInput } from './input.ts';

/** Adds mailboxes to a campaign's explicit sender pool, in one statement. Existing entries get the new values. */
export async function storeSenders(org: OrgScope, campaignId: string, senders: readonly SenderInput[]): Promise<void> {
  if (senders.length === 0) return;
  await org.sql(
    `insert into campaign_senders (organization_id, campaign_id, mailbox_id, weight, enabled)
     select :org, :id, t.mailbox_id, t.weight, t.enabled from unnest(:ids::uuid[], :weights::int[], :enabled::bool[]) as t(mailbox_id, weight, enabled)
     on conflict (campaign_id, mailbox_id) do update set weight = excluded.weight, enabled = excluded.enabled`,
    {
      id: campaignId,
      ids: senders.map((sender) => sender.email_account_id),
      weights: senders.map((sender) => sender.weight),
      enabled: senders.map((sender) => String(sender.enabled)),
    },
  );
}
