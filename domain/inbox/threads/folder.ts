import type { Ctx } from '../../platform/kernel/context.ts';
import { markMessages } from './mark.ts';

/** Folders of received messages. */
const RECEIVED_FOLDERS = ['inbox', 'archive', 'spam', 'trash'] as const;
type ReceivedFolder = (typeof RECEIVED_FOLDERS)[number];

/** All folders of the inbox, in the order in which the sidebar shows them. */
export const FOLDERS = ['inbox', 'sent', 'drafts', 'archive', 'spam', 'trash'] as const;
export type Folder = (typeof FOLDERS)[number];

/** Folders of emails that were written in Heron. */
export type WrittenFolder = Exclude<Folder, ReceivedFolder>;

/** Returns true for a folder of emails that were written in Heron. */
export function isWritten(folder: Folder | undefined): folder is WrittenFolder {
  return folder === 'sent' || folder === 'drafts';
}

/** Folders to which a person can move messages. Only the mail provider determines spam. */
export const TARGET_FOLDERS = ['inbox', 'archive', 'trash'] as const;

/**
 * Moves received messages to a folder. Skips ids of other workspaces and of mailboxes that the key may not use. At the
 * mail provider, the message stays in its folder.
 * @returns number of changed messages
 */
export function moveMessages(
  ctx: Ctx,
  ids: readonly string[],
  folder: (typeof TARGET_FOLDERS)[number],
): Promise<number> {
  return markMessages(ctx, { ids }, { column: 'filed', value: folder, says: { change: 'folder', folder } });
}
