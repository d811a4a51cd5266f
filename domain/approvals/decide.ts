import type { ApprovalContent } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import { may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { endApproval } from './expire.ts';
import { hashContent } from './payload.ts';
import { signalSubject, type SubjectType } from './subjects.ts';
import { approvalEvent, approvalStatus, findApproval } from './view.ts';
import { message } from '../../messages/index.ts';

/** A person's decision. */
interface Decision {
  decision: 'approved' | 'denied';
  /** For the record and for who asked; empty is none. */
  reason?: string | undefined;
}

/**
 * A kind of subject whose approved action the decision carries out, in its transaction. Other kinds have a workflow that waits for the
 * decision (subjects.ts).
 */
export interface ApprovalSubject<Locked = any> {
  type: SubjectType;
  /** Codes with which carrying it out is refused. */
  refusals: readonly ErrorCode[];
  /** Locks the subject. Every other change of it takes this lock before the approval's. */
  lock(tx: Tx, subjectId: string): Promise<Locked>;
  /** The content of this moment, which is compared with the one that the person saw. */
  content(tx: Tx, subject: Locked, approval: ApprovalRow, config: Config): Promise<ApprovalContent>;
  /** Carries it out, or throws one of its refusals: then the decision is not taken either. */
  execute(tx: Tx, subject: Locked, approval: ApprovalRow): Promise<void>;
  /** Notes that it does not happen: a person denied it, or it has changed since it was asked for. */
  refused(tx: Tx, subject: Locked, approval: ApprovalRow, why: 'denied' | 'changed'): Promise<void>;
}

/**
 * Takes a person's decision on an approval, once and before it expires, and carries out what it allows where the subject has no workflow of its own
 * (POST /approvals/:id/decision). PostgreSQL says which of two decisions, or of a decision and the expiry, was first.
 * @returns the approval; executed where its action was carried out, expired where the subject has changed since it was asked for
 * @throws AppError forbidden, not_found, conflict when it was decided before or its time has passed; the refusals of the subject
 */
export async function decideApproval(
  ctx: Ctx,
  subjects: readonly ApprovalSubject[],
  id: string,
  decision: Decision,
): Promise<ApprovalRow> {
  if (ctx.actor.kind !== 'session' || !may(ctx.actor, [], ['send_campaigns']))
    throw new AppError('forbidden', message('approval.people_only'));
  return transact(ctx, async (tx) => {
    const found = await findApproval(tx.org, id);
    const subject = found.status === 'pending' ? subjects.find(({ type }) => type === found.subject_type) : undefined;
    const locked: unknown = await subject?.lock(tx, found.subject_id);
    const decided = await storeDecision(tx, id, decision);
    if (!subject) return decided;
    if (decided.status !== 'approved') {
      await subject.refused(tx, locked, decided, 'denied');
      return decided;
    }
    const content = await subject.content(tx, locked, decided, ctx.config);
    if ((await executeApproval(tx, id, content)) === 'executed') await subject.execute(tx, locked, decided);
    else await subject.refused(tx, locked, decided, 'changed');
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
  const intent = signalSubject(tx.families, decided, decision);
  if (intent) tx.intend(intent);
  return decided;
}

function tooLate(approval: ApprovalRow, now: Date): AppError {
  const status = approvalStatus(approval, now);
  if (status === 'expired')
    return new AppError('conflict', message('approval.expired'), { fix: message('approval.expired.fix') });
  return new AppError('conflict', message(`approval.already_${status}`));
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
