import type { Keyring } from '../../lib/keyring.ts';
import type { SmtpTarget } from '../../lib/smtp/index.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';

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
}

/** Passwords of a mailbox, opened; never logged, never in a workflow. */
function openCredentials(
  keyring: Keyring,
  mailbox: Pick<SealedMailbox, 'id' | 'credentials'>,
): { smtp_password: string; imap_password: string } {
  return JSON.parse(keyring.open(mailbox.credentials, SEAL_PLACES.mailbox(mailbox.id)).toString('utf8'));
}

/** The server and account by which a mailbox sends. */
export function smtpTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget {
  return { ...mailbox.smtp, password: openCredentials(keyring, mailbox).smtp_password };
}

/** The server and account by which a mailbox is read; undefined for one without IMAP. */
export function imapTargetOf(keyring: Keyring, mailbox: SealedMailbox): SmtpTarget | undefined {
  return mailbox.imap ? { ...mailbox.imap, password: openCredentials(keyring, mailbox).imap_password } : undefined;
}
