import { Approvals, type ApprovalRow } from '../../db/models/approval.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { message, type Message } from '../../messages/index.ts';

export type { ApprovalRow };

/**
 * Returns the status of an approval at a time. A pending approval is expired as soon as its time has passed, even if
 * this is not yet stored.
 */
export function approvalStatus(approval: Pick<ApprovalRow, 'status' | 'expires_at'>, now: Date): ApprovalRow['status'] {
  return approval.status === 'pending' && approval.expires_at <= now ? 'expired' : approval.status;
}

/**
 * Returns why an approval ended: the note of the person who decided, or the reason why it ended without a decision.
 * Null while the approval is open, and for a decision without a note.
 */
export function endReason(approval: ApprovalRow, now: Date): Message | null {
  return approval.reason ?? (approvalStatus(approval, now) === 'expired' ? noDecision(approval) : null);
}

/** Returns the reason of an approval that expired without a decision. */
export function noDecision({ expires_at: at }: Pick<ApprovalRow, 'expires_at'>): Message {
  return message('approval.no_decision', { at: at.toISOString() });
}

/**
 * Returns one approval as it is stored. Its current status is given by {@link approvalStatus}.
 * @throws AppError not_found
 */
export async function findApproval(org: OrgScope, id: string): Promise<ApprovalRow> {
  const approval = isUuid(id) ? await org.query(Approvals).findById(id) : undefined;
  if (!approval) throw notFound('approval');
  return approval;
}

/** Returns the newest approval of a subject, in any status, or undefined if the subject has none. */
export function approvalOfSubject(
  org: OrgScope,
  subjectType: ApprovalRow['subject_type'],
  subjectId: string,
): Promise<ApprovalRow | undefined> {
  return org.query(Approvals).where({ subject_type: subjectType, subject_id: subjectId }).orderBy('id', 'desc').first();
}

/** Returns the common fields of an approval's events: ids and kinds. */
export function approvalEvent(approval: ApprovalRow) {
  const { id, action_type, subject_type, subject_id, api_key_id, oauth_grant_id } = approval;
  return { approval_id: id, action_type, subject_type, subject_id, api_key_id, oauth_grant_id };
}
