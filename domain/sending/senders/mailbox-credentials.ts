import type { Keyring } from '../../../lib/keyring.ts';
import type { SmtpTarget } from '../../../lib/smtp/index.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';

/** A mail service of a mailbox as stored: everything but the password. */
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
  /** Sealed tokens of a mailbox that was connected by consent; undefined or null for one with passwords. */
  tokens?: Buffer | null;
}

/** Passwords of a mailbox, opened; never logged, never in a workflow. */
interface Passwords {
  smtp_password: string;
  imap_password: string;
}

/** What a mailbox that was connected by consent has instead. */
interface ByConsent {
  consent: true;
}

/** Tokens of a mailbox, opened; never logged, never in a workflow. */
export interface MailboxTokens {
  access_token: string;
  refresh_token: string;
}

/** The server and account by which a mailbox sends. */
export function smtpTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget {
  return targetOf(keyring, mailbox, mailbox.smtp, 'smtp_password');
}

/** The server and account by which a mailbox is read; undefined for one without IMAP. */
export function imapTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget | undefined {
  return mailbox.imap ? targetOf(keyring, mailbox, mailbox.imap, 'imap_password') : undefined;
}

/** Tokens sealed for storage. */
export function sealTokens(keyring: Keyring, mailboxId: string, tokens: MailboxTokens): Buffer {
  return keyring.seal(JSON.stringify(tokens), SEAL_PLACES.mailboxToken(mailboxId));
}

/** Stored tokens. Throws when no key of the ring opens them. */
export function openTokens(keyring: Keyring, mailboxId: string, sealed: Buffer): MailboxTokens {
  return JSON.parse(keyring.open(sealed, SEAL_PLACES.mailboxToken(mailboxId)).toString('utf8')) as MailboxTokens;
}

/** What stands in the place of passwords for a mailbox that was connected by consent. */
export function sealConsent(keyring: Keyring, mailboxId: string): Buffer {
  return keyring.seal(JSON.stringify({ consent: true } satisfies ByConsent), SEAL_PLACES.mailbox(mailboxId));
}

/** The stored passwords; undefined for a mailbox that was connected by consent. */
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
