import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import { suppressedNow } from '../../directory/suppression-check.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { KEPT_WHERE_LISTED } from '../../sending/outcomes/suppress.ts';
import { personsReason } from './entries.ts';

/**
 * Adds the addresses of selected contacts to the suppression list. An address that is already listed keeps its entry.
 * @returns the contacts whose address was not listed, with the entry of each
 */
export async function suppressContacts(
  tx: Tx,
  contactIds: readonly string[],
  reason: string,
): Promise<{ contact_id: string; suppression_id: string }[]> {
  const words = personsReason(reason);
  return tx.org.sql<{ contact_id: string; suppression_id: string }>(
    `with wanted as (
       select c.id as contact_id, c.email, t.id as entry_id from unnest(cast(:ids as uuid[]), cast(:entries as uuid[])) as t(contact_id, id)
       join contacts c on c.organization_id = :org and c.id = t.contact_id
     ), added as (
       insert into suppressions (id, organization_id, email, kind, reason, source, created_at, updated_at)
       select entry_id, :org, email, 'email', cast(:reason as jsonb), 'manual', :now, :now from wanted order by email
       on conflict on constraint suppressions_value_key do update set ${KEPT_WHERE_LISTED}, expires_at = null, updated_at = excluded.updated_at
         where suppressions.expires_at <= :now
       returning id, email
     ), unsubscribed as (
       update contacts c set subscribed = false, unsubscribed_by = a.id, updated_at = :now
       from added a where c.organization_id = :org and c.email = a.email and c.subscribed
     )
     select w.contact_id, a.id as suppression_id from added a join wanted w on w.email = a.email`,
    { ids: contactIds, entries: contactIds.map(() => newId()), reason: words && json(words), now: tx.now },
  );
}

/** Removes entries that were added by hand, and subscribes again the contacts that they had unsubscribed. */
export async function liftSuppressions(tx: Tx, ids: readonly string[]): Promise<void> {
  const rows = await tx.org.sql<{ id: string }>(
    `delete from suppressions where organization_id = :org and id = any(cast(:ids as uuid[])) and source = 'manual' returning id`,
    { ids },
  );
  await tx.org.sql(
    `update contacts c set subscribed = not ${suppressedNow(':org', 'c.email')}, unsubscribed_by = null, updated_at = :now
     where c.organization_id = :org and c.unsubscribed_by = any(cast(:ids as uuid[]))`,
    { ids: rows.map(({ id }) => id), now: tx.now },
  );
}
