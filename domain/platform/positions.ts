import type { Tx } from './kernel/transact.ts';

/**
 * Stores the order of rows that have a position: the ids have positions from `first` on, without gaps. Rows that stay where they are are not
 * written.
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

/** The ids with one of them at an index; behind the last is the last. */
export function movedTo(ids: readonly string[], id: string, index: number): string[] {
  const order = ids.filter((other) => other !== id);
  order.splice(index, 0, id);
  return order;
}
