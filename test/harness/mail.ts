import { startImapBox, type Folder, type ImapBox, type StoredMessage } from './mail-imap.ts';
import { startSmtpSink, type ReceivedMessage, type RecipientScript, type SmtpSink } from './mail-smtp.ts';
import { recordRead } from './recorded-reads.ts';

export type { ReceivedMessage } from './mail-smtp.ts';

export interface Endpoint {
  host: string;
  port: number;
}

/** User with a login on the SMTP server and an IMAP server. */
export interface MailWorldMailbox {
  email: string;
  password: string;
  smtp: Endpoint;
  imap: Endpoint;
  /** Puts a message into the INBOX or another folder. */
  deliver: (raw: Buffer | string, folder?: Folder) => void;
  messages: (folder: Folder) => StoredMessage[];
  /** Names of the IMAP commands that the mailbox's clients have sent so far. */
  commands: readonly string[];
  /** Capabilities that the IMAP server currently lacks. Tests add and delete entries. */
  lacks: ImapBox['lacks'];
  /** Accepts only this password from now on, by SMTP and IMAP. */
  setPassword(password: string): void;
  /** Accepts only this access token from now on, by XOAUTH2. */
  setToken(token: string): void;
  /** Assigns new UIDs under a new UIDVALIDITY and disconnects clients. */
  renumber: () => void;
}

interface User {
  password: string | null;
  token: string | null;
  box: ImapBox;
  isSpam: (raw: Buffer) => boolean;
}

/** Real mail servers inside the test's process. */
export interface MailWorld {
  smtp: Endpoint;
  /** Every message that the SMTP server has accepted, oldest first: the reference for comparisons. */
  messages: readonly ReceivedMessage[];
  /**
   * Creates a user with a mailbox. Emails that are sent to its address through this SMTP server arrive in its INBOX.
   */
  addMailbox(user: {
    email: string;
    password: string;
    imapPort?: number;
    /** If given, the mailbox has a Junk folder for messages for which this function returns true. */
    spam?: (raw: Buffer) => boolean;
  }): Promise<MailWorldMailbox>;
  /** Sets the behaviour for emails to one address from now on. */
  script: (address: string, script: RecipientScript) => void;
  /** Controls of the server: refused senders and availability. */
  server: Pick<SmtpSink, 'refuseSender' | 'setAway' | 'turnedAway'>;
  /** Calls the listener for each message from now on; returns a function that removes it. */
  onMessage(listener: (message: ReceivedMessage) => void): () => void;
  /**
   * Returns the first matching message, past or future.
   * @throws Error that lists the received messages, after `timeoutMs`
   */
  waitFor(predicate: (message: ReceivedMessage) => boolean, timeoutMs: number): Promise<ReceivedMessage>;
  stop(): Promise<void>;
}

/**
 * Starts one SMTP server; each `addMailbox` adds an IMAP server. They listen on free ports unless given.
 * @param options.startTls offers STARTTLS with the certificate of smtp-server
 * @param options.now arrival time of messages in folders; default: this machine's clock
 */
export async function startMailWorld(
  options: { startTls?: boolean; smtpPort?: number; now?: () => Date } = {},
): Promise<MailWorld> {
  const users = new Map<string, User>();
  const listeners = new Set<(message: ReceivedMessage) => void>();

  const smtp = await startSmtpSink({
    startTls: options.startTls ?? false,
    ...(options.smtpPort === undefined ? {} : { port: options.smtpPort }),
    accepts: (user, password) => users.get(user.toLowerCase())?.password === password,
    acceptsToken: (user, token) => users.get(user.toLowerCase())?.token === token,
    onMessage(message) {
      for (const address of message.envelope.to) {
        const user = users.get(address.toLowerCase());
        user?.box.deliver(message.raw, user.isSpam(message.raw) ? 'Junk' : 'INBOX');
      }
      for (const listener of listeners) listener(message);
    },
  });
  const endpoint: Endpoint = { host: smtp.host, port: smtp.port };

  const onMessage: MailWorld['onMessage'] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

  return {
    smtp: endpoint,
    get messages() {
      recordRead('emails to', () => smtp.messages.map(({ envelope }) => envelope.to.join(', ')));
      return smtp.messages;
    },
    script: smtp.script,
    server: smtp,
    onMessage,
    async addMailbox({ email, password, imapPort, spam }) {
      const box = await startImapBox(email, password, { port: imapPort, junk: spam !== undefined, now: options.now });
      const user: User = { password, token: null, box, isSpam: spam ?? (() => false) };
      users.set(email.toLowerCase(), user);
      return {
        email,
        password,
        smtp: endpoint,
        imap: { host: box.host, port: box.port },
        deliver: box.deliver,
        messages: box.messages,
        commands: box.commands,
        lacks: box.lacks,
        setPassword(changed) {
          user.password = changed;
          box.setPassword(changed);
        },
        setToken(token) {
          Object.assign(user, { password: null, token });
          box.setToken(token);
        },
        renumber: box.renumber,
      };
    },
    waitFor(predicate, timeoutMs) {
      const past = smtp.messages.find(predicate);
      if (past) return Promise.resolve(past);
      return new Promise((resolve, reject) => {
        const unsubscribe = onMessage((message) => {
          if (!predicate(message)) return;
          clearTimeout(timer);
          unsubscribe();
          resolve(message);
        });
        const timer = setTimeout(() => {
          unsubscribe();
          const came = smtp.messages.map((message) => message.envelope.to.join(', ')).join('; ') || 'nothing';
          reject(new Error(`No such message within ${timeoutMs} ms. What came, by recipient: ${came}`));
        }, timeoutMs);
      });
    },
    async stop() {
      await Promise.all([smtp.stop(), ...[...users.values()].map(({ box }) => box.stop())]);
    },
  };
}
