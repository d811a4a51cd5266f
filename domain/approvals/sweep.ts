import { across } from '../../db/across.ts';
import type { Bindings } from '../../db/statement.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { systemCtx, type Deps } from '../platform/kernel/context.ts';
import { forEachIsolated } from '../platform/kernel/for-each-isolated.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { expireApproval } from './expire.ts';

const PAGE = 500;

/**
 * Ends expired approvals of the whole installation that no workflow has ended, and refuses their subjects. Returns
 * their number.
 */
export function sweepApprovals(deps: Deps): Promise<number> {
  const due = {
    rows: `approvals a where a.status = 'pending' and a.expires_at <= :now`,
    bindings: { now: deps.clock.now() },
  };
  return endInPages(deps, due, (tx, id) => expireApproval(tx, id, deps.config));
}

/**
 * Ends approvals of the whole installation in the order of their ids, each in its own transaction. A failure does not
 * stop the others.
 * @param due SQL of the from and where clauses, in which `a` is the approval, and its bindings
 * @param end ends one approval; returns false if another transaction has ended it
 * @returns number of ended approvals
 * @throws AggregateError when some failed, after all others were ended
 */
export async function endInPages(
  deps: Deps,
  due: { rows: string; bindings: Bindings },
  end: (tx: Tx, approvalId: string) => Promise<boolean>,
): Promise<number> {
  let ended = 0;
  await forEachIsolated(deps, pages(deps, due), async ({ id, organization_id: organizationId }) => {
    if (await transact(systemCtx(deps, organizationId, 'sweep'), (tx) => end(tx, id))) ended += 1;
  });
  return ended;
}

async function* pages(
  { db }: Deps,
  { rows, bindings }: { rows: string; bindings: Bindings },
): AsyncGenerator<{ id: string; organization_id: string }> {
  for (let after = ZERO_UUID; ;) {
    const page = await across(db, 'maintenance').sql<{ id: string; organization_id: string }>(
      `select a.id, a.organization_id from ${rows} and a.id > :after order by a.id limit ${PAGE}`,
      { ...bindings, after },
    );
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}
