import type { MailWorldMailbox, ReceivedMessage } from '../../test/harness/mail.ts';
import { replyTo } from '../demo/letters.ts';

/** Received email, with the answers that were written to it on the page. */
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

/** Emails that the mail server has accepted since its start. */
export interface Inbox {
  /** Returns the emails, newest first. */
  letters: () => readonly ShownLetter[];
  find: (id: number) => ShownLetter | undefined;
  receive(message: ReceivedMessage): Promise<void>;
  /** Adds the recipient's answer to the mailbox that sent the email. */
  answer(letter: ShownLetter, words: string): Promise<void>;
}

/** Maximum number of stored emails; the oldest are deleted first. */
const KEPT = 500;

/** Creates an empty inbox for the emails of one mailbox. */
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
