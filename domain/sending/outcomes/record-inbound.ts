import { createHash } from 'node:crypto';
import { json } from '../../../db/connection.ts';
import type { StoredAnswer } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import { classifyInbound, type InboundClassification } from '../../mail/inbound/classify.ts';
import { addressesIn } from '../../mail/inbound/fields.ts';
import { safeHtml } from '../../mail/inbound/safe-html.ts';
import { parseInbound, type InboundMessage } from '../../mail/inbound/parse.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { applyInbound, readTimezone } from './apply-inbound.ts';
import { biasOf, toStoredAnswer, type StoredCorrections } from './classified.ts';
import { confirmSent, MESSAGE_REFERS } from './confirm-sent.ts';
import { isOwnMail, matchAnswered, matchByReport, matchBySender, matchSend, type MatchedSend } from './match.ts';
import type { ReceivedFacts } from './subject.ts';
import { sentTexts } from './sent-text.ts';
import { storeReceivedFiles } from './received-files.ts';
import { storableText } from '../../platform/storable-text.ts';
import type { Message } from '../../../messages/index.ts';

export const INBOUND_KINDS = ['reply', 'bounce', 'complaint', 'out_of_office', 'automated', 'other'] as const;
export type InboundKind = (typeof INBOUND_KINDS)[number];

/** Position of a message in a mailbox, and its time of arrival (UTC). */
export interface MessageLocation {
  folder: string;
  uidValidity: number;
  uid: number;
  receivedAt: Date;
}

const MAX_BODY = 64 * 1024;
const MAX_LINE = 1000;
const MAX_SAFE_HTML = 512 * 1024;
/** Number of characters of a report's text that are searched for addresses of sent emails. */
const MAX_PROSE = 8000;
const MAX_WRITTEN = 20;

/**
 * Records one message of a mailbox and all its effects: thread, kind, intent, and the effects of a reply, bounce,
 * complaint or away message. The same transaction advances the folder's position. A second call for the same message
 * does nothing, even under a new UIDVALIDITY.
 * @returns the kind, or null when the message was recorded before
 */
export async function recordInbound(
  ctx: Ctx,
  mailbox: { id: string; email: string },
  raw: Buffer,
  location: MessageLocation,
): Promise<InboundKind | null> {
  const message = await parseInbound(raw);
  const messageId = message.messageId ?? idFor(raw);
  const html = message.html === null ? '' : safeHtml(message.html);
  // The first classification uses the workspace's settings. It finds the matching email, whose campaign determines the
  // applicable settings.
  const workspace = await effectiveSettings(reader(ctx), null);
  const guess = classifyInbound(message, workspace.reply_intent, location.receivedAt);
  return transact(ctx, async (tx) => {
    // Locks the message, so that copies of it in two mailboxes are recorded one after the other and its effects happen
    // once.
    await tx.org.sql(
      `select pg_advisory_xact_lock(hashtextextended(cast(:org as text) || '/inbound/' || :messageId, 0))`,
      { messageId },
    );
    await deleteUnreadable(tx, mailbox.id, location);
    const seen = await findRecorded(tx, mailbox.id, messageId, location);
    if (seen.here) {
      await advanceFolder(tx, mailbox.id, location);
      return null;
    }
    const place = { mailboxId: mailbox.id, receivedAt: location.receivedAt };
    const byId = await matchSend(tx.org, guess.threadIds);
    const named = byId ?? (await matchUnnamed(tx, message, guess, place));
    // A report is applied to the email that it names. A reply to a direct send is applied to the campaign email to
    // which the conversation belongs.
    const isReport = guess.kind === 'bounce' || guess.kind === 'complaint';
    const send = named && !isReport ? await matchAnswered(tx.org, named) : named;
    const own = await isOwnMail(tx.org, message, send?.recipient);
    const reading = await reclassify(tx, message, guess, send, location, seen.corrections);
    const kind = own || (!send && reading.kind === 'reply') ? 'other' : reading.kind;
    const inbound: Inbound = {
      id: newId(),
      kind,
      message,
      messageId,
      location,
      send: own ? undefined : send,
      mailbox,
      threadId: send?.root ?? send?.message_id ?? message.references[0] ?? message.inReplyTo ?? messageId,
      contactId: (own ? null : send?.contact_id) ?? (await findContact(tx, message.authors)),
      intent: own || !send || !('intent' in reading) ? null : reading.intent,
      confidence: reading.kind === 'reply' ? reading.confidence : null,
      answer: own || !send ? null : toStoredAnswer(reading),
    };
    await store(tx, inbound, raw.length);
    await storeContent(tx, inbound, html, ctx.config.ORG_RECEIVED_BYTES);
    if (!own && send && !seen.elsewhere) {
      if (named && named.id !== send.id) await confirmSent(tx, named.id, MESSAGE_REFERS);
      const byAddress = isReport && byId === undefined;
      const facts = factsOf(inbound);
      await applyInbound(tx, { facts, message, mailboxId: mailbox.id, send, byAddress }, reading);
    }
    emitReceived(tx, inbound);
    await advanceFolder(tx, mailbox.id, location);
    return kind;
  });
}

/** First delay (ms) before the next attempt at an unreadable message. Doubles with each attempt, up to a day. */
const FIRST_RETRY_MS = 10 * 60_000;

/** Returns the delay (ms) before the next attempt at an unreadable message. */
export function unreadableWaitMs(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** tries, 24 * 3600_000);
}

/**
 * Deletes the placeholder of a message that was unreadable before. The deletion is rolled back if recording fails.
 */
async function deleteUnreadable(tx: Tx, mailboxId: string, location: MessageLocation): Promise<void> {
  await tx.org
    .table('inbound_messages')
    .where({ mailbox_id: mailboxId, folder: location.folder, uid_validity: location.uidValidity, uid: location.uid })
    .whereNotNull('retry_at')
    .delete();
}

/**
 * Records a message that could not be parsed, so that it is visible and does not block the next one. The message is
 * retried later.
 * @param error describes the problem
 */
export async function recordUnreadable(
  ctx: Ctx,
  mailbox: { id: string; email: string },
  location: MessageLocation,
  size: number,
  error: Message,
): Promise<void> {
  await transact(ctx, async (tx) => {
    await tx.org
      .insert('inbound_messages', {
        id: newId(),
        mailbox_id: mailbox.id,
        folder: location.folder,
        uid_validity: location.uidValidity,
        uid: location.uid,
        thread_id: `${mailbox.id}/${location.folder}/${location.uidValidity}/${location.uid}`,
        filed: location.folder === 'INBOX' ? 'inbox' : 'spam',
        kind: 'other',
        size,
        error: json(error),
        retry_at: new Date(tx.now.getTime() + unreadableWaitMs(0)),
        received_at: location.receivedAt,
        created_at: tx.now,
      })
      .onConflict(['mailbox_id', 'folder', 'uid_validity', 'uid'])
      .ignore();
    await advanceFolder(tx, mailbox.id, location);
  });
}

interface Inbound {
  id: string;
  kind: InboundKind;
  message: InboundMessage;
  messageId: string;
  location: MessageLocation;
  send: MatchedSend | undefined;
  mailbox: { id: string; email: string };
  threadId: string;
  contactId: string | null;
  intent: string | null;
  confidence: number | null;
  answer: StoredAnswer | null;
}

/**
 * Returns an id for a message without a Message-ID. The id is derived from the message's bytes, so that the message is
 * recognized under another UID.
 */
function idFor(raw: Buffer): string {
  return `<${createHash('sha256').update(raw).digest('hex').slice(0, 40)}@no-message-id.invalid>`;
}

/** Result of one statement: the copies of a message that are already recorded, and the data needed to classify it. */
interface Seen {
  here: boolean;
  elsewhere: boolean;
  corrections: StoredCorrections;
}

async function findRecorded(tx: Tx, mailboxId: string, messageId: string, location: MessageLocation): Promise<Seen> {
  const [row] = await tx.org.sql<Seen>(
    `select exists (select 1 from inbound_messages where organization_id = :org and mailbox_id = :mailbox and folder = :folder and uid_validity = :validity and uid = :uid)
         or exists (select 1 from inbound_messages where organization_id = :org and message_id = :messageId and mailbox_id = :mailbox
           and folder = :folder and uid_validity <> :validity) as here,
       exists (select 1 from inbound_messages where organization_id = :org and message_id = :messageId) as elsewhere,
       (select coalesce(jsonb_agg(jsonb_build_array(read_kind, said_kind, count)), '[]') from answer_corrections
        where organization_id = :org and count > 0) as corrections`,
    { mailbox: mailboxId, folder: location.folder, validity: location.uidValidity, uid: location.uid, messageId },
  );
  return row!;
}

/**
 * Returns the email that a message without our Message-ID refers to: the latest email to its author. For a mail
 * system's report, the latest email within a week to one of the reported addresses.
 */
async function matchUnnamed(
  tx: Tx,
  message: InboundMessage,
  guess: InboundClassification,
  place: { mailboxId: string; receivedAt: Date },
): Promise<MatchedSend | undefined> {
  if (guess.kind === 'complaint') return undefined;
  if (guess.kind !== 'bounce') return matchBySender(tx.org, { addresses: message.authors, ...place });
  if (!guess.fromSystem) return undefined;
  const named = guess.recipients.flatMap(({ finalRecipient, originalRecipient }) =>
    [finalRecipient, originalRecipient ?? []].flat(),
  );
  // Forwarding systems often give the original recipient only in the report's text.
  const written = addressesIn(message.text.slice(0, MAX_PROSE), MAX_WRITTEN);
  return matchByReport(tx.org, { addresses: [...named, ...guess.returnedTo, ...written], ...place });
}

/**
 * Classifies the message again, with the settings of the email's campaign, the recipient's time zone, the texts of our
 * emails and the corrections of the workspace.
 */
async function reclassify(
  tx: Tx,
  message: InboundMessage,
  guess: InboundClassification,
  send: MatchedSend | undefined,
  location: MessageLocation,
  corrections: StoredCorrections,
): Promise<InboundClassification> {
  if (!send || guess.kind === 'bounce' || guess.kind === 'complaint') return guess;
  const settings = await effectiveSettings(tx.org, send.campaign_id);
  const sent = { texts: await sentTexts(tx, send.id), subjects: [send.subject] };
  const timezone = await readTimezone(tx, send);
  return classifyInbound(message, settings.reply_intent, location.receivedAt, timezone, sent, biasOf(corrections));
}

async function findContact(tx: Tx, authors: readonly string[]): Promise<string | null> {
  if (authors.length === 0) return null;
  const contact = await tx.org
    .table('contacts')
    .whereIn(
      'email',
      authors.map((address) => storableText(address, 320)),
    )
    .orderBy('id')
    .first('id');
  return contact?.id ?? null;
}

async function store(tx: Tx, inbound: Inbound, size: number): Promise<void> {
  const { message, location, send } = inbound;
  await tx.org.insert('inbound_messages', {
    id: inbound.id,
    mailbox_id: inbound.mailbox.id,
    folder: location.folder,
    uid_validity: location.uidValidity,
    uid: location.uid,
    message_id: inbound.messageId,
    thread_id: inbound.threadId,
    in_reply_to: message.inReplyTo,
    reference_ids: [...message.references],
    from_email: storableText(message.from ?? '', 320),
    from_name: storableText(message.fromName, MAX_LINE),
    to_emails: storableAddresses(message.to),
    cc_emails: storableAddresses(message.cc),
    reply_to_emails: storableAddresses(message.replyTo),
    subject: storableText(message.subject, MAX_LINE),
    body_plain: storableText(message.text, MAX_BODY),
    filed: location.folder === 'INBOX' ? 'inbox' : 'spam',
    kind: inbound.kind,
    intent: inbound.intent,
    intent_confidence: inbound.confidence,
    answer: inbound.answer && json(inbound.answer),
    send_id: send?.id ?? null,
    campaign_id: send?.campaign_id ?? null,
    contact_id: inbound.contactId,
    size,
    received_at: location.receivedAt,
    created_at: tx.now,
  });
}

function storableAddresses(addresses: readonly string[]): string[] {
  return addresses.map((address) => storableText(address, 320));
}

/** Stores the sanitized HTML and the files of a message. */
async function storeContent(tx: Tx, { id, message }: Inbound, html: string, quotaBytes: number): Promise<void> {
  if (html !== '') await tx.org.insert('inbound_bodies', { message_id: id, html: storableText(html, MAX_SAFE_HTML) });
  await storeReceivedFiles(tx, id, message.files, quotaBytes);
}

function emitReceived(tx: Tx, inbound: Inbound): void {
  const { send, contactId, kind, intent } = inbound;
  const facts = factsOf(inbound);
  const data = {
    email_id: facts.id,
    email_account_id: inbound.mailbox.id,
    message_id: facts.messageId,
    thread_id: facts.threadId,
    from_email: facts.fromEmail,
    subject: facts.subject,
    received_at: facts.receivedAt.toISOString(),
    kind,
    intent,
    campaign_id: send?.campaign_id ?? null,
    contact_id: contactId,
  };
  tx.emit('inbox.email_received', data);
  if (kind === 'reply') tx.emit('inbox.reply_received', data);
}

/** Returns the fields of the message that events contain. */
function factsOf({ id, message, messageId, threadId, location }: Inbound): ReceivedFacts {
  return {
    id,
    messageId,
    threadId,
    fromEmail: storableText(message.from ?? '', 320),
    subject: storableText(message.subject, MAX_LINE),
    receivedAt: location.receivedAt,
  };
}

/** Advances the folder's position to this message, unless its UIDVALIDITY has changed. */
export async function advanceFolder(tx: Tx, mailboxId: string, location: MessageLocation): Promise<void> {
  await tx.org.sql(
    `update mailbox_sync set last_uid = greatest(last_uid, :uid), last_synced_at = :now
     where organization_id = :org and mailbox_id = :mailbox and folder = :folder and uid_validity = :validity`,
    { mailbox: mailboxId, folder: location.folder, validity: location.uidValidity, uid: location.uid, now: tx.now },
  );
}
