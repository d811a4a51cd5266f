import type { Tx } from './kernel/transact.ts';

/**
 * Stores the order of rows that have a position column. The ids get consecutive positions from `first` on. Writes only
 * rows whose position changes.
 */
export async function storePositions(
  tx: Tx,
  table: 'crm_pipelines' | 'crm_stages' | 'crm_task_types' | 'labels' | 'reply_templates',
  ids: readonly string[],
  first: 0 | 1 = 1,
): Promise<void> {
  if (ids.length === 0) return;
  await tx.org.sql(
    `update ${table} t set position = o.place + :shift, updated_at = :now
     from unnest(cast(:ids as uuid[])) with ordinality as o(id, place)
     where t.organization_id = :org and t.id = o.id and t.position <> o.place + :shift`,
    { ids, now: tx.now, shift: first - 1 },
  );
}

/** Returns the ids with `id` moved to an index, or to the end if the index is too large. */
export function movedTo(ids: readonly string[], id: string, index: number): string[] {
  const order = ids.filter((other) => other !== id);
  order.splice(index, 0, id);
  return order;
}
