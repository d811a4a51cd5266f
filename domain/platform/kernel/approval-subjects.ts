import type { ApprovalRow } from '../../../db/models/approval.ts';
import type { ApprovalSubject, Tx } from './tx.ts';

/** Kinds of actions that can wait for a person's approval. */
export type SubjectType = ApprovalRow['subject_type'];

/** Returns the implementation of a kind of action that can wait for approval. A durable family declares it. */
export function subjectOf(tx: Pick<Tx, 'families'>, type: SubjectType): ApprovalSubject {
  const subject = tx.families.find(({ approval }) => approval?.type === type)?.approval;
  if (!subject) throw new Error(`no family declares the subject ${type}`);
  return subject;
}
