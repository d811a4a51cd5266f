import { json } from '../../../db/connection.ts';
import type { SuppressionSource } from '../../../db/models/suppression.ts';
import { addressKey } from '../../../lib/address.ts';
import { newId } from '../../../lib/ids.ts';
import type { Message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

interface SuppressEntry {
  email: string;
  reason: Message;
  source: SuppressionSource;
  campaignId?: string | null;
  metadata?: Record<string, unknown>;
}

/**
 * Sources of suppression entries that the person's own action created. Removing such an entry does not subscribe the
 * person again.
 */
const OWN_ACTS: readonly SuppressionSource[] = ['unsubscribe', 'complaint'];

/**
 * Adds one address to the suppression list and sets its contact to not subscribed. An existing entry keeps its first
 * reason and source, and no longer expires. An expired entry is replaced.
 */
export async function suppress(tx: Tx, entry: SuppressEntry): Promise<void> {
  const email = addressKey(entry.email);
  const isOwnAct = OWN_ACTS.includes(entry.source);
  const [row] = await tx.org.sql<{ id: string }>(
    `insert into suppressions (id, organization_id, email, kind, reason, source, campaign_id, metadata, created_at, updated_at)
     values (:id, :org, :email, 'email', cast(:reason as jsonb), :source, :campaign, cast(:metadata as jsonb), :now, :now)
     on conflict on constraint suppressions_value_key do update set ${KEPT_WHERE_LISTED}, expires_at = null, updated_at = excluded.updated_at
     returning id`,
    {
      id: newId(),
      email,
      reason: json(entry.reason),
      source: entry.source,
      campaign: entry.campaignId ?? null,
      metadata: json(entry.metadata ?? {}),
      now: tx.now,
    },
  );
  await tx.org.sql(
    `update contacts set subscribed = false, unsubscribed_by = cast(:by as uuid), updated_at = :now
     where organization_id = :org and email = :email and (subscribed or (:isOwnAct and unsubscribed_by is not null))`,
    { email, by: isOwnAct ? null : row!.id, isOwnAct, now: tx.now },
  );
}

/**
 * SET clause of `on conflict do update`. An entry that has not expired at `:now` keeps these columns when its address
 * is added again.
 */
export const KEPT_WHERE_LISTED = ['reason', 'source', 'campaign_id', 'metadata']
  .map(
    (column) =>
      `${column} = case when suppressions.expires_at <= :now then excluded.${column} else suppressions.${column} end`,
  )
  .join(', ');
