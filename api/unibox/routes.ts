import type { z } from 'zod';
import { readThread, type ThreadMessage } from '../../domain/unibox/thread.ts';
import { listThreads, type ThreadRow } from '../../domain/unibox/threads.ts';
import { route, type AnyRoute } from '../http/route.ts';
import { iso, presentPage } from '../http/schemas.ts';
import { messagePage, threadListQuery, threadPage, threadQuery } from './schemas.ts';

const read = { area: 'unibox', scope: ['READ_UNIBOX'], permission: 'view_campaigns' } as const;
/** Characters of a message shown in a list. */
const SNIPPET = 200;

function presentThread({
  mailbox_id,
  from_email,
  from_name: _name,
  to_emails,
  received_at,
  ...row
}: ThreadRow): z.input<typeof threadPage>['data'][number] {
  return {
    ...row,
    snippet: snippetOf(row.snippet),
    email_id: mailbox_id,
    from_addr: addresses(from_email),
    to_addr: to_emails,
    internal_date: iso(received_at),
  };
}

function presentMessage(threadId: string, message: ThreadMessage): z.input<typeof messagePage>['data'][number] {
  const { id, direction, message_id, subject, size, seen, body_plain, kind, intent, contact_id, campaign_id, step_id } =
    message;
  const { body_html, rendered_again, attachments } = message;
  return {
    id,
    direction,
    message_id,
    subject,
    size,
    seen,
    body_plain,
    ...(body_html === null ? {} : { body_html }),
    rendered_again,
    attachments: attachments.map(({ filename, content_type, size_bytes }) => ({ filename, content_type, size_bytes })),
    kind,
    intent,
    contact_id,
    campaign_id,
    step_id,
    thread_id: threadId,
    email_id: message.mailbox_id,
    from_addr: addresses(message.from_address),
    to_addr: message.to_addresses,
    cc: message.cc_addresses,
    bcc: message.bcc_addresses,
    in_reply_to: message.in_reply_to === null ? [] : [message.in_reply_to],
    snippet: snippetOf(body_plain),
    internal_date: iso(message.at),
    created_at: iso(message.created_at),
  };
}

/** The beginning of a text in one line, cut between characters. */
function snippetOf(text: string): string {
  return [
    ...text
      .slice(0, 2 * SNIPPET)
      .replace(/\s+/g, ' ')
      .trim(),
  ]
    .slice(0, SNIPPET)
    .join('');
}

/** A message that could not be read has no sender. */
function addresses(one: string): string[] {
  return one === '' ? [] : [one];
}

/** The unified inbox, read: conversations over all mailboxes. */
export const uniboxRoutes: readonly AnyRoute[] = [
  route({
    ...read,
    operationId: 'unibox.list',
    method: 'get',
    path: '/unibox',
    summary: 'Conversations with a received message, newest arrival first',
    description: 'One row per conversation, shown by the newest message that came in; filters are about that message.',
    query: threadListQuery,
    success: { status: 200, body: threadPage },
    handler: async (ctx, { query: { limit, cursor, email_id, email_ids, ...filters } }) => {
      const mailboxIds = email_id === undefined ? email_ids : [email_id, ...(email_ids ?? [])];
      return presentPage(await listThreads(ctx, { limit, cursor }, { ...filters, mailboxIds }), presentThread);
    },
  }),
  route({
    ...read,
    operationId: 'unibox.getThread',
    method: 'get',
    path: '/unibox/thread',
    summary: 'The messages of one conversation, oldest first',
    description:
      'What came in and what left, across mailboxes unless one is named: campaign emails, and those that people and agents wrote. The text of campaign emails is not kept; it is made again from the step and the contact as they are now.',
    query: threadQuery,
    success: { status: 200, body: messagePage },
    errors: ['not_found'],
    handler: async (ctx, { query: { limit, cursor, thread_id, id, email_id, email } }) => {
      const threadId = (thread_id ?? id)!;
      return presentPage(await readThread(ctx, threadId, { limit, cursor }, email_id ?? email), (message) =>
        presentMessage(threadId, message),
      );
    },
  }),
];
