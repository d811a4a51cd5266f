import type { InfiniteData } from '@tanstack/react-query';
import { dataOf, heron, queryClient } from '../../app/api.ts';
import { showError } from '../../components/action.ts';
import { offerUndo } from '../../components/undo.tsx';
import { text, type TextKey } from '../../text/index.ts';
import type { Thread } from './address.ts';
import type { Kind } from './kinds.ts';

type Folder = 'inbox' | 'archive' | 'trash';
type Pages = InfiniteData<{ data: Thread[] }>;

const FILED_MESSAGES: Record<Folder, TextKey> = {
  inbox: 'inbox.moved.inbox',
  archive: 'inbox.moved.archive',
  trash: 'inbox.moved.trash',
};

/**
 * Moves a conversation to a folder. The conversation leaves the list before the API has answered, and returns if the
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

/** Marks received messages as read or unread. The list shows the change before the API has answered. */
export async function markSeen(thread: string, ids: string[], { seen }: { seen: boolean }): Promise<void> {
  changeLists((row) => (row.thread_id === thread ? { ...row, has_unread: !seen, seen } : row));
  await dataOf(heron.PATCH('/v1/unibox/seen', { body: { email_ids: ids, seen } })).catch(showError);
  await refresh();
}

/** Corrects the kind of a received message. */
export async function correctReading(id: string, intent: Kind): Promise<void> {
  await decide(id, { intent });
}

/** Records that a message is not an opt-out. */
export async function declineOptOut(id: string): Promise<void> {
  await decide(id, { asks_to_stop: false });
}

async function decide(id: string, body: { intent: Kind } | { asks_to_stop: false }): Promise<void> {
  await dataOf(heron.PATCH('/v1/unibox/{id}', { params: { path: { id } }, body })).catch(showError);
  await Promise.all([refresh(), queryClient.invalidateQueries({ queryKey: ['contacts'] })]);
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
