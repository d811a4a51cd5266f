import type { OrgTable } from '../../db/rows.ts';
import { badRequest } from '../../lib/errors.ts';
import type { Tx } from './kernel/transact.ts';
import { message, type Message } from '../../messages/index.ts';

/** A list that is answered and read as a whole, and so has a bound. */
interface Bound {
  most: number;
  /** Its entries, in the plural: `automations`. */
  what: Message;
}

/**
 * Refuses another row for a list that is full.
 * @param count rows that it has, counted where nobody else adds one meanwhile
 * @throws AppError bad_request
 */
export function assertNotFull(count: number, { most, what }: Bound): void {
  if (count < most) return;
  throw badRequest(message('list.full', { most, what }), [{ path: 'body', message: message('field.full', { most }) }]);
}

/**
 * {@link assertNotFull} for rows of one table. Those who add to it at the same time wait for each other.
 * @param where which rows are one list; all of the workspace by default
 * @throws AppError bad_request
 */
export async function assertRoomFor(
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
