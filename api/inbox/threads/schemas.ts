import { z } from 'zod';
import { REPLY_KINDS } from '../../../domain/mail/inbound/intent.ts';
import { INBOUND_KINDS } from '../../../domain/sending/outcomes/record-inbound.ts';
import { FOLDERS, isWritten, TARGET_FOLDERS } from '../../../domain/inbox/threads/folder.ts';
import { inputDay, inputTimestamp, paged, pageQuery, resource, timestamp, uuid } from '../../http/schemas.ts';
import { ruleMessage } from '../../../lib/issue-message.ts';

const MAX_MAILBOXES = 100;
const text = z.string().min(1).max(200);
const day = inputDay.meta({ description: 'YYYY-MM-DD, UTC' });

const ids = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(z.uuid()).max(MAX_MAILBOXES));

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** Filters of received messages, which the folders `sent` and `drafts` do not have. */
const OF_RECEIVED = ['from', 'subject', 'q', 'awaiting_reply', 'asks_to_stop', 'unseen', 'kind'] as const;

/** Query of GET /unibox. */
export const threadListQuery = z
  .object({
    ...pageQuery(100),
    from: text.optional().meta({
      description:
        "Part of the sender's address or name. Parts of one or two letters search only the newest messages, about 32,000",
    }),
    subject: text.optional().meta({ description: 'Part of the subject; short parts as for `from`' }),
    q: text.optional().meta({
      description:
        'Words in a received message, its subject or its sender; "quotes" for a phrase, `or`, and - before a word to exclude. Other filters then apply to the matching message',
    }),
    category_ids: ids
      .optional()
      .meta({ description: 'Only conversations in one of these categories; ids, separated by commas' }),
    folder: z.enum(FOLDERS).optional().meta({ description: 'Folder of the conversation. Default: inbox and archive' }),
    awaiting_reply: flag.optional().meta({ description: 'true: only conversations whose last message is ours' }),
    asks_to_stop: z
      .literal('true')
      .transform(() => true)
      .optional()
      .meta({
        description: 'true: only those with a message that may ask for no more emails, and waits for a decision',
      }),
    snoozed: flag
      .optional()
      .meta({ description: 'true: only conversations that the caller has snoozed. Default: they are omitted' }),
    unseen: flag.optional().meta({ description: 'true: only those not marked as seen. false: only those marked' }),
    kind: z
      .enum(INBOUND_KINDS)
      .optional()
      .meta({ description: "Kind of the latest message: a person's reply, a bounce, an automatic reply …" }),
    since: day.optional().meta({ description: 'Latest message on this day or later; YYYY-MM-DD, UTC' }),
    until: day.optional().meta({ description: 'Latest message on this day or earlier; YYYY-MM-DD, UTC' }),
    email_id: z.uuid().optional().meta({ description: 'Only this mailbox' }),
    email_ids: ids.optional().meta({ description: 'Mailbox ids, separated by commas' }),
  })
  .superRefine((query, context) => {
    if (!isWritten(query.folder)) return;
    for (const name of OF_RECEIVED)
      if (query[name] !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: ruleMessage('threads.of_received', { folder: query.folder }),
        });
  });

/** Query of GET /unibox/sent. */
export const sentListQuery = z.object({
  ...pageQuery(100),
  q: text.optional().meta({
    description:
      'Words in the email, its subject or its recipients; "quotes" for a phrase, `or`, and - before a word to exclude',
  }),
  to: text.optional().meta({
    description:
      "Part of a recipient's address. Parts of one or two letters search only the newest emails, about 32,000",
  }),
  subject: text.optional().meta({ description: 'Part of the subject; short parts as for `to`' }),
  email_id: z.uuid().optional().meta({ description: 'Only this mailbox' }),
  email_ids: ids.optional().meta({ description: 'Mailbox ids, separated by commas' }),
});

export const sentPage = paged(
  resource('SentEmail', {
    id: uuid.meta({ description: 'The task_id from the answer to sending it' }),
    kind: z.enum(['compose', 'reply']),
    state: z
      .enum(['sent', 'uncertain', 'bounced'])
      .meta({ description: 'uncertain: may have been sent. bounced: was returned' }),
    email_id: uuid.nullable().meta({ description: 'Sending mailbox; null if it was removed' }),
    thread_id: z.string(),
    message_id: z.string(),
    from_addr: z.array(z.string()),
    to_addr: z.array(z.string()),
    cc_addr: z.array(z.string()),
    bcc_addr: z.array(z.string()),
    subject: z.string(),
    snippet: z.string(),
    file_count: z.int(),
    contact_id: uuid.nullable(),
    internal_date: timestamp.meta({ description: 'Time of sending' }),
  }),
);

const answer = resource('Answer', {
  kind: z
    .enum(REPLY_KINDS)
    .meta({ description: 'More detailed than `intent`; the correction of a person, if there is one' }),
  confidence: z.number().min(0).max(1).meta({ description: 'Probability of the kind; 1 after a correction' }),
  words: z
    .array(z.string())
    .meta({ description: 'Words of the message that contributed most to the first classification' }),
  opt_out_force: z.enum(['stop', 'erase', 'legal']).nullable().meta({
    description:
      'What a certain or possible opt-out demands: no more emails, also the erasure of data, or also with a legal threat',
  }),
  until: timestamp
    .nullable()
    .meta({ description: 'Day of return, or day from which a person who answered "not now" may be asked again' }),
  until_words: z.string().nullable().meta({ description: 'The words of the message that name that day' }),
  person: z
    .strictObject({ name: z.string().nullable(), email: z.string().nullable() })
    .nullable()
    .meta({ description: 'The person to write to instead, or the deputy of somebody who is away' }),
  corrected: z.boolean().meta({ description: 'True if a person set the kind' }),
});

const about = {
  kind: z.enum(INBOUND_KINDS),
  intent: z
    .string()
    .nullable()
    .meta({ description: 'Intent of a reply, classified by its text or corrected by a person' }),
  answer: answer.nullable().meta({ description: 'Detailed classification of a reply or an away message' }),
  asks_to_stop: z.boolean().meta({
    description:
      'True if it may ask for no more emails and a person has to decide with PATCH /v1/unibox/:id. Nothing is sent to the address until then',
  }),
  contact_id: uuid.nullable(),
  campaign_id: uuid.nullable(),
};

export const threadPage = paged(
  resource('Thread', {
    id: uuid.meta({
      description: 'Id of the latest received message; in the folders `sent` and `drafts`, id of the email',
    }),
    email_id: uuid
      .nullable()
      .meta({ description: 'Mailbox that received it or sends it; null for a draft without one' }),
    thread_id: z.string().meta({ description: 'Empty for a draft that begins a conversation' }),
    from_addr: z.array(z.string()),
    to_addr: z.array(z.string()),
    subject: z.string(),
    snippet: z.string(),
    internal_date: timestamp,
    seen: z.boolean(),
    message_count: z.int().meta({ description: 'Number of received messages' }),
    has_unread: z.boolean(),
    folder: z.enum(FOLDERS),
    awaiting_reply: z.boolean().meta({ description: 'True if the last message is ours' }),
    labels: z
      .array(z.strictObject({ id: uuid, title: z.string(), color: z.string() }))
      .meta({ description: 'Categories of the conversation' }),
    ...about,
    kind: about.kind.nullable().meta({ description: 'Null in `sent` and `drafts`' }),
  }),
);

const threadId = z.string().min(1).max(2000).meta({ description: 'Conversation id, `thread_id` in other answers' });

export const threadQuery = z
  .object({
    ...pageQuery(100),
    thread_id: threadId.optional(),
    id: threadId.optional().meta({ description: 'The same as thread_id' }),
    email_id: z.uuid().optional().meta({ description: 'Only messages that this mailbox received or sent' }),
    email: z.uuid().optional().meta({ description: 'The same as email_id' }),
  })
  .superRefine((query, context) => {
    if (query.thread_id === undefined && query.id === undefined)
      context.addIssue({ code: 'custom', path: ['thread_id'], message: ruleMessage('threads.at_least_one') });
  });

const files = z
  .array(
    resource('ReceivedFile', {
      url: z.string().nullable().meta({ description: "URL of the file's bytes; null if they are not stored" }),
      filename: z.string(),
      content_type: z.string().meta({ description: 'Content type claimed by the sender' }),
      size_bytes: z.int(),
      left_out: z
        .enum(['too_large', 'no_space', 'expired', 'erased'])
        .nullable()
        .meta({ description: 'Reason why its bytes are not stored' }),
    }),
  )
  .meta({ description: 'The first 25 files, up to 10 MiB each, within the limit ORG_RECEIVED_BYTES' });

/** Answer of GET /unibox/:id. */
export const receivedMessage = resource('ReceivedMessage', {
  id: uuid,
  direction: z.enum(['received', 'sent']),
  email_id: uuid.nullable().meta({ description: 'Mailbox; null if that of a sent message was removed' }),
  thread_id: z.string(),
  message_id: z.string().nullable(),
  in_reply_to: z.array(z.string()),
  from: z.array(z.string()),
  from_name: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()).meta({ description: 'BCC recipients of a sent message' }),
  reply_to: z.array(z.string()).meta({ description: 'Address to which replies go; empty for `from`' }),
  subject: z.string(),
  size: z.int(),
  internal_date: timestamp,
  body_plain: z.string(),
  body_html: z.string().optional().meta({
    description:
      'Sanitized HTML: no scripts, styles or forms; links open in a new window. Image URLs are in data-src and are not loaded; GET /v1/unibox/:id/images fetches them',
  }),
  body_truncated: z
    .boolean()
    .meta({ description: 'True if the message could not be read, or its text is longer than 64 KiB' }),
  attachments: files,
  ...about,
  kind: about.kind.nullable().meta({ description: 'Null for a sent message' }),
});

/** Body of PATCH /unibox/:id. */
export const correctionBody = z
  .strictObject({
    intent: z.enum(REPLY_KINDS).optional().meta({ description: 'Kind of the message, as classified by a person' }),
    asks_to_stop: z
      .literal(false)
      .optional()
      .meta({ description: 'false: the message does not ask to stop emails. If it does, set the intent to `opt_out`' }),
  })
  .superRefine((body, context) => {
    if (body.intent === undefined && body.asks_to_stop === undefined)
      context.addIssue({ code: 'custom', path: ['intent'], message: ruleMessage('field.required') });
    if (body.intent !== undefined && body.asks_to_stop !== undefined)
      context.addIssue({ code: 'custom', path: ['asks_to_stop'], message: ruleMessage('threads.one_decision') });
  });

/** Answer of GET /unibox/:id/images. */
export const imageList = z.strictObject({
  data: z.array(
    z.strictObject({
      src: z.string().meta({ description: "The image's data-src in body_html" }),
      content_type: z
        .enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
        .meta({ description: 'Content type detected from the bytes' }),
      content: z.string().meta({ description: 'Image content in base64' }),
    }),
  ),
});

export const messagePage = paged(
  resource('Message', {
    id: uuid,
    direction: z.enum(['received', 'sent']),
    email_id: uuid.nullable().meta({ description: 'Mailbox; null if it was removed' }),
    thread_id: z.string(),
    message_id: z.string().nullable(),
    from_addr: z.array(z.string()),
    to_addr: z.array(z.string()),
    cc: z.array(z.string()),
    reply_to: z.array(z.string()).meta({ description: 'Reply-To of the message; empty: answers go to `from_addr`' }),
    bcc: z.array(z.string()).meta({ description: 'Only for a sent email' }),
    in_reply_to: z.array(z.string()),
    subject: z.string(),
    size: z.int().meta({ description: 'Size (bytes) of a received message' }),
    internal_date: timestamp,
    seen: z.boolean(),
    snippet: z.string(),
    body_plain: z.string(),
    body_html: z.string().optional().meta({
      description:
        'Of a received HTML message, sanitized: no scripts, styles or forms; links open in a new window; image URLs are in data-src and are not loaded. Of an HTML email written here, as it was sent',
    }),
    content_kept: z.boolean().meta({
      description:
        'False if the content of a campaign email is no longer stored: its bodies are empty. Any other sent message is shown as it was sent, before tracking was added',
    }),
    attachments: files,
    ...about,
    kind: about.kind.nullable(),
    step_id: uuid.nullable().meta({ description: 'Campaign step of a sent message' }),
    created_at: timestamp,
  }),
);

export const threadIdQuery = z
  .object({
    thread_id: threadId.optional(),
    id: threadId.optional().meta({ description: 'The same as thread_id' }),
  })
  .superRefine((query, context) => {
    if (query.thread_id === undefined && query.id === undefined)
      context.addIssue({ code: 'custom', path: ['thread_id'], message: ruleMessage('threads.at_least_one') });
  });

export const snoozedQuery = z.object({ thread_id: threadId });

export const labelList = z.strictObject({
  data: z.array(z.strictObject({ id: uuid, title: z.string(), color: z.string() })),
});

export const labelsBody = z.strictObject({
  thread_id: threadId,
  category_ids: z
    .array(z.uuid())
    .max(100)
    .default([])
    .meta({ description: 'All categories of the conversation; an empty list removes them' }),
});

/** Body of PATCH /unibox/seen. */
export const seenBody = z
  .strictObject({
    email_ids: z.array(z.uuid()).min(1).max(500).optional().meta({ description: 'Ids of received messages' }),
    folder: z.enum(FOLDERS).optional().meta({ description: 'All received messages of this folder, in place of ids' }),
    seen: z.boolean().default(true),
  })
  .superRefine((body, context) => {
    if ((body.email_ids === undefined) === (body.folder === undefined))
      context.addIssue({ code: 'custom', path: ['email_ids'], message: ruleMessage('threads.ids_or_folder') });
  });

export const seenAnswer = resource('SeenMessages', {
  email_ids: z.array(uuid).optional(),
  folder: z.enum(FOLDERS).optional(),
  seen: z.boolean(),
  changed: z.int().meta({ description: 'Number of messages that were changed' }),
});

export const folderBody = z.strictObject({
  email_ids: z.array(z.uuid()).min(1).max(500).meta({ description: 'Ids of received messages' }),
  folder: z.enum(TARGET_FOLDERS),
});

export const folderAnswer = z.strictObject({
  email_ids: z.array(uuid),
  folder: z.enum(TARGET_FOLDERS),
  changed: z.int().meta({ description: 'Number of messages that were moved' }),
});

const counted = { unread: z.int(), total: z.int() };

export const overview = resource('InboxOverview', {
  ...counted,
  today: z.int().meta({ description: 'Conversations whose latest message came today, UTC' }),
  week: z.int().meta({ description: 'Conversations whose latest message came in the last seven days' }),
  snoozed: z.int(),
  awaiting_reply: z.int().meta({ description: 'Conversations whose last message is ours' }),
  scheduled_pending: z.int().meta({ description: 'Number of unsent emails' }),
  folders: z
    .array(z.strictObject({ folder: z.enum(FOLDERS), ...counted }))
    .meta({ description: 'All six folders. `sent` counts emails, at most 10,000; `drafts` counts drafts' }),
  mailboxes: z.array(z.strictObject({ id: uuid, email: z.string(), name: z.string(), ...counted })),
  tags: z
    .array(z.strictObject({ id: uuid, title: z.string(), color: z.string(), ...counted }))
    .meta({ description: 'Tags of mailboxes, with the conversations of the mailboxes that have the tag' }),
  categories: z.array(z.strictObject({ id: uuid, title: z.string(), color: z.string(), ...counted })),
  generated_at: timestamp,
  window_today_start: timestamp,
  window_week_start: timestamp,
});

export const countQuery = z.object({ email_id: z.uuid().optional().meta({ description: 'Mailbox id' }) });
export const countAnswer = z.strictObject({ count: z.int() });

export const snoozeBody = z.strictObject({ thread_id: threadId, snoozed_until: inputTimestamp });

export const snooze = resource('Snooze', {
  id: uuid,
  user_id: uuid.meta({ description: 'Owner of the snooze: a person, or a key or application without one' }),
  thread_id: z.string(),
  snoozed_until: timestamp,
  created_at: timestamp,
  updated_at: timestamp,
});
export const snoozeList = z.strictObject({ data: z.array(snooze) });
