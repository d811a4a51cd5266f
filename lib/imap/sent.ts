import type { ImapFlow } from 'imapflow';
import { ImapError, imapError, openImap, type ImapOptions, type ImapTarget } from './connect.ts';

/** Names servers without SPECIAL-USE (RFC 6154) give their Sent folder, lower-case. */
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

/** The path of a folder by its special use, or (Sent only) by a usual name. Undefined when there is none. */
export async function findFolder(client: ImapFlow, use: '\\Sent' | '\\Junk'): Promise<string | undefined> {
  const folders = await client.list();
  const marked = folders.find((folder) => folder.specialUse === use);
  if (marked || use === '\\Junk') return marked?.path;
  return folders.find((folder) => SENT_NAMES.includes(folder.name.toLowerCase()))?.path;
}

/** Uids of the messages of a folder that carry a Message-ID, lowest first. The id keeps its angle brackets. */
async function findByMessageId(client: ImapFlow, folder: string, messageId: string): Promise<number[]> {
  await client.mailboxOpen(folder, { readOnly: true });
  const found = await client.search({ header: { 'message-id': messageId } }, { uid: true });
  return found ? found : [];
}

/**
 * Puts a copy of a message into the Sent folder, seen, unless one is there already (some servers keep one themselves).
 * @returns whether a copy was added
 * @throws ImapError protocol when there is no Sent folder or the server refuses
 */
async function appendToSent(client: ImapFlow, raw: Buffer): Promise<boolean> {
  const folder = await findFolder(client, '\\Sent');
  if (!folder) throw new ImapError('protocol', 'session', 'The mailbox has no Sent folder');
  const messageId = messageIdOf(raw);
  if (messageId && (await findByMessageId(client, folder, messageId)).length > 0) return false;
  const appended = await client.append(folder, raw, ['\\Seen']);
  if (!appended) throw new ImapError('protocol', 'session', 'The Sent folder took no copy');
  return true;
}

/**
 * Whether a message lies in the Sent folder. `unknown` when the mailbox cannot be asked, or has no such folder. A
 * mailbox that keeps no copies answers `absent` for everything: only `found` proves anything.
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
 * Keeps a copy of a sent message in the Sent folder.
 * @throws ImapError
 */
export async function saveToSent(target: ImapTarget, raw: Buffer, options: ImapOptions): Promise<void> {
  await withImap(target, options, (client) => appendToSent(client, raw));
}

/**
 * Signs in, opens the INBOX, and leaves: what watching a mailbox needs.
 * @throws ImapError
 */
export async function verifyImap(target: ImapTarget, options: ImapOptions): Promise<void> {
  await withImap(target, options, (client) => client.mailboxOpen('INBOX', { readOnly: true }));
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
    throw imapError(error);
  } finally {
    client.close();
  }
}

function messageIdOf(raw: Buffer): string | undefined {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.toString('latin1', 0, end === -1 ? Math.min(raw.length, 65_536) : end);
  return /^message-id:\s*(<[^<>\s]+>)/im.exec(head)?.[1];
}
