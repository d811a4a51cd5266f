import { across } from '../../db/across.ts';
import type { Bindings } from '../../db/statement.ts';
import { ZERO_UUID } from '../../lib/ids.ts';
import { systemCtx, type Deps } from '../platform/kernel/context.ts';
import { forEachIsolated } from '../platform/kernel/for-each-isolated.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { expireApproval } from './expire.ts';

const PAGE = 500;

/** Ends approvals of the whole installation whose time has passed and that no workflow ended; refuses their subjects. Returns how many. */
export function sweepApprovals(deps: Deps): Promise<number> {
  const due = {
    rows: `approvals a where a.status = 'pending' and a.expires_at <= :now`,
    bindings: { now: deps.clock.now() },
  };
  return endInPages(deps, due, (tx, id) => expireApproval(tx, id, deps.config));
}

/**
 * Ends approvals of the whole installation, in the order of their ids, each in a transaction of its own. One that cannot be ended keeps none of the others
 * from it.
 * @param due the rows `a` and their conditions, as after `from`, and the bindings of these
 * @param end whether it ended the approval: somebody else may have meanwhile
 * @returns how many were ended
 * @throws AggregateError when some could not be, once the others were
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
