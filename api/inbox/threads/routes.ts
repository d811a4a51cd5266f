import type { z } from 'zod';
import { reader } from '../../../domain/platform/kernel/transact.ts';
import {
  categoryProblems,
  readThreadLabels,
  replaceThreadLabels,
  type LabelRow,
} from '../../../domain/inbox/threads/labels.ts';
import { isWritten, moveMessages } from '../../../domain/inbox/threads/folder.ts';
import { toAnswer } from '../../../domain/inbox/threads/answer.ts';
import { readOverview } from '../../../domain/inbox/threads/overview.ts';
import type { MessageFile } from '../../../domain/inbox/threads/message.ts';
import { countUnseen, markSeen } from '../../../domain/inbox/threads/seen.ts';
import {
  listSnoozes,
  snoozeProblems,
  snoozeThread,
  unsnoozeThread,
  type Snooze,
} from '../../../domain/inbox/threads/snooze.ts';
import { readThread, type ThreadMessage } from '../../../domain/inbox/threads/thread.ts';
import { listThreads, type ThreadRow } from '../../../domain/inbox/threads/threads.ts';
import { listWritten } from '../../../domain/inbox/threads/written.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { iso, presentPage } from '../../http/schemas.ts';
import {
  countAnswer,
  countQuery,
  folderAnswer,
  folderBody,
  labelList,
  labelsBody,
  messagePage,
  overview,
  type receivedMessage,
  seenAnswer,
  seenBody,
  snooze,
  snoozeBody,
  snoozedQuery,
  snoozeList,
  threadIdQuery,
  threadListQuery,
  threadPage,
  threadQuery,
} from './schemas.ts';

const read = { area: 'threads', scope: ['READ_UNIBOX'], permission: 'view_campaigns' } as const;
const write = { area: 'threads', scope: ['WRITE_UNIBOX'], permission: 'send_campaigns' } as const;
/** Maximum number of characters of a message shown in a list. */
const SNIPPET = 200;

function presentThread({
  mailbox_id,
  from_email,
  from_name: _name,
  to_emails,
  received_at,
  filed,
  is_answered,
  answer,
  corrected_kind,
  kind,
  ...row
}: ThreadRow): z.input<typeof threadPage>['data'][number] {
  return {
    ...row,
    kind: kind as z.input<typeof threadPage>['data'][number]['kind'],
    snippet: snippetOf(row.snippet),
    email_id: mailbox_id,
    from_addr: addresses(from_email),
    to_addr: to_emails,
    internal_date: iso(received_at),
    folder: filed as z.input<typeof threadPage>['data'][number]['folder'],
    awaiting_reply: is_answered,
    answer: presentAnswer({ answer, corrected_kind }),
  };
}

function presentMessage(threadId: string, message: ThreadMessage): z.input<typeof messagePage>['data'][number] {
  const { id, direction, message_id, subject, size, seen, body_plain, kind, intent, contact_id, campaign_id, step_id } =
    message;
  const { body_html, content_kept, attachments, asks_to_stop } = message;
  return {
    id,
    direction,
    message_id,
    subject,
    size,
    seen,
    body_plain,
    ...(body_html === null ? {} : { body_html }),
    content_kept,
    attachments: presentFiles(id, attachments),
    kind,
    intent,
    answer: presentAnswer(message),
    asks_to_stop,
    contact_id,
    campaign_id,
    step_id,
    thread_id: threadId,
    email_id: message.mailbox_id,
    from_addr: addresses(message.from_address),
    to_addr: message.to_addresses,
    cc: message.cc_addresses,
    bcc: message.bcc_addresses,
    reply_to: message.reply_to_addresses,
    in_reply_to: message.in_reply_to === null ? [] : [message.in_reply_to],
    snippet: snippetOf(body_plain),
    internal_date: iso(message.at),
    created_at: iso(message.created_at),
  };
}

/** Returns the classification of a message; null if it has not been classified. */
export function presentAnswer(columns: Parameters<typeof toAnswer>[0]): z.input<typeof receivedMessage>['answer'] {
  const answer = toAnswer(columns);
  if (!answer) return null;
  const { force, ...rest } = answer;
  return { ...rest, opt_out_force: force };
}

/** Returns the files of a message, each with the URL of its bytes. */
export function presentFiles(
  id: string,
  files: readonly MessageFile[],
): z.input<typeof receivedMessage>['attachments'] {
  return files.map(({ id: fileId, filename, content_type, size_bytes, is_stored, left_out }) => ({
    url: is_stored ? `/v1/unibox/${id}/attachments/${fileId}` : null,
    filename,
    content_type,
    size_bytes,
    left_out: left_out as z.input<typeof receivedMessage>['attachments'][number]['left_out'],
  }));
}

/** Returns the beginning of a text as one line, never cut inside a character. */
export function snippetOf(text: string): string {
  return [
    ...text
      .slice(0, 2 * SNIPPET)
      .replace(/\s+/g, ' ')
      .trim(),
  ]
    .slice(0, SNIPPET)
    .join('');
}

/** Returns the sender as a list. It is empty for a message that could not be parsed. */
function addresses(one: string): string[] {
  return one === '' ? [] : [one];
}

function presentLabel({ id, title, color }: LabelRow): z.input<typeof labelList>['data'][number] {
  return { id, title, color };
}

function presentSnooze(row: Snooze): z.input<typeof snooze> {
  const { id, owner_id: user_id, thread_id } = row;
  return {
    id,
    user_id,
    thread_id,
    snoozed_until: iso(row.snoozed_until),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Routes of the unified inbox: conversations over all mailboxes, with labels, marks and snoozes. */
export const threadRoutes: readonly AnyRoute[] = [
  route({
    ...read,
    operationId: 'unibox.list',
    method: 'get',
    path: '/unibox',
    summary: 'List conversations by folder, newest first',
    description:
      'One row per conversation, shown by its latest received message; filters apply to that message. With `q`, lists conversations with a match, latest match first. Folder `sent` shows conversations by their latest email that left, of campaigns, people and agents; `drafts` has a row per draft. Both take only the filters of mailboxes, categories, snoozes and days; GET /unibox/sent searches sent emails.',
    query: threadListQuery,
    success: { status: 200, body: threadPage },
    handler: async (ctx, { query }) => {
      const {
        limit,
        cursor,
        email_id,
        email_ids,
        category_ids: categoryIds,
        awaiting_reply,
        asks_to_stop,
        ...filters
      } = query;
      const mailboxIds = email_id === undefined ? email_ids : [email_id, ...(email_ids ?? [])];
      const { folder } = filters;
      if (isWritten(folder))
        return presentPage(
          await listWritten(ctx, { limit, cursor }, { ...filters, folder, mailboxIds, categoryIds }),
          presentThread,
        );
      const asked = { ...filters, mailboxIds, categoryIds, awaitingReply: awaiting_reply, asksToStop: asks_to_stop };
      return presentPage(await listThreads(ctx, { limit, cursor }, asked), presentThread);
    },
  }),
  route({
    ...read,
    operationId: 'unibox.getThread',
    method: 'get',
    path: '/unibox/thread',
    summary: 'List the messages of a conversation, oldest first',
    description:
      'Received and sent messages, over all mailboxes unless one is named: campaign emails and those written by people and agents. Sent messages are shown as they were sent, before tracking was added.',
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
  route({
    ...read,
    operationId: 'unibox.countUnseen',
    method: 'get',
    path: '/unibox/count',
    summary: 'Count messages not marked as seen, without spam and trash',
    query: countQuery,
    success: { status: 200, body: countAnswer },
    handler: async (ctx, { query }) => ({ count: await countUnseen(ctx, query.email_id) }),
  }),
  route({
    ...write,
    operationId: 'unibox.markSeen',
    method: 'patch',
    path: '/unibox/seen',
    summary: 'Mark messages as seen or unseen',
    description:
      'By ids, at most 500, or all of a folder, at most 10,000 per call, newest first: repeat while `changed` is 10,000. Ids that the caller may not read are skipped. Flags at the mail provider are not changed.',
    body: seenBody,
    success: { status: 200, body: seenAnswer },
    handler: async (ctx, { body }) => {
      const { email_ids: ids, folder } = body;
      return { ...body, changed: await markSeen(ctx, ids ? { ids } : { folder: folder! }, body) };
    },
  }),
  route({
    ...write,
    operationId: 'unibox.moveToFolder',
    method: 'patch',
    path: '/unibox/folder',
    summary: 'Move messages to inbox, archive or trash',
    description:
      'At most 500. Ids that the caller may not read are skipped. Copies at the mail provider are not moved.',
    body: folderBody,
    success: { status: 200, body: folderAnswer },
    handler: async (ctx, { body }) => ({ ...body, changed: await moveMessages(ctx, body.email_ids, body.folder) }),
  }),
  route({
    ...read,
    operationId: 'unibox.getOverview',
    method: 'get',
    path: '/unibox/overview',
    summary: 'Count conversations by folder, mailbox, tag and category',
    success: { status: 200, body: overview },
    handler: async (ctx) => {
      const { generated_at, window_today_start, window_week_start, ...counts } = await readOverview(ctx);
      return {
        ...counts,
        generated_at: iso(generated_at),
        window_today_start: iso(window_today_start),
        window_week_start: iso(window_week_start),
      };
    },
  }),
  route({
    ...read,
    operationId: 'unibox.getLabels',
    method: 'get',
    path: '/unibox/thread/labels',
    summary: 'List the categories of a conversation',
    query: threadIdQuery,
    success: { status: 200, body: labelList },
    errors: ['not_found'],
    handler: async (ctx, { query }) => ({
      data: (await readThreadLabels(ctx, (query.thread_id ?? query.id)!)).map(presentLabel),
    }),
  }),
  route({
    ...write,
    operationId: 'unibox.setLabels',
    method: 'put',
    path: '/unibox/thread/labels',
    summary: 'Replace the categories of a conversation',
    body: labelsBody,
    furtherProblems: (ctx, { category_ids: ids }) => categoryProblems(reader(ctx), ids ?? []),
    success: { status: 200, body: labelList },
    errors: ['not_found'],
    handler: async (ctx, { body }) => ({
      data: (await replaceThreadLabels(ctx, body.thread_id, body.category_ids)).map(presentLabel),
    }),
  }),
  route({
    ...read,
    operationId: 'unibox.listSnoozes',
    method: 'get',
    path: '/unibox/snoozes',
    summary: "List the caller's snoozed conversations, the next to return first",
    success: { status: 200, body: snoozeList },
    handler: async (ctx) => ({ data: (await listSnoozes(ctx)).map(presentSnooze) }),
  }),
  route({
    ...write,
    operationId: 'unibox.snooze',
    method: 'post',
    path: '/unibox/snooze',
    summary: 'Snooze a conversation for the caller until a time',
    description: 'It is hidden from lists until then. Snoozing it again replaces the time.',
    body: snoozeBody,
    furtherProblems: async (ctx, { snoozed_until: until }) => (until ? snoozeProblems(until, ctx.clock.now()) : []),
    success: { status: 200, body: snooze },
    errors: ['not_found'],
    handler: async (ctx, { body }) => presentSnooze(await snoozeThread(ctx, body.thread_id, body.snoozed_until)),
  }),
  route({
    ...write,
    operationId: 'unibox.unsnooze',
    method: 'delete',
    path: '/unibox/snooze',
    summary: 'End the snooze of a conversation',
    query: snoozedQuery,
    success: { status: 204 },
    handler: async (ctx, { query }) => {
      await unsnoozeThread(ctx, query.thread_id);
    },
  }),
];
