import type { ApprovalRow } from '../../db/models/approval.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';

/** Filter and page of a list of approvals. Without `status`, all approvals are listed. */
interface ApprovalFilter extends PageRequest {
  status?: ApprovalRow['status'] | undefined;
}

/**
 * SQL conditions by status. A pending approval past its expiry is listed as expired, even if the stored status is still
 * pending.
 */
const IN_STATE: Record<ApprovalRow['status'], string> = {
  pending: `status = 'pending' and expires_at > :now`,
  approved: `status = 'approved'`,
  denied: `status = 'denied'`,
  expired: `(status = 'expired' or status = 'pending' and expires_at <= :now)`,
  executed: `status = 'executed'`,
};

/** Lists the approvals of the organization, newest first (GET /approvals). */
export async function listApprovals(ctx: Ctx, { status, ...request }: ApprovalFilter): Promise<Page<ApprovalRow>> {
  const after = decodeIdCursor('approvals', status ?? null, request.cursor);
  const rows = await reader(ctx).sql<ApprovalRow>(
    `select * from approvals where organization_id = :org and ${status ? IN_STATE[status] : 'true'}
       and (cast(:after as uuid) is null or id < cast(:after as uuid))
     order by id desc limit :limit`,
    { now: ctx.clock.now(), after: after ?? null, limit: request.limit + 1 },
  );
  return pageOf(rows, request.limit, (last) => encodeCursor('approvals', status ?? null, [last.id]));
}
