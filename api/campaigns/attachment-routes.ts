import { z } from 'zod';
import {
  attachFile,
  deleteAttachment,
  listAttachments,
  MAX_EMAIL_FILES_BYTES,
  type CampaignAttachmentRow,
} from '../../domain/campaigns/attachments.ts';
import { route } from '../http/route.ts';
import { idParams, iso, timestamp } from '../http/schemas.ts';

const area = 'campaigns';
const read = { area, scope: ['READ_CAMPAIGNS'], permission: 'view_campaigns' } as const;
const write = { area, scope: ['WRITE_CAMPAIGNS'], permission: 'manage_campaigns' } as const;

const attachment = z
  .object({
    id: z.uuid(),
    campaign_id: z.uuid(),
    step_id: z.uuid().nullable().meta({ description: 'The step whose email contains the file. Null: every email.' }),
    filename: z.string(),
    size: z.int().meta({ description: 'Bytes' }),
    mime_type: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'CampaignAttachment' });

const attachmentParams = idParams.extend({ attachmentId: z.string() });

function present(row: CampaignAttachmentRow): z.input<typeof attachment> {
  const { id, campaign_id, step_id, filename, size_bytes: size, content_type: mime_type, created_at: at } = row;
  return { id, campaign_id, step_id, filename, size, mime_type, created_at: iso(at) };
}

/** Routes of the attachments of a campaign's emails. */
export const campaignAttachmentRoutes = [
  route({
    ...read,
    operationId: 'campaigns.listAttachments',
    method: 'get',
    path: '/campaigns/:id/attachments',
    summary: 'List the attachments of a campaign, oldest first',
    params: idParams,
    success: { status: 200, body: z.object({ data: z.array(attachment) }).meta({ id: 'CampaignAttachmentList' }) },
    handler: async (ctx, { params }) => ({ data: (await listAttachments(ctx, params.id)).map(present) }),
  }),
  route({
    ...write,
    operationId: 'campaigns.uploadAttachment',
    method: 'post',
    path: '/campaigns/:id/attachments',
    summary: 'Attach a file to one email of a campaign, or to all',
    description:
      'An email has at most ten attachments, of at most 15 MiB together. Programs and scripts are refused. Unsent emails of a running campaign get the file, too.',
    consumes: 'multipart',
    bodyLimit: MAX_EMAIL_FILES_BYTES,
    files: ['file'],
    params: idParams,
    body: z.object({
      step_id: z.uuid().optional().meta({ description: 'An email step of the campaign. Without it, every email.' }),
    }),
    success: { status: 201, body: attachment },
    errors: ['storage_limit_reached'],
    handler: async (ctx, { params, files, body }) =>
      present(await attachFile(ctx, params.id, files.file!, body.step_id ?? null)),
  }),
  route({
    ...write,
    operationId: 'campaigns.deleteAttachment',
    method: 'delete',
    path: '/campaigns/:id/attachments/:attachmentId',
    summary: 'Remove an attachment of a campaign with its stored file',
    params: attachmentParams,
    success: { status: 204 },
    handler: (ctx, { params }) => deleteAttachment(ctx, params.id, params.attachmentId),
  }),
];
