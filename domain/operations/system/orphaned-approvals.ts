import { endApproval } from '../../approvals/expire.ts';
import { endInPages } from '../../approvals/sweep.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { message } from '../../../messages/index.ts';

/**
 * SQL condition: no process will execute the given approval. The decision carries out every action except the launch of
 * a run, which the run's workflow does. A run and its approval end in one transaction. So committed rows that
 * contradict this come from a manual repair, and no process will settle them.
 */
const ORPHANED = `not exists (
  select from runs r where a.subject_type = 'run' and r.id = a.subject_id and r.approval_id = a.id and r.state = 'launching')`;

/**
 * Ends given approvals of the whole installation that no process will execute. Signals no workflow, because none waits.
 * @returns the number of ended approvals
 */
export function endOrphanedApprovals(deps: Deps): Promise<number> {
  // Joined by workspace to use the index on the state: old decided approvals are many, approved ones few.
  const rows = `organizations o join approvals a on a.organization_id = o.id and a.status = 'approved' where ${ORPHANED}`;
  return endInPages(deps, { rows, bindings: {} }, (tx, id) => endApproval(tx, id, message('approval.not_carried_out')));
}
