import type { Keyring } from '../../../lib/keyring.ts';
import type { SmtpTarget } from '../../../lib/smtp/index.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';

/** A stored mail service of a mailbox, without the password. */
export interface MailService {
  host: string;
  port: number;
  username: string;
  security: 'tls' | 'starttls' | 'none';
}

export interface SealedMailbox {
  id: string;
  smtp: MailService;
  imap: MailService | null;
  credentials: Buffer;
  credentials_version: number;
  /** Encrypted tokens of a mailbox connected by OAuth consent. Undefined or null for a mailbox with passwords. */
  tokens?: Buffer | null;
}

/** Decrypted passwords of a mailbox. Never log them or pass them to a workflow. */
interface Passwords {
  smtp_password: string;
  imap_password: string;
}

/** Marker stored in place of passwords for a mailbox connected by OAuth consent. */
interface ByConsent {
  consent: true;
}

/** Decrypted tokens of a mailbox. Never log them or pass them to a workflow. */
export interface MailboxTokens {
  access_token: string;
  refresh_token: string;
}

/** Returns the server and account with which a mailbox sends. */
export function smtpTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget {
  return targetOf(keyring, mailbox, mailbox.smtp, 'smtp_password');
}

/** Returns the server and account with which a mailbox is read. Returns undefined for a mailbox without IMAP. */
export function imapTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget | undefined {
  return mailbox.imap ? targetOf(keyring, mailbox, mailbox.imap, 'imap_password') : undefined;
}

/** Encrypts tokens for storage. */
export function sealTokens(keyring: Keyring, mailboxId: string, tokens: MailboxTokens): Buffer {
  return keyring.seal(JSON.stringify(tokens), SEAL_PLACES.mailboxToken(mailboxId));
}

/** Decrypts stored tokens. Throws an error if no key of the keyring can decrypt them. */
export function openTokens(keyring: Keyring, mailboxId: string, sealed: Buffer): MailboxTokens {
  return JSON.parse(keyring.open(sealed, SEAL_PLACES.mailboxToken(mailboxId)).toString('utf8')) as MailboxTokens;
}

/** Encrypts the marker stored in place of passwords for a mailbox connected by OAuth consent. */
export function sealConsent(keyring: Keyring, mailboxId: string): Buffer {
  return keyring.seal(JSON.stringify({ consent: true } satisfies ByConsent), SEAL_PLACES.mailbox(mailboxId));
}

/** Decrypts the stored passwords. Returns undefined for a mailbox connected by OAuth consent. */
export function openPasswords(
  keyring: Keyring,
  { id, credentials }: Pick<SealedMailbox, 'id' | 'credentials'>,
): Passwords | undefined {
  const opened = JSON.parse(keyring.open(credentials, SEAL_PLACES.mailbox(id)).toString('utf8')) as
    | Passwords
    | ByConsent;
  return 'consent' in opened ? undefined : opened;
}

function targetOf(
  keyring: Keyring,
  mailbox: SealedMailbox,
  service: MailService,
  password: keyof Passwords,
): SmtpTarget {
  const passwords = openPasswords(keyring, mailbox);
  if (passwords) return { ...service, password: passwords[password] };
  if (!mailbox.tokens) throw new Error('a mailbox that was connected by consent was read without its tokens');
  return { ...service, password: '', accessToken: openTokens(keyring, mailbox.id, mailbox.tokens).access_token };
}
