import { endApproval } from '../../approvals/expire.ts';
import { endInPages } from '../../approvals/sweep.ts';
import type { Deps } from '../../platform/kernel/context.ts';

/** Why such an approval ended, as its record and its event say. */
const NOT_CARRIED_OUT = 'What was approved ended before it was carried out';

/**
 * An approval that was given has nothing left that could carry it out. The decision carries out everything but the launch of a
 * run, which its workflow does. A run is settled and its approval ended in one transaction, so committed rows that disagree
 * come from a repair by hand; none of them comes back.
 */
const ORPHANED = `not exists (
  select from runs r where a.subject_type = 'run' and r.id = a.subject_id and r.approval_id = a.id and r.state = 'launching')`;

/**
 * Ends approvals of the whole installation that a person gave and that nothing will carry out. No workflow is signalled: none waits.
 * @returns how many
 */
export function endOrphanedApprovals(deps: Deps): Promise<number> {
  // By workspace, as the index of one state is: approvals that were decided long ago are many, approved ones few.
  const rows = `organizations o join approvals a on a.organization_id = o.id and a.status = 'approved' where ${ORPHANED}`;
  return endInPages(deps, { rows, bindings: {} }, (tx, id) => endApproval(tx, id, NOT_CARRIED_OUT));
}
