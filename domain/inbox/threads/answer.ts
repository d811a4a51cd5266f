import type { StoredAnswer } from '../../../db/json-columns.ts';
import type { ReplyKind } from '../../mail/inbound/intent.ts';

/** The reading of a received message, with a person's correction. */
interface Answer extends Omit<StoredAnswer, 'kind'> {
  kind: ReplyKind;
  /** True if a person set the kind. The other fields are of the first reading. */
  corrected: boolean;
}

/** Columns of a message from which its reading is built. */
interface AnswerColumns {
  answer: StoredAnswer | null;
  corrected_kind: string | null;
}

/** SQL: true if a person must decide whether the message of row `alias` asks to stop. */
export const ASKS_TO_STOP = (alias: string): string =>
  `exists (select from opt_out_questions q where q.organization_id = :org and q.message_id = ${alias}.id)`;

/**
 * Returns the current reading of a message, with a correction applied. Null if the message was neither read nor
 * corrected.
 */
export function toAnswer({ answer, corrected_kind: corrected }: AnswerColumns): Answer | null {
  if (corrected === null) return answer && { ...answer, kind: answer.kind as ReplyKind, corrected: false };
  const read = answer ?? { words: [], force: null, until: null, until_words: null, person: null };
  return { ...read, kind: corrected as ReplyKind, confidence: 1, corrected: true };
}
