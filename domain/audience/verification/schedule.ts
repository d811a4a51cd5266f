import type { Tx } from '../../platform/kernel/transact.ts';

/**
 * Schedules verification of contacts' addresses that have no verdict. Existing schedules stay unchanged.
 * @param options.again true to include addresses with a verdict, which stays valid until the new one
 * @returns the contacts that were scheduled
 */
export async function scheduleVerification(
  tx: Tx,
  contactIds: readonly string[],
  { again = false }: { again?: boolean | undefined } = {},
): Promise<string[]> {
  if (contactIds.length === 0) return [];
  const rows = await tx.org.sql<{ contact_id: string }>(
    `insert into contact_verifications (contact_id, organization_id, due_at, created_at)
     select id, organization_id, :now, :now from contacts
     where organization_id = :org and id = any(cast(:ids as uuid[])) and (verification_status = 'unknown' or :again)
     order by id on conflict (contact_id) do nothing returning contact_id`,
    { ids: contactIds, again, now: tx.now },
  );
  return rows.map(({ contact_id: id }) => id);
}
