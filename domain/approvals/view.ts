import { Approvals, type ApprovalRow } from '../../db/models/approval.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { isUuid } from '../../lib/ids.ts';
import { notFound } from '../../lib/errors.ts';

export type { ApprovalRow };

/** The state of an approval at a moment: one that is pending reads as expired as soon as its time has passed. */
export function approvalStatus(approval: Pick<ApprovalRow, 'status' | 'expires_at'>, now: Date): ApprovalRow['status'] {
  return approval.status === 'pending' && approval.expires_at <= now ? 'expired' : approval.status;
}

/**
 * One approval as stored; {@link approvalStatus} says its state at the moment.
 * @throws AppError not_found
 */
export async function findApproval(org: OrgScope, id: string): Promise<ApprovalRow> {
  const approval = isUuid(id) ? await org.query(Approvals).findById(id) : undefined;
  if (!approval) throw notFound('approval');
  return approval;
}

/** The newest approval of a subject, in whatever state; undefined when it never needed one. */
export function approvalOfSubject(
  org: OrgScope,
  subjectType: ApprovalRow['subject_type'],
  subjectId: string,
): Promise<ApprovalRow | undefined> {
  return org.query(Approvals).where({ subject_type: subjectType, subject_id: subjectId }).orderBy('id', 'desc').first();
}

/** What the events of an approval have in common: ids and kinds. */
export function approvalEvent(approval: ApprovalRow) {
  const { id, action_type, subject_type, subject_id, api_key_id, oauth_grant_id } = approval;
  return { approval_id: id, action_type, subject_type, subject_id, api_key_id, oauth_grant_id };
}
