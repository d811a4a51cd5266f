import type { ApprovalRow } from '../../db/models/approval.ts';
import { signal, type Intent } from '../../temporal/dispatch.ts';
import type { ApprovalSignals, WorkflowContract } from '../../workflows/contract.ts';
import { runWorkflow } from '../../workflows/run/contract.ts';
import { directSendWorkflow } from '../../workflows/direct-send/contract.ts';

/** What can wait for a person. */
export type SubjectType = ApprovalRow['subject_type'];

/** The workflow of a kind of subject: its contract, and the part of its id that is the subject's id. */
interface SubjectWorkflow {
  contract: WorkflowContract<any, ApprovalSignals>;
  part: string;
}

/**
 * Which workflow waits for the decision on a subject. A family whose runs wait for approvals takes the signal `decided`
 * ({@link ApprovalSignals}) and has a line here. A signal starts a run that was lost: the run reads its state from PostgreSQL.
 */
const WORKFLOWS: Partial<Record<SubjectType, SubjectWorkflow>> = {
  run: { contract: runWorkflow, part: 'runId' },
  direct_send: { contract: directSendWorkflow, part: 'directSendId' },
};

/** What tells the workflow of a subject that its approval ended; null where the kind of subject has none. */
export function signalSubject(
  approval: Pick<ApprovalRow, 'id' | 'organization_id' | 'subject_type' | 'subject_id'>,
  status: ApprovalSignals['decided']['status'],
): Intent | null {
  const workflow = WORKFLOWS[approval.subject_type];
  if (!workflow) return null;
  const args = { organizationId: approval.organization_id, [workflow.part]: approval.subject_id };
  return signal(workflow.contract, args, 'decided', { approvalId: approval.id, status });
}
