import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { NO_DECISION } from './link.ts';
import { signalSubject, type SubjectType } from './subjects.ts';
import { approvalEvent } from './view.ts';

/**
 * Ends an approval whose time has passed without a decision. The workflow of the subject is signalled, unless it is the one that asks.
 * @returns false when there is nothing to end: it was decided, ended before, or still has time
 */
export async function expireApproval(tx: Tx, id: string, { signalled = true } = {}): Promise<boolean> {
  const [ended] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'expired', reason = :why
     where organization_id = :org and id = :id and status = 'pending' and expires_at <= :now returning *`,
    { id, why: NO_DECISION, now: tx.now },
  );
  if (ended) announce(tx, ended, { signalled });
  return ended !== undefined;
}

/**
 * {@link expireApproval} for many at once, whose subjects the caller has locked and carries on itself: no workflow is signalled.
 * @returns the ids of those that ended now
 */
export async function expireApprovals(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const ended = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'expired', reason = :why
     where organization_id = :org and id = any(:ids::uuid[]) and status = 'pending' and expires_at <= :now returning *`,
    { ids, why: NO_DECISION, now: tx.now },
  );
  for (const approval of ended) announce(tx, approval, { signalled: false });
  return ended.map(({ id }) => id);
}

/**
 * Ends the approval of a subject that no longer waits for it: cancelled, deleted, or done by a person meanwhile. One that was approved and is not carried out yet ends too:
 * nothing else would end it.
 * Its workflow is not signalled: who withdraws has told it what happened.
 * @returns false when none was pending or approved
 */
export async function withdrawApproval(
  tx: Tx,
  subject: { type: SubjectType; id: string },
  why: string,
): Promise<boolean> {
  const [open] = await tx.org.sql<{ id: string }>(
    `select id from approvals where organization_id = :org and subject_type = :type and subject_id = :subject and status in ('pending', 'approved')
     order by id desc limit 1`,
    { type: subject.type, subject: subject.id },
  );
  return open ? endApproval(tx, open.id, why, { signalled: false }) : false;
}

/**
 * Ends an approval that is pending, or approved and not carried out.
 * @returns false when it had ended before
 */
export async function endApproval(
  tx: Tx,
  id: string,
  why: string,
  { signalled }: { signalled: boolean },
): Promise<boolean> {
  const [ended] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'expired', reason = :why
     where organization_id = :org and id = :id and status in ('pending', 'approved') returning *`,
    { id, why },
  );
  if (ended) announce(tx, ended, { signalled });
  return ended !== undefined;
}

function announce(tx: Tx, approval: ApprovalRow, { signalled }: { signalled: boolean }): void {
  tx.emit('approval.expired', { ...approvalEvent(approval), reason: approval.reason! });
  const intent = signalled ? signalSubject(tx.families, approval, 'expired') : null;
  if (intent) tx.intend(intent);
}
