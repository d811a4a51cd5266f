import { readFile } from 'node:fs/promises';
import { detectMimeType } from 'nodemailer/lib/mime-funcs';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Row } from '../../db/rows.ts';
import { notFound, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import type { MultipartFile } from '../../lib/multipart.ts';
import { message, type Message } from '../../messages/index.ts';
import { headerText } from '../mail/messages/text.ts';
import {
  fileProblems,
  MAX_ATTACHMENTS,
  readAttachments,
  storeAttachments,
  type AttachedFile,
  type FetchedFiles,
} from '../platform/attachments.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { editSteps } from './edit-check.ts';

export type CampaignAttachmentRow = Row<'campaign_attachments'>;

/** Maximum total size (bytes) of the attachments of one campaign email. A single file may be as large. */
export const MAX_EMAIL_FILES_BYTES = 15 * 1024 * 1024;
/** Maximum length (characters) of a file name. */
const MAX_FILENAME = 255;

/**
 * Lists the attachments of a campaign, oldest first.
 * @throws AppError not_found
 */
export async function listAttachments(ctx: Ctx, campaignId: string): Promise<CampaignAttachmentRow[]> {
  const org = reader(ctx);
  const { id } = await findCampaign(org, campaignId);
  return attachmentsOf(org, id);
}

/**
 * Attaches a file to one email step, or to every email of the campaign. Emails that are not yet sent include the file.
 * @throws AppError not_found for the campaign or the step; bad_request for an executable file, or if the files exceed
 * an email's limits; storage_limit_reached; forbidden as in {@link editSteps}
 */
export async function attachFile(
  ctx: Ctx,
  campaignId: string,
  upload: Pick<MultipartFile, 'path' | 'filename'>,
  stepId: string | null,
): Promise<CampaignAttachmentRow> {
  const filename = headerText(upload.filename).slice(0, MAX_FILENAME);
  const file = { filename, content_type: detectMimeType(filename), content: await readFile(upload.path) };
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const step = stepId === null ? null : await findEmailStep(tx, campaign.id, stepId);
    refuseProblems([
      ...(filename === '' ? [{ path: 'body.file', message: message('attachments.needs_name') }] : []),
      ...fileProblems(file, { filename: 'body.file', type: 'body.file' }),
      ...loadProblems(await attachmentsOf(tx.org, campaign.id), file.content.length, step),
    ]);
    return editSteps(tx, campaign, async () => {
      const row = await insertAttachment(ctx, tx, campaign.id, step, file);
      await recordChange(tx, campaign, message('log.attachment_added', { filename }), row);
      return row;
    });
  });
}

/**
 * Removes an attachment and its stored file. Emails that are not yet sent no longer include the file.
 * @throws AppError not_found; forbidden as in {@link editSteps}
 */
export async function deleteAttachment(ctx: Ctx, campaignId: string, attachmentId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    const row = isUuid(attachmentId)
      ? await tx.org.table('campaign_attachments').where({ id: attachmentId, campaign_id: campaign.id }).first()
      : undefined;
    if (!row) throw notFound('attachment');
    await editSteps(tx, campaign, async () => {
      // A database trigger deletes the stored file.
      await tx.org.table('campaign_attachments').where({ id: row.id }).delete();
      await recordChange(tx, campaign, message('log.attachment_removed', { filename: row.filename }), row);
    });
  });
}

/**
 * Copies the attachments of a campaign, with their stored files, to its copy.
 * @param steps ids of the copied steps by the ids of their originals
 * @throws AppError storage_limit_reached; FilesNotLoaded as in {@link readAttachments}
 */
export async function copyAttachments(
  ctx: Ctx,
  tx: Tx,
  { from, to, steps }: { from: string; to: string; steps: ReadonlyMap<string, string> },
  fetched: FetchedFiles,
): Promise<void> {
  for (const row of await attachmentsOf(tx.org, from)) {
    const [file] = await readAttachments(ctx, tx, [row], fetched);
    await insertAttachment(ctx, tx, to, row.step_id && steps.get(row.step_id)!, file!);
  }
}

/** Returns the attachments of a campaign in the order in which its emails contain them. */
export function attachmentsOf(org: Tx['org'], campaignId: string): Promise<CampaignAttachmentRow[]> {
  return org.sql<CampaignAttachmentRow>(
    'select * from campaign_attachments where organization_id = :org and campaign_id = :id order by id',
    { id: campaignId },
  );
}

/** Returns the attachments of the emails of a step; if `step` is null, those that every email has. */
export function attachedToStep(
  rows: readonly CampaignAttachmentRow[],
  stepId: string | undefined,
): CampaignAttachmentRow[] {
  return rows.filter(({ step_id: step }) => step === null || step === stepId);
}

async function findEmailStep(tx: Tx, campaignId: string, stepId: string): Promise<string> {
  const step = isUuid(stepId)
    ? await tx.org.table('campaign_steps').where({ id: stepId, campaign_id: campaignId, kind: 'email' }).first('id')
    : undefined;
  if (!step) throw notFound('step');
  return step.id;
}

/** Returns a problem if an additional file would exceed the attachment limits of an email. */
function loadProblems(rows: readonly CampaignAttachmentRow[], addedBytes: number, step: string | null): Problem[] {
  const steps = step === null ? [...new Set(rows.map((row) => row.step_id))] : [step];
  const loads = (steps.length > 0 ? steps : [null]).map((id) => rows.filter((row) => [null, id].includes(row.step_id)));
  const mostFiles = Math.max(...loads.map((files) => files.length)) + 1;
  const mostBytes = Math.max(...loads.map((files) => files.reduce((sum, file) => sum + file.size_bytes, addedBytes)));
  return [
    ...(mostFiles > MAX_ATTACHMENTS
      ? [{ path: 'body.file', message: message('attachments.too_many', { max: MAX_ATTACHMENTS }) }]
      : []),
    ...(mostBytes > MAX_EMAIL_FILES_BYTES
      ? [{ path: 'body.file', message: message('attachments.too_large', { max: MAX_EMAIL_FILES_BYTES }) }]
      : []),
  ];
}

async function insertAttachment(
  { config }: Ctx,
  tx: Tx,
  campaignId: string,
  stepId: string | null,
  file: AttachedFile,
): Promise<CampaignAttachmentRow> {
  const [stored] = await storeAttachments(tx, [file], config.ORG_STORED_BYTES);
  const row = { id: newId(), campaign_id: campaignId, step_id: stepId, ...stored!, created_at: tx.now };
  await tx.org.insert('campaign_attachments', row);
  return { ...row, organization_id: tx.org.organizationId };
}

async function recordChange(
  tx: Tx,
  campaign: CampaignRow,
  said: Message,
  { id, step_id: stepId }: CampaignAttachmentRow,
): Promise<void> {
  await tx.org.sql('update campaigns set updated_at = :now where organization_id = :org and id = :id', {
    id: campaign.id,
    now: tx.now,
  });
  await logCampaign(tx, campaign.id, 'steps_changed', said, { step_id: stepId, attachment_id: id });
  tx.emit('campaign.updated', { campaign_id: campaign.id, name: campaign.name, fields: ['attachments'] });
  tx.audit({
    action: 'update',
    entityType: 'campaign',
    entityId: campaign.id,
    metadata: { attachments: said.code, attachment_id: id },
  });
}
