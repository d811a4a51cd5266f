import type { ApprovalRow } from '../../db/models/approval.ts';
import type { ApprovalSubject, Tx } from '../platform/kernel/tx.ts';

/** Kinds of subjects that can wait for a person. */
export type SubjectType = ApprovalRow['subject_type'];

/** Returns the implementation of a kind of subject, which its durable family declares. */
export function subjectOf(tx: Pick<Tx, 'families'>, type: SubjectType): ApprovalSubject {
  const subject = tx.families.find(({ approval }) => approval?.type === type)?.approval;
  if (!subject) throw new Error(`no family declares the subject ${type}`);
  return subject;
}
