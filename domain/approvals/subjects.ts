import type { ApprovalRow } from '../../db/models/approval.ts';
import { signal, type Intent } from '../../temporal/dispatch.ts';
import type { ApprovalSignals } from '../../workflows/contract.ts';
import type { DurableFamily } from '../platform/kernel/tx.ts';

/** What can wait for a person. */
export type SubjectType = ApprovalRow['subject_type'];

/**
 * The signal `decided` ({@link ApprovalSignals}) to the workflow of a subject; null where no family waits for decisions on
 * this kind. It starts a run that was lost: the run reads its state from PostgreSQL.
 */
export function signalSubject(
  families: readonly DurableFamily[],
  approval: Pick<ApprovalRow, 'id' | 'organization_id' | 'subject_type' | 'subject_id'>,
  status: ApprovalSignals['decided']['status'],
): Intent | null {
  const contract = families.find((family) => family.approval === approval.subject_type)?.contract;
  if (!contract) return null;
  const args = { organizationId: approval.organization_id, [contract.parts[0]!]: approval.subject_id };
  return signal(contract, args, 'decided', { approvalId: approval.id, status });
}
