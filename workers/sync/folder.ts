import { DAY_MS } from '../../lib/clock.ts';
import type { ImapFlow, SearchObject } from 'imapflow';
import type { Ctx } from '../../domain/kernel/context.ts';
import { anchorPlace, settlePlace, syncPlace } from '../../domain/mailboxes/sync-state.ts';
import {
  recordInbound,
  recordUnreadable,
  type InboundKind,
  type InboundPlace,
} from '../../domain/engine/outcomes/record-inbound.ts';
import { AppError } from '../../lib/errors.ts';
import { imapError, ImapError, isHanging, MAX_MESSAGE_BYTES } from '../../lib/imap/index.ts';
import type { TargetLimits } from '../../lib/target-limits.ts';

/** Clocks differ, and servers round: on a first look mail this much (ms) older still counts as new. */
const FIRST_SLACK_MS = 5 * 60_000;
/** After a renumbering this much (ms) is read over again; what is known is recognized by its Message-ID. */
const RENUMBERED_SLACK_MS = 24 * 3600_000;
/** Times a message may break the conversation before it is recorded unread and passed by. */
const MAX_BROKEN = 3;

export interface FolderParts {
  ctx: Ctx;
  client: ImapFlow;
  mailbox: { id: string; email: string };
  /** How often each message has broken the conversation so far; kept over connections. */
  broken: Map<string, number>;
  /** Bounds how many messages the process reads at once, by IMAP host: a server that hangs in the middle holds up others' mail as little as one that answers. */
  reads: TargetLimits;
  /** The IMAP host, as it is named in `reads`. */
  host: string;
  /** Bounds how many messages the process records at once. */
  record: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs commands, and gives the conversation up when the server stays silent in the middle of them. */
  ask: <T>(work: () => Promise<T>) => Promise<T>;
  onMessage: (kind: InboundKind | 'duplicate' | 'unreadable') => void;
  signal: AbortSignal;
}

/**
 * Reads what is new in a folder, in order, each message in a transaction of its own that also moves the place on. A
 * message that cannot be read or recorded is noted and passed by: it never stands in the way of the next one.
 */
export async function syncFolder(parts: FolderParts, folder: string): Promise<void> {
  const { ctx, client, mailbox, signal } = parts;
  const box = await parts.ask(() => client.mailboxOpen(folder, { readOnly: true }));
  const uidValidity = Number(box.uidValidity);
  const place = await syncPlace(ctx, mailbox.id, folder);
  let { lastUid } = place;
  if (place.uidValidity !== uidValidity) {
    const slack = place.uidValidity === null ? FIRST_SLACK_MS : RENUMBERED_SLACK_MS;
    lastUid = (await parts.ask(() => firstUidSince(client, new Date(place.since.getTime() - slack), box.uidNext))) - 1;
    await anchorPlace(ctx, mailbox.id, folder, uidValidity, lastUid);
  }
  const found = await parts.ask(() => search(client, { uid: `${lastUid + 1}:*` }));
  // `n:*` names the last message even when its uid is below n (RFC 3501 section 9).
  const uids = found.filter((uid) => uid > lastUid).sort((a, b) => a - b);
  for (const uid of uids) {
    const place = await parts.reads.wait(parts.host, ctx.actor.organizationId ?? '', signal);
    if (!place) return;
    try {
      await readMessage(parts, { folder, uidValidity, uid });
      place.leave('answered');
    } catch (error) {
      place.leave(error instanceof ImapError && isHanging(error) ? 'hung' : 'answered');
      throw error;
    }
  }
  await settlePlace(ctx, mailbox.id, folder, uids.length);
}

/** The lowest uid of mail that came since a moment, or the next one to be given where there is none. */
async function firstUidSince(client: ImapFlow, since: Date, uidNext: number): Promise<number> {
  // SEARCH SINCE compares days in the server's own zone; the exact time is compared here.
  const found = await search(client, { since: new Date(since.getTime() - DAY_MS) });
  let first = uidNext;
  if (found.length === 0) return first;
  for await (const { uid, internalDate } of client.fetch(found, { uid: true, internalDate: true }, { uid: true })) {
    if (internalDate && new Date(internalDate) >= since) first = Math.min(first, uid);
  }
  return first;
}

/** Uids of a search. One that failed is not the same as one that found nothing: mail would be passed by. */
async function search(client: ImapFlow, query: SearchObject): Promise<number[]> {
  const found = await client.search(query, { uid: true });
  if (!found) throw new ImapError('protocol', 'session', 'The server could not search the folder');
  return found;
}

async function readMessage(
  parts: FolderParts,
  at: { folder: string; uidValidity: number; uid: number },
): Promise<void> {
  const { ctx, client, mailbox, broken } = parts;
  const key = `${mailbox.id}/${at.folder}/${at.uidValidity}/${at.uid}`;
  if ((broken.get(key) ?? 0) >= MAX_BROKEN) {
    await recordUnreadable(
      ctx,
      mailbox,
      { ...at, receivedAt: ctx.clock.now() },
      0,
      'The server could not hand the message over',
    );
    broken.delete(key);
    return parts.onMessage('unreadable');
  }
  let message;
  try {
    message = await parts.ask(() =>
      client.fetchOne(
        String(at.uid),
        { uid: true, size: true, internalDate: true, source: { maxLength: MAX_MESSAGE_BYTES } },
        { uid: true },
      ),
    );
  } catch (error) {
    const known = imapError(error);
    if (known.kind !== 'unreachable') broken.set(key, (broken.get(key) ?? 0) + 1);
    throw known;
  }
  broken.delete(key);
  // Deleted by another client in the meantime.
  if (!message || !message.source) return;
  const place: InboundPlace = {
    ...at,
    receivedAt: message.internalDate ? new Date(message.internalDate) : ctx.clock.now(),
  };
  try {
    const { source } = message;
    parts.onMessage((await parts.record(() => recordInbound(ctx, mailbox, source, place))) ?? 'duplicate');
  } catch (error) {
    if (isPassing(error)) throw error;
    ctx.log.error({ err: error, mailboxId: mailbox.id, uid: at.uid }, 'a message could not be recorded');
    await recordUnreadable(ctx, mailbox, place, message.size ?? message.source.length, reasonOf(error));
    parts.onMessage('unreadable');
  }
}

/** SQLSTATE classes that say nothing about the message: connection, rollback, resources, intervention, system. */
const PASSING_CLASSES = new Set(['08', '40', '53', '55', '57', '58']);

/** Whether trying again can help: the database is away or another writer was in the way. */
function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.code === 'conflict';
  const { code, name } = error as { code?: unknown; name?: string };
  if (name === 'KnexTimeoutError') return true;
  if (typeof code !== 'string')
    return /connection terminated|Connection ended|pool is draining|aborted/i.test(String((error as Error).message));
  return PASSING_CLASSES.has(code.slice(0, 2)) || /^E[A-Z]+$/.test(code);
}

/** The error in a few words, without the statement that a database error begins with. */
function reasonOf(error: unknown): string {
  const { message, name } = error as Error;
  return `${name}: ${String(message).split(' - ').at(-1)}`;
}
