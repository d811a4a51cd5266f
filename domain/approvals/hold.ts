import type { JsonObject, PolicyReason } from '../../db/json-columns.ts';
import type { Capability } from '../../db/models/agent-policy.ts';
import { Approvals, type ApprovalRow } from '../../db/models/approval.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { start } from '../../temporal/dispatch.ts';
import { approvalMailWorkflow } from '../../workflows/approval-mail/contract.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import type { Requester } from './authorize.ts';
import { endApproval } from './expire.ts';
import { approvalUrl } from './link.ts';
import { hashContent, MAX_SAMPLES } from './payload.ts';
import type { SubjectType } from '../platform/kernel/approval-subjects.ts';
import type { ApprovalSubject } from '../platform/kernel/tx.ts';
import { requesterOf } from './standing.ts';
import { approvalEvent, approvalStatus, noDecision } from './view.ts';
import { message, type Message } from '../../messages/index.ts';

interface SubjectId {
  type: SubjectType;
  id: string;
}

/** An action that waits for a person's approval. */
export interface AwaitingApproval<Subject = any> {
  requester: Requester;
  capability: Capability;
  subject: ApprovalSubject<Subject>;
  subjectId: string;
  /** Reasons why {@link authorizeAction} did not allow the action. */
  reasons: readonly PolicyReason[];
  /** The subject as returned by its `lock` function. Its `content` is shown to the person who decides. */
  locked: Subject;
  /**
   * Report of checks, which is shown to the approver. It is not part of the hash, because the checks are repeated
   * before the action is executed.
   */
  preflight?: JsonObject | null;
}

/**
 * Creates an approval. A person decides about the current content of its subject. A subject has at most one open
 * approval. A repeated request with the same content returns that approval. A request with other content ends it and
 * creates a new one. Approvers are notified by the event and by email, which the workflow `approval-mail/{approvalId}`
 * sends.
 * @param config settings for the time to decide, and for the base URL of the link in the event
 */
export async function holdForApproval<Subject>(
  tx: Tx,
  config: Config,
  held: AwaitingApproval<Subject>,
): Promise<ApprovalRow> {
  const { subject, subjectId } = held;
  const content = await subject.content(tx, held.locked, config);
  if (!content) throw new Error(`a part of the ${subject.type} is deleted`);
  if (content.samples.length > MAX_SAMPLES) throw new Error(`more than ${MAX_SAMPLES} samples`);
  const payloadHash = hashContent(content);
  // Locks the subject's approvals, so that the second of two concurrent requests sees the approval of the first.
  await tx.org.lock(`approval ${subject.type} ${subjectId}`);
  const open = await openApproval(tx, { type: subject.type, id: subjectId });
  if (open?.payload_hash === payloadHash && approvalStatus(open, tx.now) !== 'expired') return open;
  if (open) {
    const isOver = approvalStatus(open, tx.now) === 'expired';
    await endApproval(tx, open.id, isOver ? noDecision(open) : message('approval.asked_again'));
  }
  const { apiKeyId, oauthGrantId } = held.requester;
  if (!apiKeyId && !oauthGrantId) throw new Error('only the action of a key or an application waits for approval');
  const approval = await tx.org.create(Approvals, {
    id: newId(),
    action_type: held.capability,
    subject_type: subject.type,
    subject_id: subjectId,
    api_key_id: apiKeyId ?? null,
    oauth_grant_id: apiKeyId ? null : oauthGrantId!,
    requester_name: await requesterName(tx, held.requester),
    reasons: [...held.reasons],
    payload: content,
    payload_hash: payloadHash,
    preflight: held.preflight ?? null,
    created_at: tx.now,
    expires_at: new Date(tx.now.getTime() + config.APPROVAL_EXPIRES_MS),
  });
  await tx.org.sql('insert into approval_notices (approval_id, organization_id) values (:id, :org)', {
    id: approval.id,
  });
  tx.intend(start(approvalMailWorkflow, { organizationId: tx.org.organizationId, approvalId: approval.id }));
  tx.emit('approval.requested', {
    ...approvalEvent(approval),
    expires_at: approval.expires_at.toISOString(),
    approval_url: approvalUrl(config, approval.id),
  });
  tx.audit({
    action: 'approval.requested',
    entityType: 'approval',
    entityId: approval.id,
    metadata: { action_type: held.capability, subject_type: subject.type, subject_id: subjectId },
  });
  return approval;
}

/**
 * Creates another approval for a subject whose emails differ from the approved content.
 * @param approval earlier approval, whose requester must still be valid
 * @param again.fields names of the fields that differ
 */
export function holdAgain<Subject>(
  tx: Tx,
  config: Config,
  approval: ApprovalRow,
  again: Pick<AwaitingApproval<Subject>, 'subject' | 'subjectId' | 'locked'> & { fields: string[] },
): Promise<ApprovalRow> {
  const { fields, ...held } = again;
  return holdForApproval(tx, config, {
    ...held,
    requester: requesterOf(approval),
    capability: approval.action_type,
    reasons: [{ code: 'content_changed', message: message('approval_reason.fields_changed', { fields }) }],
  });
}

/**
 * Ends the approval of a subject that no longer needs it, because the subject was cancelled, deleted, or executed by a
 * person. The caller must signal the subject's workflow.
 * @returns false if no approval was pending or approved
 */
export async function withdrawApproval(tx: Tx, subject: SubjectId, why: Message): Promise<boolean> {
  const open = await openApproval(tx, subject);
  return open ? endApproval(tx, open.id, why) : false;
}

/** Returns the approval of a subject that is pending, or approved but not executed. */
async function openApproval(tx: Tx, subject: SubjectId): Promise<ApprovalRow | undefined> {
  return tx.org
    .query(Approvals)
    .where({ subject_type: subject.type, subject_id: subject.id })
    .whereIn('status', ['pending', 'approved'])
    .orderBy('id', 'desc')
    .first();
}

async function requesterName(tx: Tx, { apiKeyId, oauthGrantId }: Requester): Promise<string> {
  const [found] = apiKeyId
    ? await tx.org.sql<{ name: string }>('select name from api_keys where organization_id = :org and id = :id', {
        id: apiKeyId,
      })
    : await tx.org.sql<{ name: string }>(
        `select a.name from oauth_grants g join oauth_applications a on a.id = g.application_id
         where g.organization_id = :org and g.id = :id`,
        { id: oauthGrantId! },
      );
  if (!found) throw new AppError('unauthorized', message('approval.credential_gone'));
  return found.name;
}
