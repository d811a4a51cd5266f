import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { notifyAfterCommit } from '../../../db/notify.ts';
import type { Columns } from '../../../db/rows.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError } from '../../../lib/errors.ts';
import { OUTBOX_CHANNEL } from '../../../temporal/dispatch.ts';
import { message } from '../../../messages/index.ts';

/**
 * A workflow start or signal in the outbox (an intent) that Temporal has refused. It is retried with increasing delays.
 */
export interface ParkedIntent {
  id: string;
  kind: 'start' | 'signal' | 'cancel';
  workflowId: string;
  attempts: number;
  reason: string | null;
  createdAt: Date;
  parkedAt: Date;
  nextAttemptAt: Date;
  /** Number of later intents for the same workflow that wait for this one. */
  behind: number;
}

/** Lists at most `limit` parked intents, oldest first. */
export async function listParked(db: Db, limit = 1_000): Promise<ParkedIntent[]> {
  return across(db, 'operator').sql<ParkedIntent>(
    `select o.id::text, o.kind, o.workflow_id as "workflowId", o.attempts, o.last_error as reason,
       o.created_at as "createdAt", o.parked_at as "parkedAt", o.available_at as "nextAttemptAt",
       (select count(*)::int from outbox b where b.workflow_id = o.workflow_id and b.id > o.id) as behind
     from outbox o where o.parked_at is not null order by o.id limit :limit`,
    { limit },
  );
}

/**
 * Makes parked intents due immediately and resets their number of attempts. The intents that wait for them follow.
 * @param ids intents to retry; all if absent
 * @returns the number of retried intents
 * @throws AppError not_found if one of the ids is not a parked intent; then none is retried
 */
export async function retryParked(db: Db, ids?: readonly string[]): Promise<number> {
  return inTransaction(db, async (trx) => {
    const rows = await across(trx, 'operator').sql<Gone>(
      `update outbox set parked_at = null, refusals = 0, attempts = 0, available_at = now()
       where parked_at is not null and (:ids::bigint[] is null or id = any(:ids::bigint[])) returning workflow_id, id`,
      { ids: ids ?? null },
    );
    requireAll(ids ?? [], rows);
    await releaseFollowing(trx, rows);
    return rows.length;
  });
}

/**
 * Deletes parked intents. Intents that wait for them are then executed.
 * @returns the number of deleted intents
 * @throws AppError not_found if one of the ids is not a parked intent; then none is deleted
 */
export async function dropParked(db: Db, ids: readonly string[]): Promise<number> {
  return inTransaction(db, async (trx) => {
    const rows = await across(trx, 'operator').sql<Gone>(
      `delete from outbox where parked_at is not null and id = any(:ids::bigint[]) returning workflow_id, id`,
      { ids },
    );
    requireAll(ids, rows);
    await releaseFollowing(trx, rows);
    return rows.length;
  });
}

type Gone = Columns<'outbox', 'workflow_id' | 'id'>;

function requireAll(ids: readonly string[], found: readonly Gone[]): void {
  const known = new Set(found.map(({ id }) => String(id)));
  const unknown = ids.filter((id) => !known.has(String(BigInt(id))));
  if (unknown.length > 0)
    throw new AppError('not_found', message('outbox.not_parked', { ids: unknown }), {
      fix: message('outbox.not_parked.fix'),
    });
}

async function releaseFollowing(trx: Trx, gone: readonly Gone[]): Promise<void> {
  if (gone.length === 0) return;
  const outbox = across(trx, 'operator');
  await outbox.sql(
    `update outbox o set available_at = now()
     from unnest(:workflows::text[], :ids::bigint[]) as g(workflow_id, id)
     where o.workflow_id = g.workflow_id and o.id > g.id and o.parked_at is null`,
    { workflows: gone.map(({ workflow_id }) => workflow_id), ids: gone.map(({ id }) => id) },
  );
  notifyAfterCommit(trx, OUTBOX_CHANNEL);
}
