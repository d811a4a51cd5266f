import { endApproval } from '../../approvals/expire.ts';
import { endInPages } from '../../approvals/sweep.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { QUOTE_MS } from '../../billing/mailbox-orders/quote.ts';

/** Why such an approval ended, as its record and its event say. */
const NOT_CARRIED_OUT = 'What was approved ended before it was carried out';

/**
 * Whether an approval that was given has nothing left that could carry it out. A subject is settled and its approval ended in one transaction,
 * so committed rows that disagree come from a repair by hand; none of them comes back.
 * - A run carries it out while it waits or launches, and an email while it waits: both by the approval that they name.
 * - An order does when its quote is sent again, which must be within its time.
 * - The start of a campaign is one transaction with the decision, so an approval of one is never found approved.
 */
const ORPHANED = `case a.subject_type
    when 'run' then not exists (
      select from runs r where r.id = a.subject_id and r.approval_id = a.id and r.state in ('awaiting_approval', 'launching'))
    when 'direct_send' then not exists (
      select from direct_sends d where d.id = a.subject_id and d.approval_id = a.id and d.state = 'awaiting_approval')
    when 'mailbox_order' then not exists (
      select from mailbox_quotes q where q.order_id = a.subject_id and q.consumed_at is null
        and greatest(q.expires_at, a.decided_at + :quoteMs * interval '1 millisecond') > :now)
    else true
  end`;

/**
 * Ends approvals of the whole installation that a person gave and that nothing will carry out: their subject ended without them, or the
 * quote that they were for is out of time. No workflow is signalled: none waits. What a workflow still waits for is left alone.
 * @returns how many
 */
export function endOrphanedApprovals(deps: Deps): Promise<number> {
  // By workspace, as the index of one state is: approvals that were decided long ago are many, approved ones few.
  const rows = `organizations o join approvals a on a.organization_id = o.id and a.status = 'approved' where ${ORPHANED}`;
  const bindings = { now: deps.clock.now(), quoteMs: QUOTE_MS };
  return endInPages(deps, { rows, bindings }, (tx, id) => endApproval(tx, id, NOT_CARRIED_OUT, { signalled: false }));
}
