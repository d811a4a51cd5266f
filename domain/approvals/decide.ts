import { json } from '../../db/connection.ts';
import type { ApprovalContent } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact } from '../platform/kernel/transact.ts';
import type { ApprovalSubject, Tx } from '../platform/kernel/tx.ts';
import { bindingOf } from '../sending/approved.ts';
import { endApproval } from './expire.ts';
import { hashContent } from './payload.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { isStanding } from './standing.ts';
import { approvalEvent, approvalStatus, findApproval } from './view.ts';
import { message } from '../../messages/index.ts';

/** A person's decision. */
interface Decision {
  decision: 'approved' | 'denied';
  /** For the record and for who asked; empty is none. */
  reason?: string | undefined;
}

/**
 * Takes a person's decision on an approval, once and before it expires, and carries out what it allows (POST /approvals/:id/decision). Where a
 * workflow has to carry it out, the action is handed to it. PostgreSQL says which of two decisions, or of a decision and the expiry, was first.
 * @returns the approval: executed where its action was carried out, expired where the action has changed since it was asked for
 * @throws AppError forbidden, not_found, conflict when it was decided before or its time has passed; the refusals of the subject
 */
export async function decideApproval(ctx: Ctx, id: string, decision: Decision): Promise<ApprovalRow> {
  if (ctx.actor.kind !== 'session' || !may(ctx.actor, [], ['send_campaigns']))
    throw new AppError('forbidden', message('approval.people_only'));
  return transact(ctx, async (tx) => {
    const found = await findApproval(tx.org, id);
    const subject = subjectOf(tx, found.subject_type);
    const locked: unknown = found.status === 'pending' ? await subject.lock(tx, found.subject_id) : undefined;
    const decided = await storeDecision(tx, id, decision);
    if (decided.status === 'denied') {
      if (locked !== undefined) await subject.refused(tx, locked, decided, 'denied', ctx.config);
      return decided;
    }
    if (locked !== undefined && subject.handOver) {
      await subject.handOver(tx, locked, decided);
      return decided;
    }
    if (locked === undefined) await endApproval(tx, id, 'What it was asked for is gone');
    else await carryOut(tx, subject, locked, decided, ctx.config);
    return findApproval(tx.org, id);
  });
}

async function storeDecision(tx: Tx, id: string, { decision, reason }: Decision): Promise<ApprovalRow> {
  const [decided] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = :decision, decided_by = :person, decided_at = :now, reason = nullif(:reason, '')
           where organization_id = :org and id = :id and status = 'pending' and expires_at > :now returning *`,
    { id, decision, person: tx.actor.userId, reason: reason ?? '', now: tx.now },
  );
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
  return decided;
}

function tooLate(approval: ApprovalRow, now: Date): AppError {
  const status = approvalStatus(approval, now);
  if (status === 'expired')
    return new AppError('conflict', message('approval.expired'), { fix: message('approval.expired.fix') });
  return new AppError('conflict', message(`approval.already_${status}`));
}

/**
 * Carries out an approved action of a locked subject, if it is still what the person saw and its credential can still be used; otherwise its approval
 * ends, and the subject is told why. For the decision itself, and for a workflow to which the action was handed over.
 * @returns whether it was carried out
 * @throws AppError a refusal of the subject
 */
export async function carryOut<Subject>(
  tx: Tx,
  subject: ApprovalSubject<Subject>,
  locked: Subject,
  approval: ApprovalRow,
  config: Config,
): Promise<boolean> {
  if (!(await isStanding(tx, approval))) {
    await endApproval(tx, approval.id, 'The credential that asked for it can no longer be used');
    await subject.refused(tx, locked, approval, 'revoked', config);
    return false;
  }
  const content = await subject.content(tx, locked, approval, config);
  if (content && (await markExecuted(tx, approval.id, content))) {
    await subject.execute(tx, locked, approval, config);
    return true;
  }
  await endApproval(tx, approval.id, 'What was approved has changed since');
  await subject.refused(tx, locked, approval, 'changed', config);
  return false;
}

async function markExecuted(tx: Tx, id: string, content: ApprovalContent): Promise<boolean> {
  const [executed] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = 'executed', executed_at = :now, binding = cast(:binding as jsonb)
     where organization_id = :org and id = :id and status = 'approved' and payload_hash = :hash returning *`,
    { id, hash: hashContent(content), binding: json(bindingOf(content)), now: tx.now },
  );
  if (!executed) return false;
  tx.emit('approval.executed', approvalEvent(executed));
  tx.audit({
    action: 'approval.executed',
    entityType: 'approval',
    entityId: executed.id,
    metadata: { subject_type: executed.subject_type, subject_id: executed.subject_id },
  });
  return true;
}
