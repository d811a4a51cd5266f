import type { ImapFlow } from 'imapflow';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { startFolderAt, recordFolderRead, readFolderProgress } from '../../domain/mailboxes/sync-state.ts';
import { recordWarmup } from '../../domain/mailboxes/warmup/record.ts';
import { recordWarmupReport } from '../../domain/mailboxes/warmup/report.ts';
import { postponeUnreadable, unreadableDue } from '../../domain/mailboxes/unreadable.ts';
import {
  recordInbound,
  recordUnreadable,
  type InboundKind,
  type MessageLocation,
} from '../../domain/sending/outcomes/record-inbound.ts';
import { withCostPath } from '../../lib/cost-paths.ts';
import { errorSummary } from '../../lib/error-report.ts';
import { AppError } from '../../lib/errors.ts';
import {
  fetchMessage,
  firstUidSince,
  imapError,
  ImapError,
  isUnanswered,
  openFolder,
  uidsAfter,
  type FetchedMessage,
  type ImapLack,
  type ImapTarget,
} from '../../lib/imap/index.ts';
import type { TargetLimits } from '../../lib/target-limits.ts';
import { externalText } from '../../domain/platform/external-text.ts';
import { message } from '../../messages/index.ts';

/** Maximum age (ms) of mail that counts as new when a mailbox is first read. Clocks differ, and servers round times. */
const FIRST_SLACK_MS = 5 * 60_000;
/**
 * Age (ms) of mail that is read again after the server renumbered its UIDs. Known messages are recognized by their
 * Message-ID.
 */
const RENUMBERED_SLACK_MS = 24 * 3600_000;
/**
 * Number of refusals after which a message is recorded as unreadable and skipped. Counted only while another message of
 * the folder can be read.
 */
const MAX_BROKEN = 3;
/** Maximum number of new messages read from one folder before the other folder is read. */
const BATCH = 100;
/** Maximum number of unreadable messages retried at once. */
const RETRY_COUNT = 10;

export interface FolderParts {
  ctx: Ctx;
  client: ImapFlow;
  target: ImapTarget;
  /** Capabilities that the server lacks, as found on this connection. */
  lacks: Set<ImapLack>;
  mailbox: { id: string; email: string };
  /** Number of refusals per message while other messages could be read. The count survives the connection. */
  broken: Map<string, number>;
  /**
   * Limits the messages that the process reads at once per IMAP host, so that a hanging server does not delay the mail
   * of other servers.
   */
  reads: TargetLimits;
  /** IMAP host, as named in `reads`. */
  host: string;
  /** Limits the messages that the process records at once. */
  record: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs a function that sends IMAP commands. Closes the connection if the server stops responding. */
  ask: <T>(work: () => Promise<T>) => Promise<T>;
  onMessage: (kind: InboundKind | 'duplicate' | 'unreadable' | 'warmup') => void;
  /** UIDs of warmup emails in the open folder that must still be marked as read and moved out of spam. */
  tend: number[];
  signal: AbortSignal;
}

/**
 * Reads new messages of a folder in order, each in its own transaction, which also advances the folder's UID. A message
 * that cannot be read or stored is recorded as unreadable, skipped and retried later, so that it never blocks the next
 * one.
 * @returns true if there are more messages
 */
export async function syncFolder(parts: FolderParts, folder: string): Promise<boolean> {
  parts.tend.length = 0;
  const more = await readFolder(parts, folder);
  if (parts.tend.length > 0) await fileWarmup(parts, folder);
  return more;
}

/**
 * Marks warmup emails as read and moves them out of spam, as a person would do with wanted mail. If the server refuses
 * this, the refusal is only logged.
 */
async function fileWarmup({ client, ask, tend, ctx, mailbox }: FolderParts, folder: string): Promise<void> {
  const uids = tend.join(',');
  try {
    await ask(async () => {
      await client.mailboxOpen(folder);
      await client.messageFlagsAdd(uids, ['\\Seen'], { uid: true });
      if (folder !== 'INBOX') await client.messageMove(uids, 'INBOX', { uid: true });
    });
  } catch (error) {
    if (!client.usable) throw error;
    ctx.log.warn({ err: error, mailboxId: mailbox.id }, 'warmup emails could not be marked as read');
  }
}

async function readFolder(parts: FolderParts, folder: string): Promise<boolean> {
  const { ctx, client, lacks, mailbox, signal } = parts;
  const box = await parts.ask(() => openFolder(client, folder));
  const { uidValidity } = box;
  const progress = await readFolderProgress(ctx, mailbox.id, folder);
  let { lastUid } = progress;
  if (progress.uidValidity !== uidValidity) {
    const slack = progress.uidValidity === null ? FIRST_SLACK_MS : RENUMBERED_SLACK_MS;
    const since = new Date(progress.since.getTime() - slack);
    lastUid = (await parts.ask(() => firstUidSince(client, box, since, lacks))) - 1;
    await startFolderAt(ctx, mailbox.id, folder, uidValidity, lastUid);
  }
  const uids = await parts.ask(() => uidsAfter(client, lastUid, lacks));
  for (const uid of uids.slice(0, BATCH))
    if (!(await inTurn(parts, () => readMessage(parts, { folder, uidValidity, uid })))) return false;
  if (uids.length > BATCH) return true;
  await recordFolderRead(ctx, mailbox.id, folder, uids.length);
  for (const uid of await unreadableDue(ctx, mailbox.id, folder, uidValidity, RETRY_COUNT))
    if (!(await inTurn(parts, () => retryUnreadable(parts, { folder, uidValidity, uid })))) return false;
  return false;

  /**
   * Runs work on the server as soon as the limit of the IMAP host allows it. Returns false if the watcher is stopped
   * before that.
   */
  async function inTurn({ reads, host }: FolderParts, work: () => Promise<void>): Promise<boolean> {
    const turn = await reads.wait(host, ctx.actor.organizationId ?? '', signal);
    if (!turn) return false;
    try {
      await work();
      turn.release('answered');
      return true;
    } catch (error) {
      turn.release(error instanceof ImapError && isUnanswered(error) ? 'hung' : 'answered');
      throw error;
    }
  }
}

interface At {
  folder: string;
  uidValidity: number;
  uid: number;
}

async function readMessage(parts: FolderParts, at: At): Promise<void> {
  const { ctx, mailbox, broken } = parts;
  const key = `${mailbox.id}/${at.folder}/${at.uidValidity}/${at.uid}`;
  if ((broken.get(key) ?? 0) >= MAX_BROKEN) {
    await recordUnreadable(
      ctx,
      mailbox,
      { ...at, receivedAt: ctx.clock.now() },
      0,
      message('imap.message_not_delivered'),
    );
    broken.delete(key);
    return parts.onMessage('unreadable');
  }
  let fetched;
  try {
    fetched = await parts.ask(() => fetchMessage(parts.client, at.uid, parts.lacks));
  } catch (error) {
    const known = imapError(error, parts.target);
    // A refusal counts as an error of this message only if the server returns another message. Otherwise the server is
    // at fault, and the read is retried.
    if (known.kind !== 'unreachable' && (await fetchesAnother(parts, at.uid)))
      broken.set(key, (broken.get(key) ?? 0) + 1);
    throw known;
  }
  broken.delete(key);
  await withCostPath('inbound', () => recordMessage(parts, at, fetched));
}

/** Retries a message that could not be read. Records the message, or schedules the next retry. */
async function retryUnreadable(parts: FolderParts, at: At): Promise<void> {
  let fetched;
  try {
    fetched = await parts.ask(() => fetchMessage(parts.client, at.uid, parts.lacks));
  } catch (error) {
    const known = imapError(error, parts.target);
    if (known.kind === 'unreachable' || !parts.client.usable) throw known;
    return postponeUnreadable(parts.ctx, parts.mailbox.id, at);
  }
  if (fetched) await withCostPath('inbound', () => recordMessage(parts, at, fetched));
  // Has no effect if the message was recorded, because its entry is then deleted.
  await postponeUnreadable(parts.ctx, parts.mailbox.id, at);
}

/** Returns true if the server returns the message next to this one, or if the folder has no other message. */
async function fetchesAnother({ client, ask, lacks }: FolderParts, uid: number): Promise<boolean> {
  try {
    const others = (await ask(() => uidsAfter(client, 0, lacks))).filter((other) => other !== uid);
    const nearest = others.sort((a, b) => Math.abs(a - uid) - Math.abs(b - uid))[0];
    return nearest === undefined || (await ask(() => fetchMessage(client, nearest, lacks))) !== undefined;
  } catch {
    return false;
  }
}

async function recordMessage(parts: FolderParts, at: At, fetched: FetchedMessage | undefined): Promise<void> {
  const { ctx, mailbox } = parts;
  // Another client has deleted the message in the meantime.
  if (!fetched) return;
  const { source } = fetched;
  const now = ctx.clock.now();
  // The sender's clock may be ahead.
  const sentAt = fetched.sentAt && fetched.sentAt < now ? fetched.sentAt : now;
  const location: MessageLocation = { ...at, receivedAt: fetched.internalDate ?? sentAt };
  try {
    if (await parts.record(() => recordWarmup(ctx, mailbox, source, location))) {
      parts.tend.push(at.uid);
      return parts.onMessage('warmup');
    }
    if (await parts.record(() => recordWarmupReport(ctx, mailbox, source, location))) return parts.onMessage('warmup');
    parts.onMessage((await parts.record(() => recordInbound(ctx, mailbox, source, location))) ?? 'duplicate');
  } catch (error) {
    if (isPassing(error)) throw error;
    ctx.log.error({ err: error, mailboxId: mailbox.id, uid: at.uid }, 'a message could not be recorded');
    await recordUnreadable(ctx, mailbox, location, fetched.size, externalText(errorSummary(error)));
    parts.onMessage('unreadable');
  }
}

/**
 * SQLSTATE classes of errors that are not caused by the message: connection, rollback, resources, intervention, system.
 */
const PASSING_CLASSES = new Set(['08', '40', '53', '55', '57', '58']);

/** Returns true if a retry can help, because the database is unreachable or another writer interfered. */
function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'conflict';
  const { code, name } = error as { code?: unknown; name?: string };
  if (name === 'KnexTimeoutError') return true;
  if (typeof code !== 'string')
    return /connection terminated|Connection ended|pool is draining|aborted/i.test(String((error as Error).message));
  return PASSING_CLASSES.has(code.slice(0, 2)) || /^E[A-Z]+$/.test(code);
}
