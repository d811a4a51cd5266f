import type { StoredAnswer } from '../../../db/json-columns.ts';
import type { InboundClassification } from '../../mail/inbound/classify.ts';
import { INTENT_OF_KIND, toReplyKind, type ReplyIntent, type ReplyKind } from '../../mail/inbound/intent.ts';
import { biasFrom } from '../../mail/reading/bias.ts';
import type { AnswerKind, ReadingBias } from '../../mail/reading/read-reply.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { storableText } from '../../platform/storable-text.ts';
import { subjectPayload, type ReceivedFacts, type Subject } from './subject.ts';

const MAX_WORD = 100;
const MAX_PERSON = 320;

/**
 * Returns the part of a classification that is stored with the message. Returns null for reports and automatic mail.
 */
export function toStoredAnswer(reading: InboundClassification): StoredAnswer | null {
  if (reading.kind !== 'reply' && reading.kind !== 'out_of_office') return null;
  const { answer, intent } = reading;
  if (intent === null) return null;
  const isReply = reading.kind === 'reply';
  const asks = isReply && (reading.unsubscribeRequest || reading.unsubscribeDoubtful);
  const kind = isReply && reading.unsubscribeRequest ? 'opt_out' : kindOf(toReplyKind(answer.kind), intent);
  const until = isReply ? answer.time?.day : (reading.returnDate ?? answer.time?.day);
  const { person } = answer;
  return {
    kind,
    confidence: isReply ? reading.confidence : answer.confidence,
    words: answer.words.map((word) => storableText(word, MAX_WORD)),
    force: asks ? answer.force : null,
    until: until?.toISOString() ?? null,
    until_words: answer.time ? storableText(answer.time.words, MAX_WORD) : null,
    person: person && {
      name: person.name && storableText(person.name, MAX_PERSON),
      email: person.address && storableText(person.address, MAX_PERSON),
    },
  };
}

/**
 * Returns the kind that the model found if it belongs to the intent. Otherwise the workspace's keywords decided the
 * intent, and the intent is the kind.
 */
function kindOf(kind: ReplyKind, intent: ReplyIntent): ReplyKind {
  return INTENT_OF_KIND[kind] === intent ? kind : intent;
}

/** Numbers of corrections by found kind and corrected kind, as stored in a row. */
export type StoredCorrections = [read: ReplyKind, said: ReplyKind, count: number][];

/** Returns the classifier's bias computed from stored corrections. */
export function biasOf(corrections: StoredCorrections): ReadingBias {
  return biasFrom(
    corrections.map(([read, said, count]) => ({ read: toAnswerKind(read), said: toAnswerKind(said), count })),
  );
}

function toAnswerKind(kind: ReplyKind): AnswerKind {
  return kind === 'automated' ? 'automatic' : kind;
}

/** Classification of a message, with the fields of its event. */
interface Classified {
  kind: ReplyKind;
  intent: string | null;
  confidence: number;
  force: StoredAnswer['force'];
  /** True if a person must decide whether the message is an opt-out. */
  asksToStop: boolean;
  /** The intent before a correction; absent for the first classification. */
  previousIntent?: string | null;
}

/**
 * Emits inbox.reply_classified for a classification or its correction. For a legal threat, also creates emails to the
 * owners of the workspace.
 */
export async function announceReading(
  tx: Tx,
  subject: Subject,
  received: ReceivedFacts,
  classified: Classified,
): Promise<void> {
  const { kind, intent, confidence, force, asksToStop, previousIntent } = classified;
  tx.emit('inbox.reply_classified', {
    ...subjectPayload(subject),
    email_id: received.id,
    reply_message_id: received.messageId,
    thread_id: received.threadId,
    from_email: received.fromEmail,
    subject: received.subject,
    received_at: received.receivedAt.toISOString(),
    intent,
    intent_confidence: confidence,
    kind,
    opt_out_force: kind === 'opt_out' ? (force ?? 'stop') : null,
    asks_to_stop: asksToStop,
    corrected: previousIntent !== undefined,
    previous_intent: previousIntent ?? null,
  });
  if (kind === 'opt_out' && force === 'legal') await noteLegalThreat(tx, received.id);
}

/** Creates one email per message for each owner of the workspace. A periodic job sends them. */
async function noteLegalThreat(tx: Tx, messageId: string): Promise<void> {
  await tx.org.sql(
    `insert into legal_threat_mails (message_id, user_id, organization_id, created_at)
     select :message, m.user_id, :org, :now from memberships m join roles r on r.id = m.role_id and r.is_owner
     where m.organization_id = :org on conflict do nothing`,
    { message: messageId, now: tx.now },
  );
}
