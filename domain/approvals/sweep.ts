import { across } from '../../db/across.ts';
import { systemCtx, type Deps } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';
import { expireApproval } from './expire.ts';

const PAGE = 500;

/**
 * Ends approvals whose time has passed and that no workflow ended, of the whole installation; their workflows are signalled.
 * @param onPage called after each page with the approvals ended so far
 */
export async function sweepApprovals(deps: Deps, onPage: (ended: number) => void = () => {}): Promise<number> {
  let ended = 0;
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const due = await across(deps.db, 'maintenance').sql<{ id: string; organization_id: string }>(
      `select id, organization_id from approvals where status = 'pending' and expires_at <= :now and id > :after order by id limit ${PAGE}`,
      { now: deps.clock.now(), after },
    );
    for (const { id, organization_id: organizationId } of due)
      if (await transact(systemCtx(deps, organizationId, 'sweep'), (tx) => expireApproval(tx, id))) ended += 1;
    onPage(ended);
    if (due.length < PAGE) return ended;
    after = due.at(-1)!.id;
  }
}
