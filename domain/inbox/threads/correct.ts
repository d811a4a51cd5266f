import type { Columns } from '../../../db/rows.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { INTENT_OF_KIND, type ReplyKind } from '../../mail/inbound/intent.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { applyCorrection, type CorrectedMessage } from '../../sending/outcomes/apply-correction.ts';
import { announceReading } from '../../sending/outcomes/classified.ts';
import { closeOptOutQuestions } from '../../sending/outcomes/opt-out-question.ts';
import { lockSubject, type ReceivedFacts, type Subject } from '../../sending/outcomes/subject.ts';
import { optedOutBy } from '../../sending/outcomes/withdraw-opt-out.ts';
import { inMailboxes } from '../conversation.ts';
import { toAnswer } from './answer.ts';

/**
 * Kinds of received messages that people cannot correct, because they follow with certainty from the message's format.
 */
const REPORTS: ReadonlySet<string> = new Set(['bounce', 'complaint']);

/** A person's decision about a received message: its kind, or that it does not ask to stop the emails. */
type Correction = { kind: ReplyKind } | { asksToStop: false };

type MessageRow = Columns<
  'inbound_messages',
  | 'id'
  | 'mailbox_id'
  | 'message_id'
  | 'thread_id'
  | 'from_email'
  | 'from_name'
  | 'subject'
  | 'body_plain'
  | 'kind'
  | 'intent'
  | 'answer'
  | 'corrected_kind'
  | 'send_id'
  | 'contact_id'
  | 'error'
  | 'received_at'
>;

/**
 * Corrects the classification of a received message, or stores a person's decision whether it asks to stop the emails.
 * Suppressions, counts and holds change in the same transaction. Tasks, facts and automations are updated later, after
 * the event inbox.reply_classified. Copies of the message in other mailboxes are corrected too. A later correction
 * replaces an earlier one. Repeating a correction changes nothing.
 * @throws AppError not_found for a message that the caller may not read; conflict for a report and a message that could
 * not be read
 */
export async function correctReading(ctx: Ctx, id: string, correction: Correction): Promise<void> {
  await transact(ctx, async (tx) => {
    const seen = await findMessage(tx, id, ctx.actor.allowedMailboxes);
    // Locks the leads and the email before the message, in the same order as when a reply is recorded.
    const subject = (seen.send_id ? await lockSubject(tx, seen.send_id) : undefined) ?? strangerOf(seen);
    const { row, copies } = await lockCopies(tx, seen);
    const asked = await closeQuestions(tx, copies);
    const locked = { row, copies, asked, subject };
    if ('kind' in correction) await correct(tx, locked, correction.kind);
    else await decline(tx, locked);
  });
}

async function findMessage(tx: Tx, id: string, mailboxes: readonly string[] | null): Promise<MessageRow> {
  const [row] = isUuid(id)
    ? await tx.org.sql<MessageRow>(
        `select ${COLUMNS} from inbound_messages m where m.organization_id = :org and m.id = :id ${inMailboxes('m', mailboxes)}`,
        { id, ...(mailboxes ? { mailboxes } : {}) },
      )
    : [];
  if (!row) throw notFound('message');
  if (REPORTS.has(row.kind) || row.error !== null)
    throw new AppError('conflict', message('threads.not_correctable', { kind: row.kind }));
  return row;
}

const COLUMNS = `m.id, m.mailbox_id, m.message_id, m.thread_id, m.from_email, m.from_name, m.subject, m.body_plain, m.kind, m.intent, m.answer, m.corrected_kind,
  m.send_id, m.contact_id, m.error, m.received_at`;

/** Locks a message and its copies in other mailboxes, and then reads it again. */
async function lockCopies(
  tx: Tx,
  { id, message_id, from_email }: MessageRow,
): Promise<{ row: MessageRow; copies: string[] }> {
  const rows = await tx.org.sql<MessageRow>(
    `select ${COLUMNS} from inbound_messages m
     where m.organization_id = :org and (m.id = :id or (m.message_id = :messageId and m.from_email = :from)) order by m.id for update`,
    { id, messageId: message_id, from: from_email },
  );
  const row = rows.find((one) => one.id === id);
  if (!row) throw notFound('message');
  return { row, copies: rows.map((one) => one.id) };
}

async function closeQuestions(tx: Tx, copies: readonly string[]): Promise<string[]> {
  const asked: string[] = [];
  for (const id of copies) asked.push(...(await closeOptOutQuestions(tx, id)));
  return asked;
}

/**
 * Records that the message does not ask to stop the emails, and corrects a classification that says so. If the message
 * caused an opt-out of another person, that opt-out remains.
 */
async function decline(tx: Tx, locked: Locked): Promise<void> {
  const { row, copies, asked, subject } = locked;
  if (asked.length === 0) return;
  const optedOut = await optedOutBy(tx, [row.from_email, subject.email], copies);
  if (toAnswer(row)?.kind === 'opt_out' && optedOut.size === 0)
    return correct(tx, locked, (row.intent as ReplyKind | null) ?? 'neutral');
  tx.emit('inbox.email_updated', {
    email_id: row.id,
    email_account_id: row.mailbox_id,
    change: 'asks_to_stop',
    asks_to_stop: false,
  });
  tx.audit({
    action: 'update',
    entityType: 'inbound_message',
    entityId: row.id,
    changes: { asks_to_stop: { from: true, to: false } },
  });
}

interface Locked {
  row: MessageRow;
  copies: readonly string[];
  asked: readonly string[];
  subject: Subject;
}

async function correct(tx: Tx, { row, copies, asked, subject }: Locked, kind: ReplyKind): Promise<void> {
  const before = toAnswer(row)?.kind ?? null;
  const isSame = row.corrected_kind === kind || (before === kind && kind !== 'opt_out');
  if (isSame && asked.length === 0) return;
  const facts = factsOf(row);
  const intent = INTENT_OF_KIND[kind];
  const corrected: CorrectedMessage = { ...row, facts, copies, asked };
  await applyCorrection(tx, subject, corrected, kind);
  await tx.org.sql(
    `update inbound_messages set intent = :intent, intent_confidence = 1, corrected_kind = :kind
     where organization_id = :org and id = any(cast(:copies as uuid[]))`,
    { copies: [...copies], intent, kind },
  );
  await learn(tx, row, kind);
  await announceReading(tx, subject, facts, {
    kind,
    intent,
    confidence: 1,
    force: row.answer?.force ?? null,
    asksToStop: false,
    previousIntent: row.intent,
  });
  tx.audit({
    action: 'update',
    entityType: 'inbound_message',
    entityId: row.id,
    changes: { kind: { from: before, to: kind }, intent: { from: row.intent, to: intent } },
  });
}

/**
 * Counts the correction, which influences later classifications. It replaces an earlier correction of the same message.
 */
async function learn(tx: Tx, { answer, corrected_kind: earlier }: MessageRow, kind: ReplyKind): Promise<void> {
  if (!answer) return;
  const count = (said: string, step: 1 | -1) =>
    tx.org.sql(
      `insert into answer_corrections as c (organization_id, read_kind, said_kind, count) values (:org, :read, :said, :step)
       on conflict (organization_id, read_kind, said_kind) do update set count = c.count + excluded.count`,
      { read: answer.kind, said, step },
    );
  // Sorts the kinds, so that two concurrent corrections lock rows in the same order and cannot deadlock.
  const steps = new Map<string, 1 | -1>();
  if (earlier !== null && earlier !== answer.kind && earlier !== kind) steps.set(earlier, -1);
  if (kind !== answer.kind && kind !== earlier) steps.set(kind, 1);
  for (const [said, step] of [...steps].sort(([a], [b]) => a.localeCompare(b))) await count(said, step);
}

/** Returns the person to whom the effects of a message apply if it does not reply to a sent email: its author. */
function strangerOf({ from_email, contact_id }: MessageRow): Subject {
  return {
    send: null,
    isDirect: true,
    campaignId: null,
    enrollmentId: null,
    contactId: contact_id,
    email: from_email,
  };
}

function factsOf(row: MessageRow): ReceivedFacts {
  return {
    id: row.id,
    messageId: row.message_id ?? '',
    threadId: row.thread_id,
    fromEmail: row.from_email,
    subject: row.subject,
    receivedAt: row.received_at,
  };
}
