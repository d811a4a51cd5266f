import { endApproval } from '../../approvals/expire.ts';
import { endInPages } from '../../approvals/sweep.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { message } from '../../../messages/index.ts';

/**
 * SQL condition that no process will execute an approved action. Approving executes every action at once, except the
 * launch of a run, which its workflow executes. A run and its approval end in one transaction. So other approved rows
 * come from a manual repair, and no process will settle them.
 */
const ORPHANED = `not exists (
  select from runs r where a.subject_type = 'run' and r.id = a.subject_id and r.approval_id = a.id and r.state = 'launching')`;

/**
 * Ends approvals of the whole installation that were given but that no process will execute. Signals no workflow,
 * because none waits for them.
 * @returns the number of ended approvals
 */
export function endOrphanedApprovals(deps: Deps): Promise<number> {
  // The join by workspace makes PostgreSQL use the index on the state, because there are many decided approvals but few
  // approved ones.
  const rows = `organizations o join approvals a on a.organization_id = o.id and a.status = 'approved' where ${ORPHANED}`;
  return endInPages(deps, { rows, bindings: {} }, (tx, id) => endApproval(tx, id, message('approval.not_carried_out')));
}
