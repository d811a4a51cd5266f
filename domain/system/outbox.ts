import type { Db } from '../../db/connection.ts';
import { OUTBOX_CHANNEL } from '../../temporal/dispatch.ts';

/** An intent that Temporal did not take, and that waits for an operator. */
export interface ParkedIntent {
  id: string;
  kind: 'start' | 'signal' | 'cancel';
  workflowId: string;
  attempts: number;
  reason: string | null;
  createdAt: Date;
  parkedAt: Date;
  /** Later intents of the same workflow, which wait behind it. */
  behind: number;
}

/** The parked intents, oldest first, at most `limit`. */
export async function listParked(db: Db, limit = 1_000): Promise<ParkedIntent[]> {
  const { rows } = (await db.raw(
    `select o.id::text, o.kind, o.workflow_id as "workflowId", o.attempts, o.last_error as reason,
       o.created_at as "createdAt", o.parked_at as "parkedAt",
       (select count(*)::int from outbox b where b.workflow_id = o.workflow_id and b.id > o.id) as behind
     from outbox o where o.parked_at is not null order by o.id limit ?`,
    [limit],
  )) as { rows: ParkedIntent[] };
  return rows;
}

/**
 * Has the relay carry parked intents again, as if they had never failed, and then what waits behind them.
 * @param ids which ones; all when not given
 * @returns how many were parked
 */
export async function retryParked(db: Db, ids?: readonly string[]): Promise<number> {
  return db.transaction(async (trx) => {
    const { rows } = (await trx.raw(
      `update outbox set parked_at = null, refusals = 0, attempts = 0, available_at = now()
       where parked_at is not null and (?::bigint[] is null or id = any(?::bigint[])) returning workflow_id, id`,
      [ids ?? null, ids ?? null] as never,
    )) as { rows: { workflow_id: string; id: string }[] };
    await releaseBehind(trx, rows);
    return rows.length;
  });
}

/**
 * Gives parked intents up; what waits behind them is carried out.
 * @returns how many there were
 */
export async function dropParked(db: Db, ids: readonly string[]): Promise<number> {
  return db.transaction(async (trx) => {
    const { rows } = (await trx.raw(
      `delete from outbox where parked_at is not null and id = any(?::bigint[]) returning workflow_id, id`,
      [ids] as never,
    )) as { rows: { workflow_id: string; id: string }[] };
    await releaseBehind(trx, rows);
    return rows.length;
  });
}

async function releaseBehind(trx: Db, gone: readonly { workflow_id: string; id: string }[]): Promise<void> {
  if (gone.length === 0) return;
  await trx.raw(
    `update outbox o set available_at = now()
     from unnest(?::text[], ?::bigint[]) as g(workflow_id, id)
     where o.workflow_id = g.workflow_id and o.id > g.id and o.parked_at is null`,
    [gone.map(({ workflow_id }) => workflow_id), gone.map(({ id }) => id)] as never,
  );
  await trx.raw(`select pg_notify('${OUTBOX_CHANNEL}', '')`);
}
