import type { StoredAnswer } from '../../../db/json-columns.ts';
import type { ReplyKind } from '../../mail/inbound/intent.ts';

/** The classification of a received message, including a person's correction. */
interface Answer extends Omit<StoredAnswer, 'kind'> {
  kind: ReplyKind;
  /** True if a person set the kind. The other fields are from the automatic classification. */
  corrected: boolean;
}

/** Columns of a message from which its classification is built. */
interface AnswerColumns {
  answer: StoredAnswer | null;
  corrected_kind: string | null;
}

/** SQL condition: a person must decide whether the message of row `alias` asks to stop the emails. */
export const ASKS_TO_STOP = (alias: string): string =>
  `exists (select from opt_out_questions q where q.organization_id = :org and q.message_id = ${alias}.id)`;

/**
 * Returns the current classification of a message, including a correction. Null if the message was neither classified
 * nor corrected.
 */
export function toAnswer({ answer, corrected_kind: corrected }: AnswerColumns): Answer | null {
  if (corrected === null) return answer && { ...answer, kind: answer.kind as ReplyKind, corrected: false };
  const read = answer ?? { words: [], force: null, until: null, until_words: null, person: null };
  return { ...read, kind: corrected as ReplyKind, confidence: 1, corrected: true };
}
