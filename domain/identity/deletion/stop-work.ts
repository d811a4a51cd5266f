import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { Columns } from '../../../db/rows.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { endApproval } from '../../approvals/expire.ts';
import { endCancelled } from '../../campaigns/runs/cancel.ts';
import { lockRun } from '../../campaigns/runs/move.ts';
import { hasEnded, LAUNCHED_STATES, PRELAUNCH_STATES } from '../../campaigns/runs/states.ts';
import { disableAutomations } from '../../connect/automations/automations.ts';
import { cancelAllUnsent } from '../../inbox/direct-sends/scheduled.ts';
import { pauseWarmup } from '../../mailboxes/warmup/standing.ts';
import { subjectOf } from '../../platform/kernel/approval-subjects.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { pauseCampaign } from '../../sending/control/status.ts';

const REASON = message('log.workspace_ends');
/** Maximum number of orders named in a refusal. */
const MAX_NAMED = 20;

/**
 * Stops the work of a workspace whose deletion is scheduled. Called in the transaction of the request, and again later,
 * because requests that were accepted before it may still start work. Runs and unsent emails are cancelled, approvals
 * end, campaigns and warmup are paused, and automations are disabled. If the deletion is cancelled, nothing starts
 * again by itself.
 * @param ctx joins the transaction
 */
export async function stopWork(ctx: Ctx, tx: Tx): Promise<void> {
  for (const id of await tx.org
    .table('runs')
    .whereIn('state', [...PRELAUNCH_STATES, ...LAUNCHED_STATES])
    .orderBy('id')
    .pluck('id')) {
    const run = await lockRun(tx, id);
    if (!hasEnded(run.state)) await endCancelled(tx, run, 'request');
  }
  await endApprovals(ctx, tx);
  await cancelAllUnsent(tx, message('approval.workspace_ends'));
  for (const id of await tx.org.table('campaigns').where({ status: 'active' }).orderBy('id').pluck('id'))
    await pauseCampaign(tx, id, 'paused', REASON);
  for (const id of await tx.org
    .table('mailboxes')
    .whereNotNull('warmup')
    .whereNull('warmup_paused_at')
    .orderBy('id')
    .pluck('id'))
    await pauseWarmup(ctx, id);
  await disableAutomations(tx);
}

/** Ends the approvals that are pending, or approved but not executed. Their subjects are refused. */
async function endApprovals({ config }: Ctx, tx: Tx): Promise<void> {
  const open = await tx.org.sql<ApprovalRow>(
    `select * from approvals where organization_id = :org and status in ('pending', 'approved') order by id`,
  );
  for (const approval of open) {
    const subject = subjectOf(tx, approval.subject_type);
    const locked: unknown = await subject.lock(tx, approval);
    const isEnded = await endApproval(tx, approval.id, message('approval.workspace_ends'));
    if (isEnded && locked !== undefined) await subject.refused(tx, locked, approval, 'revoked', config);
  }
}

/**
 * Refuses the deletion of a workspace that pays or may still have to pay for mailboxes, or that has a refund due.
 * @throws AppError conflict naming the orders
 */
export async function assertNothingOwed(tx: Tx): Promise<void> {
  const owed = await tx.org.sql<Columns<'mailbox_orders', 'id'>>(
    `select o.id from mailbox_orders o
     where o.organization_id = :org and (o.under_way or o.state not in ('failed', 'cancelled')
       or exists (select from order_steps s where s.order_id = o.id and s.state in ('running', 'done', 'compensating', 'needs_person'))
       or exists (select from managed_domains d where d.order_id = o.id and d.state = 'active'))
     union
     select p.subject_id from payments p where p.organization_id = :org and (p.state in ('open', 'refund_due', 'needs_person')
       or (p.state in ('paid', 'refunded') and p.provider_subscription_id is not null and p.subscription_ended_at is null))
     order by 1 limit ${MAX_NAMED}`,
  );
  if (owed.length === 0) return;
  const problems: Problem[] = owed.map(({ id }) => ({ path: `orders.${id}`, message: message('deletion.order_open') }));
  throw new AppError('conflict', message('deletion.orders_open', { count: owed.length }), {
    problems,
    fix: message('deletion.orders_open.fix'),
  });
}
