import { useNavigate, useSearch } from '@tanstack/react-router';
import type { RowOf } from '../../app/api.ts';

export type Thread = RowOf<'/v1/unibox'>;
export type Message = RowOf<'/v1/unibox/thread'>;

/** Views of the inbox: conversations by folder or state, and emails that were written in Heron. */
export const VIEWS = [
  'inbox',
  'unread',
  'awaiting',
  'asking',
  'snoozed',
  'archive',
  'spam',
  'trash',
  'drafts',
  'scheduled',
  'sent',
] as const;
export type View = (typeof VIEWS)[number];

interface Search {
  view?: string | undefined;
  mailbox?: string | undefined;
  category?: string | undefined;
  q?: string | undefined;
  /** Id of the open conversation. */
  thread?: string | undefined;
}

/** Returns the inbox state from the URL and functions to change it. */
export function useAddress() {
  const { view, mailbox = '', category = '', q = '', thread = '' } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return {
    view: VIEWS.find((one) => one === view) ?? 'inbox',
    mailbox,
    category,
    q,
    thread,
    /** Changes the view. `replace` adds no entry to the browser's history. */
    show: (change: Search, replace = false) =>
      void navigate({
        to: '.',
        search: (before: Search) => ({ ...before, ...change }),
        replace,
      } as unknown as Parameters<typeof navigate>[0]),
  };
}

/** Returns the API filters of a view. A search in the inbox also finds archived conversations. */
export function threadFilters({
  view,
  mailbox,
  category,
  q,
}: Pick<ReturnType<typeof useAddress>, 'view' | 'mailbox' | 'category' | 'q'>) {
  return {
    ...(view === 'unread' ? { unseen: 'true' as const } : {}),
    ...(view === 'awaiting' ? { awaiting_reply: 'true' as const } : {}),
    ...(view === 'asking' ? { asks_to_stop: 'true' as const } : {}),
    ...(view === 'snoozed' ? { snoozed: 'true' as const } : {}),
    ...(view === 'archive' || view === 'spam' || view === 'trash' || (view === 'inbox' && q === '')
      ? { folder: view }
      : {}),
    ...(mailbox ? { email_id: mailbox } : {}),
    ...(category ? { category_ids: category } : {}),
    ...(q ? { q } : {}),
  };
}
