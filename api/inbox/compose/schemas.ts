import { z } from 'zod';
import { MAX_ATTACHMENTS, MAX_RECIPIENTS } from '../../../domain/inbox/compose/input.ts';
import {
  asSeen,
  emailAddress,
  inputTimestamp,
  paged,
  pageQuery,
  resource,
  timestamp,
  uuid,
} from '../../http/schemas.ts';
import { says } from '../../../lib/issue-message.ts';

/** Bytes of a request: attachments in base64 and two bodies. */
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
    .refine((text) => !/[\p{Cc}/\\]/u.test(text), says('compose.file_name')),
  content_type: z
    .string()
    .max(127)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, says('compose.media_type')),
  content: z.string().min(1).max(MAX_REQUEST_BYTES).meta({ description: 'The bytes, in base64' }),
});

const written = {
  cc: addresses.optional().meta({ description: 'Suppressed addresses are left out' }),
  bcc: addresses.optional().meta({ description: 'Suppressed addresses are left out' }),
  body_plain: text
    .optional()
    .meta({ description: 'One of the two bodies is required. The signature of the mailbox is added' }),
  body_html: text.optional(),
  send_mode: mode.optional().meta({
    description:
      'instant (default): the first time that keeps the cap and gap of the mailbox, before emails that campaigns have planned for later; smart: the next time that is free; scheduled: not before scheduled_at',
  }),
  scheduled_at: inputTimestamp
    .optional()
    .meta({ description: 'With send_mode scheduled: in the future, within a year' }),
  attachments: z
    .array(attachment)
    .max(MAX_ATTACHMENTS)
    .optional()
    .meta({ description: '7 MiB together at most; programs are refused' }),
};

const messageIds = z.array(z.string().min(1).max(998)).max(50);
const subject = z.string().trim().min(1).max(500);

/** POST /emails/:id/send */
export const sendBody = z.strictObject({
  to: addresses.min(1),
  subject,
  ...written,
  in_reply_to: messageIds.optional().meta({ description: 'Message-IDs; the first that is known is answered' }),
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'The conversation it belongs to' }),
});

/** POST /unibox/compose */
export const composeBody = z.strictObject({
  email_account_id: z.uuid().meta({ description: 'The mailbox it leaves from' }),
  to: addresses.min(1),
  subject,
  ...written,
});

/** POST /unibox/reply */
export const replyBody = z.strictObject({
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'Required unless in_reply_to is there' }),
  in_reply_to: messageIds
    .optional()
    .meta({ description: 'Message-IDs; the first that is known is answered, else the newest message that came in' }),
  email_account_id: z
    .uuid()
    .optional()
    .meta({ description: 'A mailbox of the conversation; the one it came to by default' }),
  to: addresses.min(1).optional().meta({
    description:
      'Where the sender of the answered message wants answers (its Reply-To, else its From) by default. An answer of a key or application reaches the people of the conversation under `inbox.reply` of its policy; anybody else needs `email.compose`, or a person',
  }),
  reply_all: z
    .boolean()
    .optional()
    .meta({ description: 'Answers everybody: those of To and Cc of the answered message get a copy, beside `cc`' }),
  subject: subject.optional().meta({ description: 'Re: and the subject of the conversation by default' }),
  ...written,
});

/** What became of it. */
export const accepted = resource('AcceptedEmail', {
  result: z.enum(['executed', 'awaiting_approval']),
  task_id: uuid.meta({ description: 'The email; names it in events, lists and DELETE /v1/unibox/scheduled/:taskId' }),
  scheduled_at: timestamp.meta({ description: 'When it leaves, as far as that is known' }),
  send_mode: mode,
  thread_id: z.string(),
  left_out: z
    .array(z.strictObject({ address: z.string(), reason: z.string() }))
    .meta({ description: 'Addresses of cc and bcc it does not go to' }),
  approval_id: uuid.nullable(),
  approval_url: z.string().nullable().meta({ description: 'Where a person reads and decides' }),
  approval_expires_at: timestamp.nullable(),
  reasons: z
    .array(z.strictObject({ code: z.string(), message: z.string() }))
    .meta({ description: 'Why it waits for a person' }),
});

/** GET /unibox/scheduled */
export const scheduledList = z.strictObject({
  data: z.array(
    resource('ScheduledEmail', {
      task_id: uuid,
      kind: z.enum(['compose', 'reply']),
      state: z.enum(['awaiting_approval', 'queued']),
      scheduled_at: timestamp,
      created_at: timestamp,
      account_id: uuid.meta({ description: 'The mailbox' }),
      account_email: z.string(),
      account_name: z.string(),
      to: z.array(z.string()),
      subject: z.string(),
      snippet: z.string(),
      thread_id: z.string(),
      approval_id: uuid.nullable(),
      waiting_for: z.string().nullable().meta({ description: 'What it waits for, for people' }),
      blocked_reason: z.string().optional(),
    }),
  ),
});

/** POST /unibox/drafts, PUT /unibox/drafts/:id */
export const draftBody = z.strictObject({
  email_account_id: z.uuid().optional().meta({ description: 'The mailbox it is to leave from' }),
  thread_id: z.string().min(1).max(2000).optional().meta({ description: 'The conversation it is to answer in' }),
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
    description: 'Ids of files of the draft that stay; the others are deleted',
  }),
  ...asSeen,
});

/** A draft. */
export const draft = resource('Draft', {
  id: uuid,
  user_id: uuid.nullable().meta({ description: 'Who began it; null for a key or application of its own' }),
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
export const draftListQuery = z.strictObject(pageQuery(100));
export const draftPage = paged(draft);

/** POST /unibox/drafts/:id/send */
export const draftSendBody = z.strictObject({
  send_mode: written.send_mode,
  scheduled_at: written.scheduled_at,
  attachments: written.attachments.meta({ description: 'Files beside those of the draft; 7 MiB together at most' }),
});
