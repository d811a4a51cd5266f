import type { StoredAnswer } from '../../../db/json-columns.ts';
import type { ReplyKind } from '../../mail/inbound/intent.ts';

/** The reading of a received message, with a person's correction. */
interface Answer extends Omit<StoredAnswer, 'kind'> {
  kind: ReplyKind;
  /** A person gave the kind; the other fields are those of the first reading. */
  corrected: boolean;
}

/** Columns of a message that an answer is made of. */
interface AnswerColumns {
  answer: StoredAnswer | null;
  corrected_kind: string | null;
}

/** SQL: true if a person has to decide whether the message of the row `alias` asks to stop. */
export const ASKS_TO_STOP = (alias: string): string =>
  `exists (select from opt_out_questions q where q.organization_id = :org and q.message_id = ${alias}.id)`;

/** The reading of a message as it stands now; null where nobody has read it and nobody has corrected it. */
export function toAnswer({ answer, corrected_kind: corrected }: AnswerColumns): Answer | null {
  if (corrected === null) return answer && { ...answer, kind: answer.kind as ReplyKind, corrected: false };
  const read = answer ?? { words: [], force: null, until: null, until_words: null, person: null };
  return { ...read, kind: corrected as ReplyKind, confidence: 1, corrected: true };
}
