import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import type { AnswerByHand } from '../../directory/refused-recipients.ts';
import { isCredential } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { inMailboxes, SENT_STATES, OUR_EMAILS } from '../conversation.ts';
import type { DirectSendKind } from './input.ts';

/** A message of a conversation, received or sent, to which one can reply. */
export interface AnsweredMessage {
  direction: 'received' | 'sent';
  thread_id: string;
  mailbox_id: string | null;
  message_id: string;
  in_reply_to: string | null;
  reference_ids: string[];
  subject: string;
  /** Recipients of a reply: the Reply-To or sender of a received message, or the recipients of a sent one. */
  correspondents: string[];
  /** Additional recipients of a reply to all: To and Cc of a received message, or Cc of a sent one. */
  others: string[] | null;
  /** The From address of a received message. */
  author: string | null;
  /** Campaign email to which the conversation refers. */
  about_send_id: string | null;
  at: Date;
}

/** The message to which a reply refers, and the mailboxes and people of the conversation. */
export interface Conversation {
  answered: AnsweredMessage;
  mailboxIds: ReadonlySet<string>;
  /** Senders and recipients of all messages in the conversation. */
  people: ReadonlySet<string>;
}

const MAX_MESSAGES = 500;

/**
 * Returns the conversation if a person writes a reply in it. Undefined for a new email, and for an email that an API
 * key or application sends.
 */
export function answerByHand(
  { actor, clock }: Pick<Ctx, 'actor' | 'clock'>,
  kind: DirectSendKind,
  answered: Pick<AnsweredMessage, 'thread_id'> | undefined,
): AnswerByHand | undefined {
  if (kind !== 'reply' || !answered || isCredential(actor)) return undefined;
  return { threadId: answered.thread_id, writtenAt: clock.now() };
}

/**
 * Finds the conversation of a reply and the message to which it replies. This is the first known message of
 * `inReplyTo`. Without one, it is the newest received message, or else the newest sent one. Ignores messages of
 * mailboxes that are not in `mailboxes` (null allows all).
 */
export async function findConversation(
  org: OrgScope,
  { threadId, inReplyTo = [] }: { threadId?: string | undefined; inReplyTo?: readonly string[] | undefined },
  mailboxes: readonly string[] | null,
): Promise<Conversation | undefined> {
  const thread = threadId ?? (await threadOf(org, inReplyTo));
  if (thread === undefined) return undefined;
  const messages = await readMessages(org, thread, mailboxes);
  const named = inReplyTo.map((id) => messages.find((one) => one.message_id === id)).find((one) => one !== undefined);
  const answered = named ?? messages.find(({ direction }) => direction === 'received') ?? messages[0];
  if (!answered) return undefined;
  return {
    answered: { ...answered, about_send_id: answered.about_send_id ?? aboutOf(messages) },
    people: new Set(
      messages.flatMap(({ correspondents, others, author }) =>
        [...correspondents, ...(others ?? []), author ?? []].flat(),
      ),
    ),
    mailboxIds: new Set(messages.flatMap(({ mailbox_id: id }) => (id === null ? [] : [id]))),
  };
}

function aboutOf(messages: readonly AnsweredMessage[]): string | null {
  return messages.find(({ about_send_id: about }) => about !== null)?.about_send_id ?? null;
}

/** Returns the conversation of the first Message-ID that is known. */
async function threadOf(org: OrgScope, messageIds: readonly string[]): Promise<string | undefined> {
  if (messageIds.length === 0) return undefined;
  const [row] = await org.sql<Columns<'inbound_messages', 'thread_id'>>(
    `select m.thread_id from unnest(cast(:ids as text[])) with ordinality as t(id, place) cross join lateral (
       select thread_id from inbound_messages where organization_id = :org and message_id = t.id
       union all
       select coalesce(conversation -> 'messageIds' ->> 0, message_id) from sends where organization_id = :org and message_id = t.id
     ) m order by t.place limit 1`,
    { ids: [...messageIds] },
  );
  return row?.thread_id;
}

/** Returns the newest messages of a conversation, newest first. */
async function readMessages(
  org: OrgScope,
  threadId: string,
  mailboxes: readonly string[] | null,
): Promise<AnsweredMessage[]> {
  return org.sql<AnsweredMessage>(
    `with ours as (${OUR_EMAILS}
     )
     select 'received' as direction, m.thread_id, m.mailbox_id, m.message_id, m.in_reply_to, m.reference_ids, m.subject,
       case when m.reply_to_emails = '{}' then array[m.from_email] else m.reply_to_emails end as correspondents,
       m.to_emails || m.cc_emails as others, m.from_email as author, coalesce(d.about_send_id, case when d.id is null then m.send_id end) as about_send_id, m.received_at as at
     from inbound_messages m left join direct_sends d on d.id = m.send_id
     where m.organization_id = :org and m.thread_id = :thread and m.message_id is not null and m.from_email <> '' ${inMailboxes('m', mailboxes)}
     union all
     select 'sent', cast(:thread as text), s.mailbox_id, s.message_id, null, coalesce(array(
         select value from jsonb_array_elements_text(s.conversation -> 'messageIds') with ordinality as i(value, place)
         where value <> s.message_id order by place), '{}'), s.subject,
       coalesce(d.to_emails, array[s.recipient]), d.cc_emails, null, coalesce(d.about_send_id, case when d.id is null then s.id end), coalesce(s.sent_at, s.claimed_at)
     from ours join sends s on s.id = ours.id and s.organization_id = :org left join direct_sends d on d.id = s.id
     where s.state in ${SENT_STATES} and s.message_id is not null ${inMailboxes('s', mailboxes)}
     order by at desc limit ${MAX_MESSAGES}`,
    { thread: threadId, ...(mailboxes ? { mailboxes } : {}) },
  );
}
