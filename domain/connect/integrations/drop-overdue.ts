import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { systemCtx, type Ctx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, INTEGRATION_BACKLOG } from '../../platform/dead-letters.ts';
import { logRunIn } from './account.ts';
import type { Delivery } from './claim.ts';
import { emitSettled } from '../../directory/integration-deliveries.ts';

/**
 * Maximum waiting actions of an account that must be connected again. Above this number the oldest actions are dropped.
 */
export const MAX_WAITING = 10_000;
/** Maximum number of actions dropped by one transaction. */
const PAGE = 1_000;

/**
 * Drops actions that wait for reauthorization of an account: those older than INTEGRATION_REAUTH_DAYS, and the oldest
 * ones above {@link MAX_WAITING}. The connection's log and one dead letter per connection report the number. The event
 * `integration.action_settled` of each action informs its requester.
 * @returns the number of dropped actions
 */
export async function dropOverdue(deps: Deps): Promise<number> {
  let dropped = 0;
  for (let after = ZERO_UUID; ;) {
    const ended = await across(deps.db, 'maintenance').sql<
      Columns<'integration_connections', 'id' | 'organization_id'>
    >(
      `select id, organization_id from integration_connections where status = 'reauth_required' and id > :after order by id limit :page`,
      { after, page: PAGE },
    );
    for (const { id, organization_id: organizationId } of ended) {
      const ctx = systemCtx(deps, organizationId, 'integration-overdue');
      for (let count = PAGE; count === PAGE;) dropped += count = await dropPage(ctx, id);
    }
    if (ended.length < PAGE) return dropped;
    after = ended.at(-1)!.id;
  }
}

/** Drops one page of overdue actions. Drops none once the account is connected again. */
function dropPage(ctx: Ctx, connectionId: string): Promise<number> {
  return transact(ctx, async (tx) => {
    // Locks the connection, so that reconnecting the account waits for this transaction and then resumes the remaining
    // actions.
    const [connection] = await tx.org.sql<Columns<'integration_connections', 'label'>>(
      `select label from integration_connections
       where organization_id = :org and id = :connection and status = 'reauth_required' for no key update`,
      { connection: connectionId },
    );
    if (!connection) return 0;
    const days = ctx.config.INTEGRATION_REAUTH_DAYS;
    const rows = await tx.org.sql<Pick<Delivery, 'id' | 'connection_id' | 'action' | 'source'>>(DROP_SQL, {
      connection: connectionId,
      before: new Date(tx.now.getTime() - days * DAY_MS),
      most: MAX_WAITING,
      page: PAGE,
    });
    if (rows.length === 0) return 0;
    const limits = { days, most: MAX_WAITING };
    for (const row of rows) emitSettled(tx, row, message('connect.dropped', limits));
    await reportDropped(tx, connectionId, { dropped: rows.length, label: connection.label, ...limits });
    return rows.length;
  });
}

/** Lanes that are now empty are deleted at their next claim. */
const DROP_SQL = `with overdue as (
    select id from integration_deliveries
    where organization_id = :org and connection_id = :connection and state = 'pending' and (created_at < :before or position <= (
      select position from integration_deliveries where organization_id = :org and connection_id = :connection and state = 'pending'
      order by position desc offset :most limit 1))
    order by position limit :page
  )
  delete from integration_deliveries d using overdue o where d.organization_id = :org and d.id = o.id
  returning d.id, d.connection_id, d.action, d.source`;

interface Dropped {
  dropped: number;
  label: string;
  /** Limits: maximum age in days, and maximum number of waiting actions (`most`). */
  days: number;
  most: number;
}

/**
 * Reports dropped actions in the connection's log and in a dead letter. An unsettled dead letter of the connection is
 * reused, and its count grows.
 */
async function reportDropped(tx: Tx, connectionId: string, { dropped, label, days, most }: Dropped): Promise<void> {
  const [known] = await tx.org.sql<{ dropped: string | null }>(
    `select payload ->> 'dropped' as dropped from dead_letters
     where organization_id = :org and task_type = :type and task_id = :task and status = 'pending' for update`,
    { type: INTEGRATION_BACKLOG, task: connectionId },
  );
  const total = dropped + Number(known?.dropped ?? 0);
  await addDeadLetter(tx, {
    taskId: connectionId,
    taskType: INTEGRATION_BACKLOG,
    payload: { connection_id: connectionId, dropped: String(total) },
    error: message('connect.dropped_of', {
      label,
      reason: message('connect.dropped_count', { dropped: total, days, most }),
    }),
    attempts: 0,
    maxAttempts: 0,
    nextRetryAt: null,
  });
  const detail = message('connect.dropped_count', { dropped, days, most });
  await logRunIn(tx, connectionId, { kind: 'dispatch', status: 'error', detail, records: 0, startedAt: tx.now });
}
