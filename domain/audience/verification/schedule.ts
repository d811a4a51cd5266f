import { announceUpdates } from '../../directory/announce-contact.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Schedules verification of contacts' addresses that have no verdict. Existing schedules stay unchanged. In a test
 * workspace the verdict is `unknown` at once, because no server is asked there.
 * @param options.again true to include addresses with a verdict, which stays valid until the new one
 * @returns the contacts that were scheduled or got a verdict
 */
export async function scheduleVerification(
  tx: Tx,
  contactIds: readonly string[],
  { again = false }: { again?: boolean | undefined } = {},
): Promise<string[]> {
  if (contactIds.length === 0) return [];
  const rows = await tx.org.sql<{ contact_id: string; is_settled: boolean }>(
    `with wanted as materialized (
       select c.id, o.is_test from contacts c join organizations o on o.id = c.organization_id
       where c.organization_id = :org and c.id = any(cast(:ids as uuid[])) and (c.verification_status = 'unknown' or :again)
     ), scheduled as (
       insert into contact_verifications (contact_id, organization_id, due_at, created_at)
       select id, :org, :now, :now from wanted where not is_test order by id on conflict (contact_id) do nothing returning contact_id
     ), settled as (
       update contacts c set verification_status = 'unknown', verification_reason = 'test_workspace', is_catch_all = false,
         verification_checked_at = :now, updated_at = :now
       from wanted w where w.is_test and c.organization_id = :org and c.id = w.id returning c.id
     )
     select contact_id, false as is_settled from scheduled union all select id, true from settled`,
    { ids: contactIds, again, now: tx.now },
  );
  announceUpdates(tx, rows.filter(({ is_settled: isSettled }) => isSettled).length);
  return rows.map(({ contact_id: id }) => id);
}
