import { json } from '../../db/connection.ts';
import type { ApprovalContent } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError, badRequest, type Problem } from '../../lib/errors.ts';
import { may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact } from '../platform/kernel/transact.ts';
import type { ApprovalSubject, Tx } from '../platform/kernel/tx.ts';
import { assertHeld } from '../platform/rights.ts';
import { bindingOf } from '../sending/approved.ts';
import { endApproval } from './expire.ts';
import { grantAllowance } from './lead-allowances/grant.ts';
import { hashContent } from './payload.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { isRequesterValid } from './standing.ts';
import { approvalEvent, approvalStatus, findApproval } from './view.ts';
import { message } from '../../messages/index.ts';
import { externalText } from '../platform/external-text.ts';

interface Decision {
  decision: 'approved' | 'denied';
  /** Reason that is shown to the requester and stored in the audit log. May be empty. */
  reason?: string | undefined;
  /**
   * Number of leads that the key or application may from now on add to this campaign each day without a person's
   * approval. Allowed only for an approval of leads. Without it, only the leads of this approval are approved.
   */
  leadsPerDay?: number | undefined;
}

/**
 * Stores a person's decision on an approval, once and before it expires, and executes the approved action (POST
 * /approvals/:id/decision). If a workflow must execute the action, the workflow is signalled. The status is checked and
 * changed in one UPDATE, so only one of two concurrent decisions succeeds, and none succeeds after the expiry.
 * @returns the approval: executed if its action was executed, expired if the action has changed since it was requested
 * @throws AppError forbidden, also if the role may not do the action itself; not_found
 * @throws AppError bad_request for an allowance with a denial or with another approval than one of leads
 * @throws AppError conflict when it was already decided or has expired; the errors of the subject
 */
export async function decideApproval(ctx: Ctx, id: string, decision: Decision): Promise<ApprovalRow> {
  if (ctx.actor.kind !== 'session' || !may(ctx.actor, [], ['send_campaigns']))
    throw new AppError('forbidden', message('approval.people_only'));
  return transact(ctx, async (tx) => {
    const found = await findApproval(tx.org, id);
    await assertMayDecide(tx, found, decision);
    const subject = subjectOf(tx, found.subject_type);
    const locked: unknown = found.status === 'pending' ? await subject.lock(tx, found) : undefined;
    const decided = await storeDecision(tx, id, decision);
    if (decided.status === 'denied') {
      if (locked !== undefined) await subject.refused(tx, locked, decided, 'denied', ctx.config);
      return decided;
    }
    if (locked !== undefined && subject.handOver) {
      await subject.handOver(tx, locked, decided);
      return decided;
    }
    if (locked === undefined) await endApproval(tx, id, message('approval.subject_gone'));
    else if ((await executeApproved(tx, subject, locked, decided, ctx.config)) && decision.leadsPerDay)
      await grantAllowance(tx, decided, decision.leadsPerDay);
    return findApproval(tx.org, id);
  });
}

/**
 * Lists problems of a decision that its schema cannot detect: a number of further leads is allowed only if leads are
 * approved.
 */
export function allowanceProblems(
  { subject_type: type }: Pick<ApprovalRow, 'subject_type'>,
  { decision, leadsPerDay }: Partial<Pick<Decision, 'decision' | 'leadsPerDay'>>,
): Problem[] {
  const isPossible = decision !== 'denied' && type === 'campaign_leads';
  return leadsPerDay === undefined || isPossible
    ? []
    : [{ path: 'body.leads_per_day', message: message('field.leads_only') }];
}

/**
 * Refuses an approval by a person who may not perform the action, and a number of further leads where it is not
 * allowed. Everybody who may send can deny an action.
 * @throws AppError forbidden, bad_request
 */
async function assertMayDecide(tx: Tx, approval: ApprovalRow, decision: Decision): Promise<void> {
  const problems = allowanceProblems(approval, decision);
  if (problems.length > 0) throw badRequest(message('approval.allowance_of_leads'), problems);
  if (decision.decision === 'denied') return;
  await assertHeld(
    tx.org,
    tx.actor,
    { capabilities: [approval.action_type] },
    (beyond) => new AppError('forbidden', message('approval.beyond_role', { capabilities: beyond })),
  );
}

/** Maximum length (characters) of the note of a decision. */
const MAX_NOTE = 2000;

async function storeDecision(tx: Tx, id: string, { decision, reason }: Decision): Promise<ApprovalRow> {
  const [decided] = await tx.org.sql<ApprovalRow>(
    `update approvals set status = :decision, decided_by = :person, decided_at = :now, reason = cast(:reason as jsonb)
           where organization_id = :org and id = :id and status = 'pending' and expires_at > :now returning *`,
    {
      id,
      decision,
      person: tx.actor.userId,
      reason: reason ? json(externalText(reason, MAX_NOTE)) : null,
      now: tx.now,
    },
  );
  if (!decided) throw tooLateError(await findApproval(tx.org, id), tx.now);
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

function tooLateError(approval: ApprovalRow, now: Date): AppError {
  const status = approvalStatus(approval, now);
  if (status === 'expired')
    return new AppError('conflict', message('approval.expired'), { fix: message('approval.expired.fix') });
  return new AppError('conflict', message(`approval.already_${status}`));
}

/**
 * Executes the approved action of a locked subject. Its content must not have changed since the approver saw it, and
 * the key or application that requested it must still be valid. Otherwise the approval ends, and the subject is
 * refused. Called for the decision itself, and by a workflow that executes the action.
 * @returns true if the action was executed
 * @throws AppError an error of the subject
 */
export async function executeApproved<Subject>(
  tx: Tx,
  subject: ApprovalSubject<Subject>,
  locked: Subject,
  approval: ApprovalRow,
  config: Config,
): Promise<boolean> {
  if (!(await isRequesterValid(tx, approval))) {
    await endApproval(tx, approval.id, message('approval.credential_ended'));
    await subject.refused(tx, locked, approval, 'revoked', config);
    return false;
  }
  const content = await subject.content(tx, locked, config);
  if (content && (await markExecuted(tx, approval.id, content))) {
    await subject.execute(tx, locked, approval, config);
    return true;
  }
  await endApproval(tx, approval.id, message('approval.content_changed'));
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
