import { useNavigate, useSearch } from '@tanstack/react-router';
import type { RowOf } from '../../app/api.ts';

export type Thread = RowOf<'/v1/unibox'>;
export type Message = RowOf<'/v1/unibox/thread'>;

/** What the list shows: conversations in a folder or state, or emails that were written here. */
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
  /** The conversation that is open. */
  thread?: string | undefined;
}

/** What is seen of the inbox, which lives in the address, and how to change it. */
export function useAddress() {
  const { view, mailbox = '', category = '', q = '', thread = '' } = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return {
    view: VIEWS.find((one) => one === view) ?? 'inbox',
    mailbox,
    category,
    q,
    thread,
    /** Shows something else; `replace` where "back" need not lead here again. */
    show: (change: Search, replace = false) =>
      void navigate({
        to: '.',
        search: (before: Search) => ({ ...before, ...change }),
        replace,
      } as unknown as Parameters<typeof navigate>[0]),
  };
}

/** The filters of the API for a view. A search of the inbox finds what is archived, too. */
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
