import {
  startMailWorld,
  type Endpoint,
  type MailWorld,
  type MailWorldMailbox,
  type ReceivedMessage,
} from '../../test/harness/mail.ts';
import { EMAILS, MARKS, type EmailName } from './campaign.ts';

/** Email of the campaign as received by its recipient. */
export interface Email {
  name: EmailName;
  to: string;
  /** Address of the sending mailbox. */
  from: string;
  messageId: string;
  inReplyTo: string | undefined;
  references: readonly string[];
  subject: string;
  text: string;
  /**
   * URLs that a mail program finds in the email: the image for open tracking, the links, and the List-Unsubscribe URL.
   */
  pixel: string | undefined;
  links: readonly string[];
  oneClick: string | undefined;
  at: Date;
}

/** Outside world of the demo: the senders' mail provider and their inboxes. */
export interface World {
  mailboxes: readonly MailWorldMailbox[];
  smtp: Endpoint;
  /** Adds a mailbox to the mail servers, such as a bought one. */
  addMailbox: MailWorld['addMailbox'];
  /** All emails that the mail server accepted, oldest first. The product's numbers are compared with them. */
  emails: readonly Email[];
  /** Emails that do not belong to the campaign; must be empty. */
  strangers: readonly string[];
  /** Returns the emails to these addresses. */
  emailsTo(addresses: readonly string[]): Email[];
  onEmail(listener: (email: Email) => void): void;
  /** Makes the server refuse emails to this address with 550 from now on. */
  refuse(address: string): void;
  /** Makes the provider report from now on that this mailbox has reached its daily limit. */
  limit(mailbox: string): void;
  /** Makes the mail server unreachable, and then reachable again. `attempts` counts the connections in between. */
  outage: { begin(): void; end(): void; readonly attempts: number };
  /** Adds a message to the inbox of one of the senders. */
  answer(mailbox: string, raw: Buffer | string): void;
  stop(): Promise<void>;
}

/**
 * Ten mailboxes, the maximum of a free workspace; each sends at most 100 campaign emails a day. Each name exists at two
 * domains, which is common in large campaigns.
 */
const NAMES = ['mia', 'noah', 'lena', 'paul', 'ines'];
const DOMAINS = ['northlight.example', 'trynorthlight.example'];
const SENDERS = DOMAINS.flatMap((domain) => NAMES.map((name) => `${name}@${domain}`));

/** Starts the mail servers with `count` sending mailboxes. */
export async function startWorld(count: number): Promise<World> {
  const mail = await startMailWorld();
  const mailboxes = await Promise.all(
    SENDERS.slice(0, count).map((email) => mail.addMailbox({ email, password: `pass-of-${email}` })),
  );
  const emails: Email[] = [];
  const strangers: string[] = [];
  const listeners: ((email: Email) => void)[] = [];

  mail.onMessage((message) => {
    readEmail(message).then(
      (email) => {
        if (!email) return strangers.push(`${message.envelope.from} to ${message.envelope.to.join(', ')}`);
        emails.push(email);
        for (const listener of listeners) listener(email);
      },
      (error: unknown) => strangers.push(String(error)),
    );
  });

  return {
    mailboxes,
    smtp: mail.smtp,
    addMailbox: (user) => mail.addMailbox(user),
    emails,
    strangers,
    emailsTo: (addresses) => emails.filter(({ to }) => addresses.includes(to)),
    onEmail: (listener) => void listeners.push(listener),
    limit: (mailbox) =>
      mail.server.refuseSender(mailbox, { code: 550, message: '5.4.5 Daily user sending limit exceeded' }),
    outage: {
      begin: () => mail.server.setAway(true),
      end: () => mail.server.setAway(false),
      get attempts() {
        return mail.server.turnedAway;
      },
    },
    refuse: (address) => mail.script(address, { kind: 'reject', message: '5.1.1 No such user here' }),
    answer: (mailbox, raw) => mailboxes.find(({ email }) => email === mailbox)!.deliver(raw),
    stop: () => mail.stop(),
  };
}

async function readEmail(message: ReceivedMessage): Promise<Email | undefined> {
  const parsed = await message.parsed();
  const text = parsed.text ?? '';
  const html = typeof parsed.html === 'string' ? parsed.html : '';
  const name = EMAILS.find((email) => text.replace(/\s+/g, ' ').includes(MARKS[email]));
  const [to, ...others] = message.envelope.to;
  if (!name || !to || others.length > 0) return undefined;
  return {
    name,
    to,
    from: message.envelope.from,
    messageId: parsed.messageId ?? '',
    inReplyTo: parsed.inReplyTo,
    references: [parsed.references ?? []].flat(),
    subject: parsed.subject ?? '',
    text,
    pixel: /<img[^>]+src="([^"]+\/o\/[^"]+)"/.exec(html)?.[1],
    links: [...html.matchAll(/<a[^>]+href="([^"]+)"/g)].map((match) => match[1]!),
    oneClick: /^List-Unsubscribe: <([^>]+)>/im.exec(message.raw.toString('latin1'))?.[1],
    at: message.at,
  };
}
