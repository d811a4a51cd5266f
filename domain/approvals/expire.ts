import { json } from '../../db/connection.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { approvalEvent, endReason, findApproval } from './view.ts';
import type { Message } from '../../messages/index.ts';
import { codedReason } from '../platform/coded-reason.ts';
import { render } from '../../messages/render.ts';

/**
 * Ends an approval that expired without a decision, and refuses its subject.
 * @returns false if it has not expired or has already ended
 */
export async function expireApproval(tx: Tx, id: string, config: Config): Promise<boolean> {
  const found = await findApproval(tx.org, id);
  const subject = subjectOf(tx, found.subject_type);
  const locked: unknown = await subject.lock(tx, found);
  const [ended] = await expireApprovals(tx, [id]);
  if (ended && locked !== undefined) await subject.refused(tx, locked, ended, 'expired', config);
  return ended !== undefined;
}

/**
 * Ends the approvals that expired without a decision. The caller must have locked their subjects, and must then refuse
 * them.
 * @returns the approvals ended by this call
 */
export async function expireApprovals(tx: Tx, ids: readonly string[]): Promise<ApprovalRow[]> {
  const ended = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'expired'
     where organization_id = :org and id = any(:ids::uuid[]) and status = 'pending' and expires_at <= :now returning *`,
    { ids, now: tx.now },
  );
  for (const approval of ended) announce(tx, approval);
  return ended;
}

/**
 * Ends an approval that is pending, or approved but not executed. The caller must then update its subject.
 * @returns false if it had ended before
 */
export async function endApproval(tx: Tx, id: string, why: Message): Promise<boolean> {
  const [ended] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'expired', reason = cast(:why as jsonb)
     where organization_id = :org and id = :id and status in ('pending', 'approved') returning *`,
    { id, why: json(why) },
  );
  if (ended) announce(tx, ended);
  return ended !== undefined;
}

function announce(tx: Tx, approval: ApprovalRow): void {
  const reason = endReason(approval, tx.now)!;
  tx.emit('approval.expired', { ...approvalEvent(approval), reason: render(reason), ...codedReason(reason) });
}
