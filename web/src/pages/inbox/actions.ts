import { notifications } from '@mantine/notifications';
import type { InfiniteData } from '@tanstack/react-query';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { showError } from '../../components/action.ts';
import { offerUndo } from '../../components/undo.tsx';
import { text, textOf, type TextKey } from '../../text/index.ts';
import type { Thread } from './address.ts';
import type { Kind } from './kinds.ts';

type Folder = 'inbox' | 'archive' | 'trash';
type Pages = InfiniteData<{ data: Thread[] }>;

const FILED_MESSAGES: Record<Folder, TextKey> = {
  inbox: 'inbox.moved.inbox',
  archive: 'inbox.moved.archive',
  trash: 'inbox.moved.trash',
};

/** Returns the folder to which an undo moves a conversation back. The API does not allow a move to spam. */
export function targetOf(folder: Thread['folder']): Folder {
  return folder === 'archive' || folder === 'trash' ? folder : 'inbox';
}

/**
 * Moves a conversation to a folder. The conversation leaves the list before the API answers, and reappears if the
 * request fails or is undone.
 */
export async function fileThread(thread: string, ids: string[], folder: Folder, before: Folder): Promise<void> {
  const move = (to: Folder) => dataOf(heron.PATCH('/v1/unibox/folder', { body: { email_ids: ids, folder: to } }));
  await leaveList(
    thread,
    () => move(folder),
    text(FILED_MESSAGES[folder]),
    () => move(before),
  );
}

/** Hides a conversation from this person until a time. */
export async function snoozeThread(thread: string, until: Date): Promise<void> {
  await leaveList(
    thread,
    () => dataOf(heron.POST('/v1/unibox/snooze', { body: { thread_id: thread, snoozed_until: until.toISOString() } })),
    text('inbox.snoozed'),
    () => unsnooze(thread),
  );
}

/** Ends the snooze of a conversation. */
export async function unsnoozeThread(thread: string): Promise<void> {
  await unsnooze(thread).catch(showError);
  await refresh();
}

/** Marks received messages as read or unread. The list shows the change before the API answers. */
export async function markSeen(thread: string, ids: string[], { seen }: { seen: boolean }): Promise<void> {
  changeLists((row) => (row.thread_id === thread ? { ...row, has_unread: !seen, seen } : row));
  await dataOf(heron.PATCH('/v1/unibox/seen', { body: { email_ids: ids, seen } })).catch(showError);
  await refresh();
}

/** Corrects the kind of a received message. Offers to undo the correction if the message had a kind before. */
export async function correctReading(id: string, intent: Kind, before: Kind | undefined): Promise<void> {
  if (!(await decide(id, { intent })) || before === intent) return;
  const said = text('inbox.corrected', { kind: textOf('inbox.kind', intent) });
  if (before) offerUndo(said, () => decide(id, { intent: before }));
  else notifications.show({ message: said, color: 'teal', autoClose: 4_000 });
}

/** Records the person's decision that a message is not an opt-out. */
export async function declineOptOut(id: string): Promise<void> {
  await decide(id, { asks_to_stop: false });
}

/** Sends a person's decision about a message. Returns true if the API accepted it; otherwise shows the error. */
async function decide(id: string, body: { intent: Kind } | { asks_to_stop: false }): Promise<boolean> {
  const isTaken = await dataOf(heron.PATCH('/v1/unibox/{id}', { params: { path: { id } }, body })).then(
    () => true,
    (error: unknown) => {
      showError(error);
      return false;
    },
  );
  await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: ['contacts'] })]);
  return isTaken;
}

/** Refetches all visible inbox queries. */
export function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['inbox'] });
}

async function unsnooze(thread: string): Promise<unknown> {
  return dataOf(heron.DELETE('/v1/unibox/snooze', { params: { query: { thread_id: thread } } }));
}

async function leaveList(
  thread: string,
  act: () => Promise<unknown>,
  said: string,
  undo: () => Promise<unknown>,
): Promise<void> {
  await queryClient.cancelQueries({ queryKey: ['inbox', 'threads'] });
  changeLists((row) => (row.thread_id === thread ? undefined : row));
  try {
    await act();
    offerUndo(said, async () => {
      await undo();
      await refresh();
    });
  } catch (error) {
    showError(error);
  }
  await refresh();
}

function changeLists(change: (row: Thread) => Thread | undefined): void {
  queryClient.setQueriesData<Pages>({ queryKey: ['inbox', 'threads'] }, (list) =>
    list === undefined
      ? undefined
      : {
          ...list,
          pages: list.pages.map((page) => ({ ...page, data: page.data.flatMap((row) => change(row) ?? []) })),
        },
  );
}
