import type { ApprovalContent } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import { AppError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { endApproval } from './expire.ts';
import { hashContent } from './payload.ts';
import { signalSubject } from './subjects.ts';
import { approvalEvent, approvalStatus, findApproval } from './view.ts';

/** A person's decision. */
export interface Decision {
  decision: 'approved' | 'denied';
  /** For the record and for who asked; empty is none. */
  reason?: string | undefined;
}

/**
 * Decides an approval, once and before it expires; PostgreSQL says which of two decisions, or of a decision and the expiry, was
 * first (POST /approvals/:id/decision). Only a signed-in person who may send decides.
 * @throws AppError forbidden, not_found, conflict when it was decided before or its time has passed
 */
export async function decideApproval(ctx: Ctx, id: string, { decision, reason }: Decision): Promise<ApprovalRow> {
  if (ctx.actor.kind !== 'session' || !may(ctx.actor, [], ['send_campaigns']))
    throw new AppError('forbidden', 'Only a signed-in person whose role may send can decide on an approval');
  return transact(ctx, async (tx) => {
    const [decided] = isUuid(id)
      ? await tx.org.sql<ApprovalRow>(
          `update approvals set status = :decision, decided_by = :person, decided_at = :now, reason = nullif(:reason, '')
           where organization_id = :org and id = :id and status = 'pending' and expires_at > :now returning *`,
          { id, decision, person: ctx.actor.userId, reason: reason ?? '', now: tx.now },
        )
      : [];
    if (!decided) throw tooLate(await findApproval(tx.org, id), tx.now);
    tx.emit('approval.decided', {
      ...approvalEvent(decided),
      status: decision,
      decided_by: decided.decided_by,
      decided_at: tx.now.toISOString(),
    });
    tx.audit({
      action: `approval.${decision}`,
      entityType: 'approval',
      entityId: decided.id,
      metadata: {
        action_type: decided.action_type,
        subject_type: decided.subject_type,
        subject_id: decided.subject_id,
        payload_hash: decided.payload_hash,
      },
    });
    const intent = signalSubject(decided, decision);
    if (intent) tx.intend(intent);
    return decided;
  });
}

function tooLate(approval: ApprovalRow, now: Date): AppError {
  const status = approvalStatus(approval, now);
  if (status === 'expired')
    return new AppError('conflict', 'The approval has expired', { fix: 'Ask for the action again.' });
  return new AppError('conflict', `The approval has been decided: it is ${status}`);
}

/**
 * Marks an approved action as carried out, in the transaction that carries it out. The content is that of this moment: when it
 * is not what the person saw, the approval ends, and the subject needs another.
 * @returns `changed` and `not_approved` say that the action must not happen
 */
export async function executeApproval(
  tx: Tx,
  id: string,
  content: ApprovalContent,
): Promise<'executed' | 'changed' | 'not_approved'> {
  const [executed] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'executed', executed_at = :now
     where organization_id = :org and id = :id and status = 'approved' and payload_hash = :hash returning *`,
    { id, hash: hashContent(content), now: tx.now },
  );
  if (!executed) {
    const { status } = await findApproval(tx.org, id);
    if (status !== 'approved') return 'not_approved';
    await endApproval(tx, id, 'What was approved has changed since', { signalled: false });
    return 'changed';
  }
  tx.emit('approval.executed', approvalEvent(executed));
  tx.audit({
    action: 'approval.executed',
    entityType: 'approval',
    entityId: executed.id,
    metadata: { subject_type: executed.subject_type, subject_id: executed.subject_id },
  });
  return 'executed';
}
