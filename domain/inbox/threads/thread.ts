import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { readSentContents } from '../../sending/control/sent-content.ts';
import type { InboundKind } from '../../sending/outcomes/record-inbound.ts';
import { inMailboxes, SENT_STATES, OUR_EMAILS } from '../conversation.ts';
import { filesThatLeft, RECEIVED_FILES, SENT_FILES, storedBlobs, type MessageFile } from './message.ts';
import type { StoredAnswer } from '../../../db/json-columns.ts';
import { ASKS_TO_STOP } from './answer.ts';
import { readableMailboxes } from './threads.ts';

/**
 * One message of a conversation, received or sent. A sent message has the content that was sent, see {@link
 * ThreadMessage.content_kept}.
 */
export interface ThreadMessage {
  id: string;
  direction: 'received' | 'sent';
  mailbox_id: string | null;
  message_id: string | null;
  from_address: string;
  to_addresses: string[];
  cc_addresses: string[];
  bcc_addresses: string[];
  reply_to_addresses: string[];
  in_reply_to: string | null;
  subject: string;
  body_plain: string;
  body_html: string | null;
  /** False if the content of a campaign email is no longer stored. Its bodies are then empty. */
  content_kept: boolean;
  attachments: MessageFile[];
  size: number;
  at: Date;
  seen: boolean;
  kind: InboundKind | null;
  intent: string | null;
  answer: StoredAnswer | null;
  corrected_kind: string | null;
  asks_to_stop: boolean;
  contact_id: string | null;
  campaign_id: string | null;
  step_id: string | null;
  created_at: Date;
}

/**
 * SQL expression for a timestamp in UTC with microseconds, as PostgreSQL writes it. A JavaScript Date holds only
 * milliseconds.
 */
const AT_TEXT = `to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')`;

/**
 * Returns the messages of one conversation, oldest first. Contains the messages of all mailboxes unless one is named.
 * Includes every sent message of a conversation that began with the same Message-ID.
 * @throws AppError not_found for a thread without a message the caller may read; bad_request for a cursor of another
 * thread; forbidden for a mailbox the key may not use
 */
export async function readThread(
  ctx: Ctx,
  threadId: string,
  page: PageRequest,
  mailboxId?: string,
): Promise<Page<ThreadMessage>> {
  const mailboxes = readableMailboxes(ctx, mailboxId === undefined ? undefined : [mailboxId]);
  const bound = [threadId, mailboxes];
  const position = decodeCursor<[at: string, id: string]>('unibox.thread', bound, page.cursor, [
    isTimestampText,
    isUuid,
  ]);
  const rows = await reader(ctx).sql<ThreadMessage & { at_text: string }>(
    `with left_ids as (${OUR_EMAILS}
     ), messages as (
       select m.id, 'received' as direction, m.mailbox_id, m.message_id, m.from_email as from_address, m.to_emails as to_addresses, m.cc_emails as cc_addresses, '{}'::text[] as bcc_addresses, m.reply_to_emails as reply_to_addresses,
         m.in_reply_to, m.subject, m.body_plain, h.html as body_html, true as content_kept, ${RECEIVED_FILES} as attachments, m.size, m.received_at as at, m.seen, m.kind, m.intent, m.answer, m.corrected_kind, ${ASKS_TO_STOP('m')} as asks_to_stop, m.contact_id, m.campaign_id, null::uuid as step_id, m.created_at
       from inbound_messages m left join inbound_bodies h on h.message_id = m.id where m.organization_id = :org and m.thread_id = :thread ${inMailboxes('m', mailboxes)}
       union all
       select s.id, 'sent', s.mailbox_id, s.message_id, coalesce(b.email, ''), coalesce(d.to_emails, array[s.recipient]),
         coalesce(d.cc_emails, '{}'), coalesce(d.bcc_emails, '{}'), '{}', d.in_reply_to, s.subject, coalesce(d.body_plain, ''), d.body_html, d.id is not null,
         ${SENT_FILES}, 0, coalesce(s.sent_at, s.claimed_at, s.slot_at), true, null, null, null, null, false, s.contact_id, s.campaign_id, s.step_id, s.created_at
       from left_ids l join sends s on s.id = l.id and s.organization_id = :org left join mailboxes b on b.id = s.mailbox_id left join direct_sends d on d.id = s.id
       where s.state in ${SENT_STATES} ${inMailboxes('s', mailboxes)}
     )
     select *, ${AT_TEXT} as at_text from messages
     ${position ? `where (${AT_TEXT}, id) > (:at, cast(:id as uuid))` : ''}
     order by ${AT_TEXT}, id limit :limit`,
    {
      thread: threadId,
      limit: page.limit + 1,
      ...(mailboxes ? { mailboxes } : {}),
      ...(position ? { at: position[0], id: position[1] } : {}),
    },
  );
  if (rows.length === 0 && !position) throw notFound('thread');
  await asTheyLeft(reader(ctx), rows);
  return pageOf(rows, page.limit, (last) => encodeCursor('unibox.thread', bound, [last.at_text, last.id]));
}

/** Replaces the content of a conversation's campaign emails with the content that was sent. */
async function asTheyLeft(org: OrgScope, messages: readonly ThreadMessage[]): Promise<void> {
  const ours = messages.filter(({ direction }) => direction === 'sent');
  const contents = await readSentContents(
    org,
    ours.map(({ id }) => id),
  );
  const stored = await storedBlobs(
    org,
    [...contents.values()].map(({ written }) => written?.files),
  );
  for (const message of ours) {
    const kept = contents.get(message.id);
    if (!kept) continue;
    message.from_address = kept.from;
    message.to_addresses = kept.to;
    message.cc_addresses = kept.cc;
    message.bcc_addresses = kept.bcc;
    message.reply_to_addresses = kept.replyTo === '' ? [] : [kept.replyTo];
    if (!kept.written) continue;
    message.subject = kept.written.subject;
    message.body_plain = kept.written.text;
    message.body_html = kept.written.html;
    message.attachments = filesThatLeft(kept.written.files, stored);
    message.content_kept = true;
  }
}
