import type { MailWorldMailbox, ReceivedMessage } from '../../test/harness/mail.ts';
import { replyTo } from '../demo/emails.ts';

/** Received email with the answers that people have written to it on the page. */
export interface ShownEmail {
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
  emails: () => readonly ShownEmail[];
  find: (id: number) => ShownEmail | undefined;
  receive(message: ReceivedMessage): Promise<void>;
  /** Adds the recipient's answer to the mailbox that sent the email. */
  answer(email: ShownEmail, words: string): Promise<void>;
}

/** Maximum number of stored emails; the oldest are deleted first. */
const KEPT = 500;

/** Creates an empty inbox for the emails of one mailbox. */
export function createInbox(mailbox: MailWorldMailbox): Inbox {
  const emails: ShownEmail[] = [];
  let last = 0;
  return {
    emails: () => emails.toReversed(),
    find: (id) => emails.find((email) => email.id === id),
    async receive(message) {
      const parsed = await message.parsed();
      emails.push({
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
      if (emails.length > KEPT) emails.shift();
    },
    async answer(email, words) {
      mailbox.deliver(await replyTo(email, words));
      email.answers.push(words);
    },
  };
}
