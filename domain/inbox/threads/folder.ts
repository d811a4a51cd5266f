import type { Ctx } from '../../platform/kernel/context.ts';
import { markMessages } from './mark.ts';

/** Where received messages are filed. */
export const FOLDERS = ['inbox', 'archive', 'spam', 'trash'] as const;
export type Folder = (typeof FOLDERS)[number];

/** Where a person can put them: what is spam is said by the mail provider. */
export const TARGET_FOLDERS = ['inbox', 'archive', 'trash'] as const;

/**
 * Files received messages; ids of other workspaces, or of mailboxes the key may not use, are passed over. Only here: the copy at the mail
 * provider stays where it is.
 * @returns how many changed
 */
export function moveMessages(
  ctx: Ctx,
  ids: readonly string[],
  folder: (typeof TARGET_FOLDERS)[number],
): Promise<number> {
  return markMessages(ctx, ids, { column: 'filed', value: folder, says: { change: 'folder', folder } });
}
