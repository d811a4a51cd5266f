import { endApproval } from '../../approvals/expire.ts';
import { endInPages } from '../../approvals/sweep.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { message } from '../../../messages/index.ts';

/**
 * SQL condition: no process will execute the approved action. Every action is executed together with its approval,
 * except the launch of a run, which the run's workflow executes later. A run and its approval end in one transaction.
 * Other approved rows can only result from a manual repair.
 */
const ORPHANED = `not exists (
  select from runs r where a.subject_type = 'run' and r.id = a.subject_id and r.approval_id = a.id and r.state = 'launching')`;

/**
 * Ends approved actions of the whole installation that no process will execute. Signals no workflow, because no
 * workflow waits for them.
 * @returns the number of ended approvals
 */
export function endOrphanedApprovals(deps: Deps): Promise<number> {
  // Joins the organizations so that PostgreSQL uses the index on the state. There are many decided approvals, but few
  // in state `approved`.
  const rows = `organizations o join approvals a on a.organization_id = o.id and a.status = 'approved' where ${ORPHANED}`;
  return endInPages(deps, { rows, bindings: {} }, (tx, id) => endApproval(tx, id, message('approval.not_carried_out')));
}
