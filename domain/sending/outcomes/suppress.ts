import { json } from '../../../db/connection.ts';
import type { SuppressionSource } from '../../../db/models/suppression.ts';
import { addressKey } from '../../../lib/address.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

interface SuppressEntry {
  email: string;
  reason: string;
  source: SuppressionSource;
  campaignId?: string | null;
  metadata?: Record<string, unknown>;
}

/**
 * Adds an address to the suppression list and clears the `subscribed` flag of its contact. A listed address gets the
 * new reason and source and no longer expires.
 */
export async function suppress(tx: Tx, entry: SuppressEntry): Promise<void> {
  const email = addressKey(entry.email);
  await tx.org.sql(
    `insert into suppressions (id, organization_id, email, kind, reason, source, campaign_id, metadata, created_at, updated_at)
     values (:id, :org, :email, 'email', :reason, :source, :campaign, cast(:metadata as jsonb), :now, :now)
     on conflict on constraint suppressions_value_key do update set reason = excluded.reason, source = excluded.source,
       campaign_id = coalesce(excluded.campaign_id, suppressions.campaign_id), metadata = excluded.metadata,
       expires_at = null, updated_at = excluded.updated_at`,
    {
      id: newId(),
      email,
      reason: entry.reason,
      source: entry.source,
      campaign: entry.campaignId ?? null,
      metadata: json(entry.metadata ?? {}),
      now: tx.now,
    },
  );
  await tx.org.table('contacts').where({ email, subscribed: true }).update({ subscribed: false, updated_at: tx.now });
}
