import type { MailWorldMailbox, ReceivedMessage } from '../../test/harness/mail.ts';
import { replyTo } from '../demo/letters.ts';

/** A letter as it arrived, and the answers that were written to it here. */
export interface ShownLetter {
  id: number;
  from: string;
  to: string;
  subject: string;
  text: string;
  messageId: string;
  inReplyTo: string | null;
  references: string[];
  at: Date;
  answers: string[];
}

/** The letters that the mail server has taken since it started. */
export interface Inbox {
  /** Newest first. */
  letters: () => readonly ShownLetter[];
  find: (id: number) => ShownLetter | undefined;
  receive(message: ReceivedMessage): Promise<void>;
  /** Puts an answer of the recipient into the mailbox that the letter came from. */
  answer(letter: ShownLetter, words: string): Promise<void>;
}

/** Letters kept at most; the oldest go first. */
const KEPT = 500;

/** An empty inbox for the letters of one mailbox. */
export function createInbox(mailbox: MailWorldMailbox): Inbox {
  const letters: ShownLetter[] = [];
  let last = 0;
  return {
    letters: () => letters.toReversed(),
    find: (id) => letters.find((letter) => letter.id === id),
    async receive(message) {
      const parsed = await message.parsed();
      letters.push({
        id: (last += 1),
        from: message.envelope.from,
        to: message.envelope.to.join(', '),
        subject: parsed.subject ?? '',
        text: parsed.text ?? '',
        messageId: parsed.messageId ?? '',
        inReplyTo: parsed.inReplyTo ?? null,
        references: [parsed.references ?? []].flat(),
        at: message.at,
        answers: [],
      });
      if (letters.length > KEPT) letters.shift();
    },
    async answer(letter, words) {
      mailbox.deliver(await replyTo(letter, words));
      letter.answers.push(words);
    },
  };
}
