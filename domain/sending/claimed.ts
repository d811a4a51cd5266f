import { LRUCache } from 'lru-cache';
import type { SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { BoundCopy, BoundSender, JsonObject, StoredAttachment } from '../../db/json-columns.ts';
import type { SmtpTarget } from '../../lib/smtp/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import type { StoppedEmail } from '../platform/kernel/tx.ts';
import { smtpTargetOf, type MailService, type SealedMailbox } from './senders/mailbox-credentials.ts';
import type { SettingsLayers } from './campaign/outreach-settings.ts';
import { ACCESS_MARGIN_MS } from './control/access-token.ts';
import { AUTH_HOLD_MS, holdMailbox } from './control/mailbox-hold.ts';
import type { SentFacts } from './settle.ts';
import { message } from '../../messages/index.ts';

/**
 * Maximum age (ms) of a slot, so that mail is not sent all at once after an outage. A workspace can lower it
 * (`task_reliability.execution_window_seconds`).
 */
export const STALE_SLOT_MS = 5 * 60_000;

/**
 * Tolerance (ms) for claiming a slot early and for the minimum gap, because clocks differ and a submission takes a
 * while. A claim that is earlier by more is a stale retry after a deferral.
 */
export const EARLY_MS = 5_000;

/**
 * Returns SQL of a lock that lets one transaction at a time claim an email of a mailbox. Each claim then sees the
 * emails that were claimed before it.
 * @param mailbox SQL of the mailbox's id
 */
export function lockClaims(mailbox: string): string {
  return `pg_advisory_xact_lock(hashtextextended('claim/' || ${mailbox}::text, 0))`;
}

/** A row as jsonb. Dates inside are text. */
export interface Json {
  [key: string]: any;
}

/** Row that the claim reads in one query. Dates inside the jsonb parts are text. */
export interface ClaimRow {
  send: Json;
  /** Null if the campaign or the contact was deleted while the email was being sent. */
  enrollment: Json | null;
  campaign: Json | null;
  step: Json | null;
  variant: Json | null;
  contact: Json | null;
  mailbox: Json | null;
  /** Time of the mailbox's last other email that was sent or is being sent. */
  mailbox_sent_at: Date | null;
  /** The direct send, for an email written by a person or an agent. Null for campaign emails. */
  direct: Json | null;
  /** True while the deletion of the workspace is scheduled. */
  workspace_ends: boolean;
  /** Files of a campaign email, oldest first. A direct send has its files in its own row. */
  files: StoredAttachment[];
  credentials: Buffer | null;
  /** Encrypted OAuth tokens. Null for a mailbox with passwords. */
  tokens: Buffer | null;
  access_expires_at: Date | null;
  workspace: SettingsLayers['workspace'];
  overrides: SettingsLayers['overrides'];
  suppressed: boolean;
  /** Id of the email's approval; null if none was needed. See `approvalChanges`. */
  approval_id: string | null;
  approved_sender: BoundSender | null;
  approved_copy: BoundCopy | null;
  approved_settings: JsonObject | null;
  /** Merge fields whose values differ from the approved ones. Null for a lead that needed no approval. */
  lead_changes: string[] | null;
  /** True if a person must still decide whether the recipient has opted out. */
  asked: boolean;
}

/** A claimed email. Only this worker may deliver it. */
export interface ClaimedSend {
  kind: 'claimed';
  sendId: string;
  token: string;
  attempts: number;
  mailbox: SealedMailbox & { save_to_sent: boolean };
  target: SmtpTarget;
  /** The contact's address as in the envelope. */
  recipient: string;
  envelope: { from: string; to: string[] };
  messageId: string;
  raw: Buffer;
  /** True for an email written by a person or an agent, which belongs to no campaign. */
  isDirect: boolean;
  /** Id of the lead that the email is for, if any. */
  enrollmentId: string | null;
  facts: SentFacts;
}

export type Claim =
  | ClaimedSend
  /**
   * The result of the email was already stored, or its slot was released. The workflow continues from the current
   * state.
   */
  | { kind: 'gone'; outcome: string }
  /**
   * The email is not due yet, or another attempt may still be in its SMTP session. The caller waits until `until`
   * (epoch ms).
   */
  | { kind: 'busy'; until: number; isUnderWay: boolean }
  /** The mailbox needs a new access token before it can sign in. Nothing was changed. */
  | { kind: 'access_expired'; mailboxId: string }
  /** The email differs from the approved content. Nothing was changed. */
  | { kind: 'changed'; type: 'campaign' | 'campaign_leads' | 'direct_send'; email: StoppedEmail }
  /** The mail host (host:port) has no free permit now. Nothing was changed. */
  | { kind: 'host_full'; host: string }
  /**
   * The worker that claimed the email has crashed, and may have submitted the whole message. The caller must find out
   * whether it did. `mailbox` is null if it was deleted in the meantime.
   */
  | { kind: 'abandoned'; sendId: string; mailbox: SealedMailbox | null; messageId: string; token: string };

/** Builds a successful claim. `parts` are the values that campaign emails and direct sends take from different rows. */
export function buildClaim(
  row: ClaimRow & { mailbox: Json },
  parts: Omit<ClaimedSend, 'kind' | 'sendId' | 'attempts' | 'mailbox'>,
): ClaimedSend {
  const { send, mailbox } = row;
  return {
    kind: 'claimed',
    sendId: send.id,
    attempts: send.attempts + 1,
    mailbox: { ...sealedMailboxOf(row)!, save_to_sent: mailbox.save_to_sent },
    ...parts,
  };
}

/** Returns the mailbox of an email with its encrypted credentials, or null if it was deleted. */
export function sealedMailboxOf({ mailbox: row, credentials, tokens }: ClaimRow): SealedMailbox | null {
  if (!row || !credentials) return null;
  return {
    id: row.id,
    smtp: row.smtp as MailService,
    imap: row.imap as MailService | null,
    credentials,
    credentials_version: row.credentials_version,
    tokens,
  };
}

/**
 * Returns the bytes and the envelope of a message. The envelope sender defaults to the address of the mailbox. Lines of
 * its texts end with CRLF, also inside base64 (RFC 2045, section 6.8), where nodemailer would not change them.
 */
export async function composeMessage(
  options: SendMailOptions,
  mailbox: Json,
): Promise<Pick<ClaimedSend, 'raw' | 'envelope'>> {
  const composed = new MailComposer({
    ...options,
    ...(typeof options.text === 'string' ? { text: withCrlf(options.text) } : {}),
    ...(typeof options.html === 'string' ? { html: withCrlf(options.html) } : {}),
  }).compile();
  const { from, to } = composed.getEnvelope();
  return { raw: await composed.build(), envelope: { from: from || mailbox.email, to: to as string[] } };
}

function withCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

const MAX_HOSTS = 20_000;
const hosts = new LRUCache<string, string>({ max: MAX_HOSTS });

/**
 * Returns the mail host (host:port) of a mailbox at its last claim in this process; undefined if unknown. The value may
 * be outdated, so the claim compares it with the stored host.
 */
export function lastMailHost(mailboxId: string): string | undefined {
  return hosts.get(mailboxId);
}

/**
 * Opens the SMTP settings of the email's mailbox and takes a permit for the host. Runs before the email gets the state
 * `sending`, so that after a failure no byte can have been sent.
 * @returns the target, or the claim's answer on failure
 */
export async function acquireMailHost(
  ctx: Ctx,
  tx: Tx,
  row: ClaimRow & { mailbox: Json },
  acquire: (host: string) => boolean,
): Promise<{ target: SmtpTarget } | { answer: Claim }> {
  const { mailbox } = row;
  if (accessExpired(row, tx.now)) return { answer: { kind: 'access_expired', mailboxId: mailbox.id } };
  const target = openTarget(ctx, row);
  if (!target) {
    await holdUnreadable(tx, mailbox.id);
    return { answer: { kind: 'gone', outcome: 'mailbox_held' } };
  }
  const host = `${target.host}:${target.port}`;
  hosts.set(mailbox.id, host);
  return acquire(host) ? { target } : { answer: { kind: 'host_full', host } };
}

/** Returns true if a mailbox connected by OAuth consent needs a new access token before it can sign in. */
function accessExpired({ access_expires_at: expires }: ClaimRow, now: Date): boolean {
  return expires !== null && expires.getTime() <= now.getTime() + ACCESS_MARGIN_MS;
}

function openTarget(ctx: Ctx, row: ClaimRow): SmtpTarget | undefined {
  try {
    return smtpTargetOf(ctx.keyring, sealedMailboxOf(row)!);
  } catch (error) {
    ctx.log.error({ err: error, mailboxId: row.mailbox!.id }, 'the credentials of a mailbox cannot be opened');
    return undefined;
  }
}

/** Holds a mailbox whose stored password cannot be decrypted, in the same way as after a refused sign-in. */
async function holdUnreadable(tx: Tx, mailboxId: string): Promise<void> {
  await holdMailbox(tx, mailboxId, {
    code: 'auth_failed',
    reason: message('mailboxes.password_unreadable'),
    until: new Date(tx.now.getTime() + AUTH_HOLD_MS),
  });
}

/**
 * Returns the reason why the mailbox of an email must not send it now, or undefined if it may. After an outage many
 * slots are due at once. All but the first are refused because of the minimum gap and get new slots.
 */
export function mailboxRefusal(tx: Tx, { mailbox, mailbox_sent_at: last }: ClaimRow): string | undefined {
  if (!mailbox || mailbox.status !== 'active') return 'mailbox_inactive';
  for (const side of ['hold', 'imap_hold'])
    if (mailbox[`${side}_code`] && (!mailbox[`${side}_until`] || new Date(mailbox[`${side}_until`]) > tx.now))
      return 'mailbox_held';
  const gapMs = mailbox.min_wait_time * 1000;
  return last && last.getTime() + gapMs > tx.now.getTime() + EARLY_MS ? 'gap_open' : undefined;
}
