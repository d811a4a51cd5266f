import { across } from '../../db/across.ts';
import type { Bindings } from '../../db/statement.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { systemCtx, type Deps } from '../kernel/context.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import { expireApproval } from './expire.ts';

const PAGE = 500;

/** Ends approvals whose time has passed and that no workflow ended, of the whole installation; their workflows are signalled. Returns how many. */
export function sweepApprovals(deps: Deps): Promise<number> {
  const due = {
    rows: `approvals a where a.status = 'pending' and a.expires_at <= :now`,
    bindings: { now: deps.clock.now() },
  };
  return endInPages(deps, due, expireApproval);
}

/**
 * Ends approvals of the whole installation, in the order of their ids, each in a transaction of its own.
 * @param due the rows `a` and their conditions, as after `from`, and the bindings of these
 * @param end whether it ended the approval: somebody else may have meanwhile
 * @returns how many were ended
 */
export async function endInPages(
  deps: Deps,
  { rows, bindings }: { rows: string; bindings: Bindings },
  end: (tx: Tx, approvalId: string) => Promise<boolean>,
): Promise<number> {
  let ended = 0;
  let after = ZERO_UUID;
  for (;;) {
    const page = await across(deps.db, 'maintenance').sql<{ id: string; organization_id: string }>(
      `select a.id, a.organization_id from ${rows} and a.id > :after order by a.id limit ${PAGE}`,
      { ...bindings, after },
    );
    for (const { id, organization_id: organizationId } of page)
      if (await transact(systemCtx(deps, organizationId, 'sweep'), (tx) => end(tx, id))) ended += 1;
    if (page.length < PAGE) return ended;
    after = page.at(-1)!.id;
  }
}
