import type { Row } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { start } from '../../../temporal/dispatch.ts';
import { workspaceExportWorkflow } from '../../../workflows/workspace-export/contract.ts';
import { readBlob } from '../../platform/blobs.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { returnAttempt, throttle } from '../throttle.ts';

/** An export of a workspace, with its progress. */
export type WorkspaceExport = Row<'workspace_exports'>;

const LIST = 'workspace-exports';

/**
 * Requests an export of the workspace. A worker writes the file and emails the caller a link to it.
 * @throws AppError conflict while another export of the workspace is open; rate_limit_exceeded after three within a day
 */
export async function requestExport(ctx: Ctx): Promise<WorkspaceExport> {
  await throttle(ctx, 'workspace_exports', organizationOf(ctx));
  const added = await transact(ctx, async (tx) => {
    const [row] = await tx.org.sql<WorkspaceExport>(
      `insert into workspace_exports (id, organization_id, user_id, created_at) values (:id, :org, :user, :now)
       on conflict (organization_id) where status in ('queued', 'running') do nothing returning *`,
      { id: newId(), user: ctx.actor.userId, now: tx.now },
    );
    if (!row) return undefined;
    tx.intend(start(workspaceExportWorkflow, { organizationId: tx.org.organizationId, exportId: row.id }));
    tx.audit({ action: 'create', entityType: 'workspace_export', entityId: row.id });
    return row;
  });
  if (added) return added;
  await returnAttempt(ctx, 'workspace_exports', organizationOf(ctx));
  throw new AppError('conflict', message('workspace_export.open'), { fix: message('workspace_export.open.fix') });
}

/** Lists exports whose file is not deleted yet, newest first. */
export async function listExports(ctx: Ctx, page: PageRequest): Promise<Page<WorkspaceExport>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const query = reader(ctx)
    .table('workspace_exports')
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}

/**
 * Yields the bytes of a finished export. The audit log records the download.
 * @throws AppError not_found, also if the file does not exist yet or was deleted
 */
export async function readExportFile(ctx: Ctx, id: string): Promise<AsyncGenerator<Buffer>> {
  const org: OrgScope = reader(ctx);
  const row = isUuid(id) ? await org.table('workspace_exports').where({ id }).first('blob_id') : undefined;
  if (!row?.blob_id) throw notFound('file');
  await transact(ctx, async (tx) => tx.audit({ action: 'export', entityType: 'workspace_export', entityId: id }));
  return readBlob(org, ctx.blobs, row.blob_id);
}
