import type { FetchMessageObject, FetchQueryObject, ImapFlow, SearchObject } from 'imapflow';
import { message } from '../../messages/index.ts';
import { DAY_MS } from '../clock.ts';
import { ImapError, imapError, MAX_MESSAGE_BYTES } from './connect.ts';

/** Optional abilities of a server, by their names in the protocol. If one is missing, a fallback is used. */
export type ImapLack = 'UIDNEXT' | 'SEARCH' | 'SEARCH SINCE' | 'INTERNALDATE';

/** Message numbers per FETCH when a folder is read from its end without SEARCH. */
const BLOCK = 500;
/**
 * Number of newest messages that the check tries to fetch. There are several, because a single message may be damaged.
 */
const CHECKED = 3;

/** A folder that was opened for reading. */
interface OpenFolder {
  uidValidity: number;
  /** UID that the server assigns next, if the server reports it. */
  uidNext: number | undefined;
}

/** A message as the server delivered it. */
export interface FetchedMessage {
  source: Buffer;
  size: number;
  /** Time of arrival by the server's clock, if the server reports it. */
  internalDate: Date | undefined;
  /** Date header, by the sender's clock. Undefined if absent or unreadable. */
  sentAt: Date | undefined;
}

/**
 * Opens a folder read-only. If SELECT gives no UIDVALIDITY, STATUS requests it.
 * @throws ImapError with `needs` when the server refuses the folder or gives no UIDVALIDITY
 */
export async function openFolder(client: ImapFlow, path: string): Promise<OpenFolder> {
  const box = await client.mailboxOpen(path, { readOnly: true }).catch((error: unknown) => {
    if (!isRefusal(client, error)) throw error;
    throw new ImapError('protocol', 'session', message('mailboxes.imap_needs_select'), { needs: 'select' });
  });
  // The library's types declare both values as present, but the library omits values that the server does not send.
  const { uidValidity, uidNext } = box as { uidValidity?: bigint; uidNext?: number };
  const validity = Number(uidValidity ?? (await statusUidValidity(client, path)));
  if (!Number.isSafeInteger(validity))
    throw new ImapError('protocol', 'session', message('mailboxes.imap_needs_uidvalidity'), { needs: 'uidvalidity' });
  return { uidValidity: validity, uidNext };
}

async function statusUidValidity(client: ImapFlow, path: string): Promise<bigint | undefined> {
  const status = await orRefused(client, client.status(path, { uidValidity: true }));
  return status ? status.uidValidity : undefined;
}

/** Returns the UID that the open folder assigns next: the server's UIDNEXT, or one more than the highest UID. */
async function nextUid(client: ImapFlow, { uidNext }: OpenFolder, lacks: Set<ImapLack>): Promise<number> {
  if (uidNext !== undefined) return uidNext;
  lacks.add('UIDNEXT');
  const last = await client.fetchOne('*', { uid: true });
  return last ? last.uid + 1 : 1;
}

/** Returns the UIDs of the open folder above `after`, lowest first. */
export async function uidsAfter(client: ImapFlow, after: number, lacks: Set<ImapLack>): Promise<number[]> {
  const found = await search(client, { uid: `${after + 1}:*` }, 'SEARCH', lacks);
  // `n:*` includes the last message even if its UID is below n (RFC 3501 section 9).
  if (found) return found.filter((uid) => uid > after).sort((a, b) => a - b);
  const uids: number[] = [];
  // UIDs ascend with message numbers, so the loop ends at the first UID that is already known.
  for await (const block of blocksFromEnd(client, { uid: true })) {
    uids.push(...block.map(({ uid }) => uid).filter((uid) => uid > after));
    if (block.some(({ uid }) => uid <= after)) break;
  }
  return uids.sort((a, b) => a - b);
}

/**
 * Returns the lowest UID of mail received since a time; without such mail, the UID that the server will assign next. A
 * message with an unknown date counts as newer. Without SEARCH SINCE the folder is read from its end, up to the first
 * 500 messages that are all older.
 */
export async function firstUidSince(
  client: ImapFlow,
  folder: OpenFolder,
  since: Date,
  lacks: Set<ImapLack>,
): Promise<number> {
  const next = await nextUid(client, folder, lacks);
  // SEARCH SINCE compares days in the server's own time zone, so the exact time is compared afterwards.
  const found = await search(client, { since: new Date(since.getTime() - DAY_MS) }, 'SEARCH SINCE', lacks);
  if (found) {
    if (found.length === 0) return next;
    return lowest(await datedUids(client, found, lacks), since, next);
  }
  let first = next;
  for await (const block of blocksFromEnd(client, { uid: true })) {
    const uids = block.map(({ uid }) => uid);
    const lowestHere = lowest(await datedUids(client, uids, lacks), since, next);
    if (lowestHere === next) break;
    first = Math.min(first, lowestHere);
  }
  return first;
}

/**
 * Fetches a message with at most {@link MAX_MESSAGE_BYTES} of its source. Returns undefined if it was deleted.
 * @throws ImapError protocol when the server does not deliver its source (`BODY[] NIL`), or the server's refusal
 */
export async function fetchMessage(
  client: ImapFlow,
  uid: number,
  lacks: Set<ImapLack>,
): Promise<FetchedMessage | undefined> {
  const fetched = await fetchDated(client, String(uid), { source: { maxLength: MAX_MESSAGE_BYTES } }, lacks);
  if (!fetched) return undefined;
  const { source } = fetched;
  if (!source) throw new ImapError('protocol', 'session', message('imap.message_not_delivered'));
  return {
    source,
    size: fetched.size ?? source.length,
    internalDate: internalDate(fetched),
    sentAt: dateHeader(source.subarray(0, 65_536)),
  };
}

/**
 * Tries every required command in the INBOX, and returns the optional capabilities that the server lacks. FETCH cannot
 * be tried in an empty INBOX.
 * @throws ImapError with `needs` when reading is impossible
 */
export async function checkReading(client: ImapFlow): Promise<ImapLack[]> {
  const lacks = new Set<ImapLack>();
  const folder = await openFolder(client, 'INBOX');
  const next = await firstUidSince(client, folder, new Date(), lacks);
  await uidsAfter(client, Math.max(0, next - 2), lacks);
  await checkFetch(client, lacks);
  return [...lacks];
}

/** @throws ImapError with `needs` when none of the newest messages can be fetched */
async function checkFetch(client: ImapFlow, lacks: Set<ImapLack>): Promise<void> {
  const exists = existing(client);
  const query = { source: { maxLength: 1 } };
  for (let number = exists; number > Math.max(0, exists - CHECKED); number -= 1) {
    const row = await orRefused(client, client.fetchOne(String(number), { uid: true }));
    if (row && (await orRefused(client, fetchDated(client, String(row.uid), query, lacks)))) return;
  }
  if (exists > 0) throw new ImapError('protocol', 'session', message('mailboxes.imap_needs_fetch'), { needs: 'fetch' });
}

/** Fetches a message with its size and INTERNALDATE, or without both if the server refuses them. */
async function fetchDated(
  client: ImapFlow,
  uid: string,
  query: FetchQueryObject,
  lacks: Set<ImapLack>,
): Promise<FetchMessageObject | undefined> {
  const plain = { uid: true, ...query };
  if (lacks.has('INTERNALDATE')) return (await client.fetchOne(uid, plain, { uid: true })) || undefined;
  try {
    return (await client.fetchOne(uid, { ...plain, size: true, internalDate: true }, { uid: true })) || undefined;
  } catch (error) {
    if (!isRefusal(client, error)) throw error;
    const fetched = await client.fetchOne(uid, plain, { uid: true });
    // Requests the date alone. Only if this is refused too is the server's date not used any more on this connection.
    const dated = await orRefused(client, client.fetchOne(uid, { uid: true, internalDate: true }, { uid: true }));
    if (dated === false) lacks.add('INTERNALDATE');
    return fetched ? { ...fetched, ...(dated ? { internalDate: dated.internalDate } : {}) } : undefined;
  }
}

interface DatedUid {
  uid: number;
  date: Date | undefined;
}

/** Returns the dates of messages: INTERNALDATE, or the Date header of messages without INTERNALDATE. */
async function datedUids(client: ImapFlow, uids: readonly number[], lacks: Set<ImapLack>): Promise<DatedUid[]> {
  const fetch = (of: readonly number[], query: FetchQueryObject) =>
    client.fetchAll(of.join(','), { uid: true, ...query }, { uid: true });
  const rows = lacks.has('INTERNALDATE') ? false : await orRefused(client, fetch(uids, { internalDate: true }));
  if (!rows) lacks.add('INTERNALDATE');
  // The server may also send rows about other changes. They have no UID.
  const dated = (rows || []).flatMap((row) => {
    const date = internalDate(row);
    return row.uid && date ? [{ uid: row.uid, date }] : [];
  });
  const known = new Set(dated.map(({ uid }) => uid));
  const undated = uids.filter((uid) => !known.has(uid));
  if (undated.length === 0) return dated;
  const headers = await fetch(undated, { headers: ['date'] });
  return [...dated, ...headers.flatMap((row) => (row.uid ? [{ uid: row.uid, date: dateHeader(row.headers) }] : []))];
}

function lowest(dated: readonly DatedUid[], since: Date, next: number): number {
  return dated.reduce((first, { uid, date }) => (date && date < since ? first : Math.min(first, uid)), next);
}

/** Yields the messages of the open folder by their numbers, from the end, {@link BLOCK} at a time. */
async function* blocksFromEnd(client: ImapFlow, query: FetchQueryObject): AsyncGenerator<FetchMessageObject[]> {
  for (let last = existing(client); last > 0; last -= BLOCK) {
    const rows = await client.fetchAll(`${Math.max(1, last - BLOCK + 1)}:${last}`, query);
    const withUid = rows.filter(({ uid }) => uid);
    if (rows.length > 0 && withUid.length === 0)
      throw new ImapError('protocol', 'session', message('mailboxes.imap_needs_fetch'), { needs: 'fetch' });
    if (withUid.length > 0) yield withUid;
  }
}

function existing(client: ImapFlow): number {
  return client.mailbox ? client.mailbox.exists : 0;
}

/**
 * Returns the UIDs of a search, or undefined if the server refuses it. A refused search must not be mistaken for an
 * empty one.
 */
async function search(
  client: ImapFlow,
  query: SearchObject,
  lack: ImapLack,
  lacks: Set<ImapLack>,
): Promise<number[] | undefined> {
  if (lacks.has(lack) || lacks.has('SEARCH')) return undefined;
  const found = await client.search(query, { uid: true });
  if (found) return found;
  if (!client.usable) throw new ImapError('unreachable', 'session', message('mailboxes.unreachable_session'));
  lacks.add(lack);
  return undefined;
}

/** Returns the result of a command, or false if the server refused it. */
async function orRefused<T>(client: ImapFlow, command: Promise<T>): Promise<T | false> {
  return command.catch((error: unknown) => {
    if (!isRefusal(client, error)) throw error;
    return false as const;
  });
}

function isRefusal(client: ImapFlow, error: unknown): boolean {
  return client.usable && imapError(error).kind === 'protocol';
}

/** Returns the time of arrival. Undefined if it is missing or unreadable; the library does not check it. */
function internalDate({ internalDate: value }: FetchMessageObject): Date | undefined {
  return value instanceof Date && value.getTime() > 0 ? value : undefined;
}

function dateHeader(head: Buffer | undefined): Date | undefined {
  const text = head?.toString('latin1') ?? '';
  const end = text.indexOf('\r\n\r\n');
  const value = /^date:((?:.|\r\n[ \t])*)/im.exec(end === -1 ? text : text.slice(0, end))?.[1];
  const time = Date.parse((value ?? '').replace(/\s+/g, ' ').trim());
  return Number.isNaN(time) ? undefined : new Date(time);
}
