import type { ImapFlow } from 'imapflow';
import { message } from '../../messages/index.ts';
import { ImapError, imapError, openImap, type ImapOptions, type ImapTarget } from './connect.ts';
import { checkReading, type ImapLack } from './reading.ts';

/** Usual names (lower-case) of the Sent folder on servers without SPECIAL-USE (RFC 6154). */
const SENT_NAMES = [
  'sent',
  'sent items',
  'sent mail',
  'sent messages',
  'gesendet',
  'gesendete objekte',
  'envoyes',
  'éléments envoyés',
  'enviados',
  'inviati',
  'verzonden items',
  'elküldött elemek',
];

/** Returns the path of a folder by its special use, or (Sent only) by a usual name. Undefined if there is none. */
export async function findFolder(client: ImapFlow, use: '\\Sent' | '\\Junk'): Promise<string | undefined> {
  const folders = await client.list();
  const marked = folders.find((folder) => folder.specialUse === use);
  if (marked || use === '\\Junk') return marked?.path;
  return folders.find((folder) => SENT_NAMES.includes(folder.name.toLowerCase()))?.path;
}

/**
 * Returns the UIDs of a folder's messages with a given Message-ID, lowest first. The id includes its angle brackets.
 */
async function findByMessageId(client: ImapFlow, folder: string, messageId: string): Promise<number[]> {
  await client.mailboxOpen(folder, { readOnly: true });
  const found = await client.search({ header: { 'message-id': messageId } }, { uid: true });
  return found ? found : [];
}

/**
 * Adds a copy of a message to the Sent folder, marked as seen. Does nothing if the folder already has a copy, because
 * some servers add one themselves.
 * @returns true if a copy was added
 * @throws ImapError protocol when there is no Sent folder or the server refuses
 */
async function appendToSent(client: ImapFlow, raw: Buffer): Promise<boolean> {
  const folder = await findFolder(client, '\\Sent');
  if (!folder) throw new ImapError('protocol', 'session', message('imap.no_sent_folder'));
  const messageId = messageIdOf(raw);
  if (messageId && (await findByMessageId(client, folder, messageId)).length > 0) return false;
  const appended = await client.append(folder, raw, ['\\Seen']);
  if (!appended) throw new ImapError('protocol', 'session', message('imap.copy_refused'));
  return true;
}

/**
 * Searches the Sent folder for a message. Returns `unknown` if the mailbox cannot be read or has no Sent folder. In a
 * mailbox that keeps no copies the result is `absent` for every message, so only `found` is proof.
 */
export async function findInSent(
  target: ImapTarget,
  messageId: string,
  options: ImapOptions,
): Promise<'found' | 'absent' | 'unknown'> {
  try {
    return await withImap(target, options, async (client) => {
      const folder = await findFolder(client, '\\Sent');
      if (!folder) return 'unknown';
      return (await findByMessageId(client, folder, messageId)).length > 0 ? 'found' : 'absent';
    });
  } catch (error) {
    if (error instanceof ImapError) return 'unknown';
    throw error;
  }
}

/**
 * Saves a copy of a sent message in the Sent folder.
 * @throws ImapError
 */
export async function saveToSent(target: ImapTarget, raw: Buffer, options: ImapOptions): Promise<void> {
  await withImap(target, options, (client) => appendToSent(client, raw));
}

/**
 * Signs in and tries every command that reading requires. Returns the optional capabilities that the server lacks.
 * @throws ImapError with `needs` when the mailbox cannot be read
 */
export async function verifyImap(target: ImapTarget, options: ImapOptions): Promise<ImapLack[]> {
  return withImap(target, options, checkReading);
}

async function withImap<T>(
  target: ImapTarget,
  options: ImapOptions,
  work: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const client = await openImap(target, options);
  try {
    return await work(client);
  } catch (error) {
    throw imapError(error, target);
  } finally {
    client.close();
  }
}

function messageIdOf(raw: Buffer): string | undefined {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, end === -1 ? Math.min(raw.length, 65_536) : end);
  return /^message-id:\s*(<[^<>\s]+>)/im.exec(head)?.[1];
}
