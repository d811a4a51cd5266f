import { z } from 'zod';
import { MAX_RECIPIENTS } from '../../../domain/inbox/direct-sends/input.ts';
import { MAX_ATTACHMENTS } from '../../../domain/platform/attachments.ts';
import {
  expectedVersion,
  emailAddress,
  inputTimestamp,
  paged,
  pageQuery,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

/** Maximum size (bytes) of a request: attachments in base64 and two bodies. */
export const MAX_REQUEST_BYTES = 12 * 1024 * 1024;
const MAX_BODY_CHARACTERS = 500_000;

const addresses = z.array(emailAddress).max(MAX_RECIPIENTS);
const text = z.string().max(MAX_BODY_CHARACTERS);
const mode = z.enum(['instant', 'smart', 'scheduled']);

const attachment = resource('Attachment', {
  filename: z
    .string()
    .min(1)
    .max(255)
    .refine((text) => !/[\p{Cc}/\\]/u.test(text), ruleMessage('compose.file_name')),
  content_type: z
    .string()
    .max(127)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, ruleMessage('compose.media_type')),
  content: z.string().min(1).max(MAX_REQUEST_BYTES).meta({ description: 'File content in base64' }),
});

const written = {
  cc: addresses.optional().meta({ description: 'CC recipients; suppressed addresses are omitted' }),
  bcc: addresses.optional().meta({ description: 'BCC recipients; suppressed addresses are omitted' }),
  body_plain: text
    .optional()
    .meta({ description: "Plain text; one of the two bodies is required. The mailbox's signature is added" }),
  body_html: text.optional(),
  send_mode: mode.optional().meta({
    description:
      "instant (default): the first time within the mailbox's cap and gap, before emails that campaigns have planned for later. smart: the next free time. scheduled: not before scheduled_at",
  }),
  scheduled_at: inputTimestamp
    .optional()
    .meta({ description: 'With send_mode scheduled: in the future, within a year' }),
  attachments: z
    .array(attachment)
    .max(MAX_ATTACHMENTS)
    .optional()
    .meta({ description: 'At most 7 MiB in total; executable files are refused' }),
};

const messageIds = z.array(z.string().min(1).max(998)).max(50);
const subject = z.string().trim().min(1).max(500);

/** Body of POST /emails/:id/send. */
export const sendBody = z.strictObject({
  to: addresses.min(1),
  subject,
  ...written,
  in_reply_to: messageIds.optional().meta({ description: 'Message-IDs; the first known one is answered' }),
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'Conversation of the reply' }),
});

/** Body of POST /unibox/compose. */
export const composeBody = z.strictObject({
  email_account_id: z.uuid().meta({ description: 'Sending mailbox' }),
  to: addresses.min(1),
  subject,
  ...written,
});

/** Body of POST /unibox/reply. */
export const replyBody = z.strictObject({
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'Required without in_reply_to' }),
  in_reply_to: messageIds
    .optional()
    .meta({ description: 'Message-IDs; the first known one is answered. Default: the latest received message' }),
  email_account_id: z
    .uuid()
    .optional()
    .meta({ description: 'Sending mailbox, one of the conversation. Default: the one that received the message' }),
  to: addresses.min(1).optional().meta({
    description:
      'Default: the Reply-To of the answered message, else its sender. An answer of a key or application reaches the people of the conversation under `inbox.reply` of its policy; anybody else needs `email.compose`, or a person',
  }),
  reply_all: z
    .boolean()
    .optional()
    .meta({ description: 'Copies the reply to the To and Cc recipients of the answered message, in addition to `cc`' }),
  subject: subject.optional().meta({ description: 'Default: Re: and the subject of the conversation' }),
  ...written,
});

/** Answer of a route that submits an email, with the outcome. */
export const accepted = resource('AcceptedEmail', {
  result: z.enum(['executed', 'awaiting_approval']),
  task_id: uuid.meta({ description: 'Id of the email in events, lists and DELETE /v1/unibox/scheduled/:taskId' }),
  scheduled_at: timestamp.meta({ description: 'Expected time of sending, if known' }),
  send_mode: mode,
  thread_id: z.string(),
  left_out: z
    .array(z.strictObject({ address: z.string(), reason: z.string() }))
    .meta({ description: 'Addresses of cc and bcc that are skipped' }),
  approval_id: uuid.nullable(),
  approval_url: z.string().nullable().meta({ description: 'Page where a person reads the email and decides' }),
  approval_expires_at: timestamp.nullable(),
  reasons: z
    .array(z.strictObject({ code: z.string(), message: z.string() }))
    .meta({ description: 'Reasons why it waits for a person' }),
});

/** Answer of GET /unibox/scheduled. */
export const scheduledList = z.strictObject({
  data: z.array(
    resource('ScheduledEmail', {
      task_id: uuid,
      kind: z.enum(['compose', 'reply']),
      state: z.enum(['awaiting_approval', 'queued']),
      scheduled_at: timestamp,
      created_at: timestamp,
      account_id: uuid.meta({ description: 'Mailbox id' }),
      account_email: z.string(),
      account_name: z.string(),
      to: z.array(z.string()),
      subject: z.string(),
      snippet: z.string(),
      thread_id: z.string(),
      approval_id: uuid.nullable(),
      waiting_for: z.string().nullable().meta({ description: 'Reason of the wait, as text for people' }),
      blocked_reason: z.string().optional(),
    }),
  ),
});

/** Body of POST /unibox/drafts and PUT /unibox/drafts/:id. */
export const draftBody = z.strictObject({
  email_account_id: z.uuid().optional().meta({ description: 'Sending mailbox' }),
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'Conversation of the reply' }),
  to: addresses.optional(),
  cc: addresses.optional(),
  bcc: addresses.optional(),
  subject: z.string().trim().max(500).optional(),
  body_plain: text.optional(),
  body_html: text.optional(),
  attachments: written.attachments,
});
export const draftReplaceBody = draftBody.extend({
  kept_attachments: z.array(z.uuid()).max(MAX_ATTACHMENTS).optional().meta({
    description: 'File ids of the draft to keep; the others are deleted',
  }),
  ...expectedVersion,
});

export const draft = resource('Draft', {
  id: uuid,
  user_id: uuid.nullable().meta({ description: 'Author; null for a key or application without a person' }),
  email_account_id: uuid.nullable(),
  thread_id: z.string().nullable(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  subject: z.string(),
  body_plain: z.string(),
  body_html: z.string().optional(),
  attachments: z.array(
    z.strictObject({ id: uuid, filename: z.string(), content_type: z.string(), size_bytes: z.int() }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
});
export const draftListQuery = z.object(pageQuery(100));
export const draftPage = paged(draft);

/** Body of POST /unibox/drafts/:id/send. */
export const draftSendBody = z.strictObject({
  send_mode: written.send_mode,
  scheduled_at: written.scheduled_at,
  attachments: written.attachments.meta({
    description: 'Files in addition to those of the draft; at most 7 MiB in total',
  }),
});
