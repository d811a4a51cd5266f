import type { SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { SmtpTarget } from '../../lib/smtp/index.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { smtpTargetOf, type MailService, type SealedMailbox } from './senders/mailbox-credentials.ts';
import type { SettingsLayers } from './campaign/outreach-settings.ts';
import { ACCESS_MARGIN_MS } from './control/access-token.ts';
import { AUTH_HOLD_MS, holdMailbox } from './control/mailbox-hold.ts';
import type { SentFacts } from './settle.ts';
import { message } from '../../messages/index.ts';

/**
 * A slot this much (ms) in the past is not used any more: after an outage mail must not leave all at once. A workspace can
 * make it less (`task_reliability.execution_window_seconds`).
 */
export const STALE_SLOT_MS = 5 * 60_000;

/** A row as jsonb: dates inside are text. */
export interface Json {
  [key: string]: any;
}

/** What the claim reads, in one query. Dates inside the jsonb parts are text. */
export interface ClaimRow {
  send: Json;
  /** Null when campaign or contact were deleted while the email was in a worker's hands. */
  enrollment: Json | null;
  campaign: Json | null;
  step: Json | null;
  variant: Json | null;
  contact: Json | null;
  mailbox: Json | null;
  /** What a person or an agent wrote, where the email is no campaign's. */
  direct: Json | null;
  credentials: Buffer | null;
  /** Of a mailbox that was connected by consent. */
  tokens: Buffer | null;
  access_expires_at: Date | null;
  workspace: SettingsLayers['workspace'];
  overrides: SettingsLayers['overrides'];
  suppressed: boolean;
  /** A person has to decide whether the owner of the address wants no further emails. */
  asked: boolean;
}

/** An email that is this worker's to hand over, and its alone. */
export interface ClaimedSend {
  kind: 'claimed';
  sendId: string;
  token: string;
  attempts: number;
  mailbox: SealedMailbox & { save_to_sent: boolean };
  target: SmtpTarget;
  /** The contact's address as it stands in the envelope. */
  recipient: string;
  envelope: { from: string; to: string[] };
  messageId: string;
  raw: Buffer;
  /** It is what a person or an agent wrote, and no campaign's. */
  isDirect: boolean;
  /** The lead it belongs to, where there is one, and what its event will say. */
  enrollmentId: string | null;
  facts: SentFacts;
}

export type Claim =
  | ClaimedSend
  /** Settled already, or given back: the run asks anew. */
  | { kind: 'gone'; outcome: string }
  /** Not due yet, or another attempt may still be speaking SMTP; wait until then (ms epoch). */
  | { kind: 'busy'; until: number; isUnderWay: boolean }
  /** The mailbox needs a new access token before it can sign in; nothing was done. */
  | { kind: 'access_expired'; mailboxId: string }
  /** Its mail host (host:port) has no permit left now; nothing was done. */
  | { kind: 'host_full'; host: string }
  /** A dead worker left it when its end may have been handed over: find out. The mailbox may be gone since. */
  | { kind: 'abandoned'; sendId: string; mailbox: SealedMailbox | null; messageId: string; token: string };

/** The answer to a claim: what its row says, and `parts`, which campaign emails and direct ones have from elsewhere. */
export function claimedAs(
  row: ClaimRow & { mailbox: Json },
  parts: Omit<ClaimedSend, 'kind' | 'sendId' | 'attempts' | 'mailbox'>,
): ClaimedSend {
  const { send, mailbox } = row;
  return {
    kind: 'claimed',
    sendId: send.id,
    attempts: send.attempts + 1,
    mailbox: { ...sealed(row)!, save_to_sent: mailbox.save_to_sent },
    ...parts,
  };
}

/** The mailbox of an email with its sealed passwords; null when it is gone. */
export function sealed({ mailbox: row, credentials, tokens }: ClaimRow): SealedMailbox | null {
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

/** The bytes of a built message and its envelope, whose sender is the address of the mailbox where the message names none. */
export async function compose(options: SendMailOptions, mailbox: Json): Promise<Pick<ClaimedSend, 'raw' | 'envelope'>> {
  const composed = new MailComposer(options).compile();
  const { from, to } = composed.getEnvelope();
  return { raw: await composed.build(), envelope: { from: from || mailbox.email, to: to as string[] } };
}

/**
 * Opens the SMTP server of an email's mailbox and takes a permit for it, before the email counts as under way: when it is not
 * to be had, nothing can have left.
 * @returns the server, or what the claim is answered instead
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
  return acquire(host) ? { target } : { answer: { kind: 'host_full', host } };
}

/** Whether a mailbox that was connected by consent needs another access token before it can sign in. */
function accessExpired({ access_expires_at: expires }: ClaimRow, now: Date): boolean {
  return expires !== null && expires.getTime() <= now.getTime() + ACCESS_MARGIN_MS;
}

function openTarget(ctx: Ctx, row: ClaimRow): SmtpTarget | undefined {
  try {
    return smtpTargetOf(ctx.keyring, sealed(row)!);
  } catch (error) {
    ctx.log.error({ err: error, mailboxId: row.mailbox!.id }, 'the credentials of a mailbox cannot be opened');
    return undefined;
  }
}

/** Holds a mailbox whose stored password cannot be opened, as one whose sign-in is refused. */
async function holdUnreadable(tx: Tx, mailboxId: string): Promise<void> {
  await holdMailbox(tx, mailboxId, {
    code: 'auth_failed',
    reason: message('mailboxes.password_unreadable'),
    until: new Date(tx.now.getTime() + AUTH_HOLD_MS),
  });
}

/** Why a mailbox must not send now; undefined when it may. */
export function mailboxRefusal(tx: Tx, mailbox: Json | null): string | undefined {
  if (!mailbox || mailbox.status !== 'active') return 'mailbox_inactive';
  for (const side of ['hold', 'imap_hold'])
    if (mailbox[`${side}_code`] && (!mailbox[`${side}_until`] || new Date(mailbox[`${side}_until`]) > tx.now))
      return 'mailbox_held';
  return undefined;
}
