import { Readable } from 'node:stream';
import { z } from 'zod';
import { EXPORT_PARTS } from '../../../domain/identity/workspace-exports/parts.ts';
import {
  listExports,
  readExportFile,
  requestExport,
  type WorkspaceExport,
} from '../../../domain/identity/workspace-exports/request.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { workspaceExportWorkflow } from '../../../workflows/workspace-export/contract.ts';
import { route } from '../../http/route.ts';
import { idParams, iso, paged, pageQuery, presentPage, resource, timestamp, uuid } from '../../http/schemas.ts';
import { presentBlocked } from '../../http/stored-message.ts';

/** Rights for an export: as the file contains all data, its reader needs the right to all data. */
const everything = {
  area: 'workspace-exports',
  scope: 'session',
  permission: { allOf: ['manage_settings', 'manage_contacts', 'view_campaigns', 'view_analytics'] },
} as const;

const workspaceExport = resource('WorkspaceExport', {
  id: uuid,
  status: z.enum(['queued', 'running', 'completed']),
  progress: z.number().meta({ description: 'From 0 to 1' }),
  row_count: z.int().meta({ description: 'Lines written so far' }),
  size_bytes: z.int().nullable(),
  requested_by: uuid.nullable(),
  created_at: timestamp,
  ended_at: timestamp.nullable(),
  expires_at: timestamp.nullable().meta({ description: 'Time at which the file is deleted' }),
  blocked_reason: z
    .string()
    .optional()
    .meta({ description: 'Reason why the export is blocked; an operator can retry it' }),
  temporal_url: z.string().optional(),
});

/** Routes of exports of a workspace. */
export const workspaceExportRoutes = [
  route({
    ...everything,
    operationId: 'workspaceExports.create',
    method: 'post',
    path: '/organizations/current/exports',
    summary: 'Export the data of the workspace',
    description:
      'A worker writes one file, and emails you a link to its page. The file has one JSON object per line, compressed by gzip: `type` names its kind, such as `contact`, `campaign_step`, `sent_email` with its text, `received_email`, `deal` or `audit_log`. It contains no passwords, tokens or keys, and no content of attached files. A workspace can have one open export at a time, and three exports a day. A file is kept for seven days, or until the next one is finished.',
    duringDeletion: true,
    success: { status: 202, body: workspaceExport },
    errors: ['no_organization', 'conflict'],
    handler: async (ctx) => present(await requestExport(ctx), ctx),
  }),
  route({
    ...everything,
    operationId: 'workspaceExports.list',
    method: 'get',
    path: '/organizations/current/exports',
    summary: 'List exports of the workspace with their progress, newest first',
    description: 'Until their files are deleted.',
    query: z.object(pageQuery(100)),
    success: { status: 200, body: paged(workspaceExport) },
    errors: ['no_organization'],
    handler: async (ctx, { query }) => presentPage(await listExports(ctx, query), (row) => present(row, ctx)),
  }),
  route({
    ...everything,
    operationId: 'workspaceExports.download',
    method: 'get',
    path: '/organizations/current/exports/:id/file',
    summary: 'Download the file of an export',
    description: 'Answers 404 until it is finished, and after it is deleted. The audit log records the download.',
    params: idParams,
    success: { status: 200, body: 'stream', contentType: 'application/gzip' },
    errors: ['no_organization'],
    handler: async (ctx, { params: { id } }) => ({
      stream: Readable.from(await readExportFile(ctx, id), { objectMode: false }),
      contentType: 'application/gzip',
      headers: { 'Content-Disposition': `attachment; filename="workspace-${id}.ndjson.gz"` },
    }),
  }),
];

function present(
  row: WorkspaceExport,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof workspaceExport> {
  return {
    id: row.id,
    status: row.status,
    progress: row.parts_done / EXPORT_PARTS.length,
    row_count: Number(row.row_count),
    size_bytes: row.size_bytes === null ? null : Number(row.size_bytes),
    requested_by: row.user_id,
    created_at: iso(row.created_at),
    ended_at: iso(row.ended_at),
    expires_at: iso(row.expires_at),
    ...presentBlocked(row, language),
    ...runUrl(config, workspaceExportWorkflow, { exportId: row.id }),
  };
}
