import type { OrgTable } from '../../db/rows.ts';
import { badRequest } from '../../lib/errors.ts';
import type { Tx } from './kernel/transact.ts';
import { message, type Message } from '../../messages/index.ts';

/** Maximum length of a list without pages. */
interface Bound {
  most: number;
  /** Name of the list's entries in the plural, such as `automations`. */
  what: Message;
}

/**
 * Refuses to add a row to a full list.
 * @param count current number of rows, counted under a lock against concurrent additions
 * @throws AppError bad_request
 */
export function assertNotFull(count: number, { most, what }: Bound): void {
  if (count < most) return;
  throw badRequest(message('list.full', { most, what }), [{ path: 'body', message: message('field.full', { most }) }]);
}

/**
 * Variant of {@link assertNotFull} for rows of one table. Locks the list, so that concurrent additions wait for each
 * other.
 * @param where condition for the rows of the list; by default all rows of the workspace
 * @throws AppError bad_request
 */
export async function assertBelowLimit(
  tx: Tx,
  table: OrgTable,
  bound: Bound,
  where: Record<string, string> = {},
): Promise<void> {
  await tx.org.lock(`${table}/${Object.values(where)[0] ?? tx.org.organizationId}`);
  const conditions = Object.keys(where).map((column) => ` and ${column} = :${column}`);
  const [counted] = await tx.org.sql<{ n: number }>(
    `select count(*)::int as n from ${table} where organization_id = :org${conditions.join('')}` as `${string}:org${string}`,
    where,
  );
  assertNotFull(counted!.n, bound);
}
