import { Contacts } from '../../db/models/contact.ts';
import { CampaignSteps } from '../../db/models/campaign-step.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { assertMailboxAllowed, may } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { previewMessage, type MessagePreview } from '../mail/messages/preview.ts';
import { mergeValues, SAMPLE_CONTACT, type MessageContact } from '../mail/messages/values.ts';
import { attachedToStep, attachmentsOf, type CampaignAttachmentRow } from './attachments.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { message } from '../../messages/index.ts';

interface PreviewRequest {
  subject?: string | undefined;
  body_html?: string | undefined;
  body_plain?: string | undefined;
  contact_id?: string | undefined;
  campaign_id?: string | undefined;
  account_id?: string | undefined;
  step_id?: string | undefined;
  /** Values that replace fields of the sample contact. */
  contact?: Partial<MessageContact> | undefined;
}

/** A rendered email, with the errors found in its copy. */
export interface TemplatePreview extends MessagePreview {
  /** Sender of the email. Present if the request names a mailbox. */
  from?: { name: string; email: string };
  /** Attachments of the email. Present if the request names a campaign with files. */
  attachments?: { id: string; filename: string; size: number; mime_type: string }[];
}

/**
 * Renders copy for a contact, or for the built-in sample. If the request names a step, missing parts of the text are
 * taken from that step. Changes no data.
 * @throws AppError not_found for any id of another organization; forbidden without the right to see contacts, or for a
 * mailbox the key may not use
 */
export async function previewTemplate(ctx: Ctx, request: PreviewRequest): Promise<TemplatePreview> {
  const org = reader(ctx);
  if (request.campaign_id !== undefined) await findCampaign(org, request.campaign_id);
  const step = request.step_id === undefined ? undefined : await findStep(org, request.step_id, request.campaign_id);
  const contact = await recipient(ctx, org, request);
  const from = request.account_id === undefined ? undefined : await sender(ctx, org, request.account_id);
  const files = request.campaign_id === undefined ? [] : await filesOf(org, request.campaign_id, step?.id);
  const fields: Pick<PreviewRequest, 'subject' | 'body_html' | 'body_plain'> = {};
  for (const field of ['subject', 'body_html', 'body_plain'] as const) {
    const text = request[field] ?? step?.[field];
    if (text !== undefined) fields[field] = text;
  }
  return {
    ...previewMessage(fields as Record<string, string>, mergeValues(contact, {}), request.contact_id ?? 'preview'),
    ...(from ? { from } : {}),
    ...(files.length > 0 ? { attachments: files.map(toShownFile) } : {}),
  };
}

async function filesOf(org: OrgScope, campaignId: string, stepId: string | undefined) {
  return attachedToStep(await attachmentsOf(org, campaignId), stepId);
}

function toShownFile({ id, filename, size_bytes: size, content_type: mime_type }: CampaignAttachmentRow) {
  return { id, filename, size, mime_type };
}

async function findStep(org: OrgScope, id: string, campaignId: string | undefined) {
  const step = isUuid(id) ? await org.query(CampaignSteps).findById(id) : undefined;
  if (!step || (campaignId !== undefined && step.campaign_id !== campaignId.toLowerCase())) throw notFound('step');
  return step;
}

async function recipient(ctx: Ctx, org: OrgScope, request: PreviewRequest): Promise<MessageContact> {
  if (request.contact_id === undefined) return { ...SAMPLE_CONTACT, ...request.contact };
  if (!may(ctx.actor, ['READ_CONTACTS'], ['view_contacts'])) {
    throw new AppError('forbidden', message('campaigns.preview_scope'));
  }
  const contact = isUuid(request.contact_id) ? await org.query(Contacts).findById(request.contact_id) : undefined;
  if (!contact) throw notFound('contact');
  return { ...contact, ...request.contact } as MessageContact;
}

async function sender(ctx: Ctx, org: OrgScope, id: string): Promise<{ name: string; email: string }> {
  const [mailbox] = isUuid(id)
    ? await org.sql<{ id: string; name: string; email: string }>(
        'select id, name, email from mailboxes where organization_id = :org and id = :id',
        { id },
      )
    : [];
  if (!mailbox) throw notFound('mailbox');
  assertMailboxAllowed(ctx.actor, mailbox.id);
  return { name: mailbox.name, email: mailbox.email };
}
