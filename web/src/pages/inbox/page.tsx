import './inbox.css';
import { ActionIcon, Group, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import IconKeyboard from 'tabler:keyboard';
import IconPencil from 'tabler:pencil-plus';
import IconMail from 'tabler:mail-opened';
import { lazy, Suspense, useRef, useState, type RefObject } from 'react';
import { useCan } from '../../app/person.ts';
import { SearchField } from '../../components/search-field.tsx';
import { undoLast } from '../../components/undo.tsx';
import { toNumber, useText } from '../../text/index.ts';
import { correctReading, declineOptOut, fileThread, markSeen, targetOf } from './actions.ts';
import { useAddress, type Message } from './address.ts';
import type { Draft } from './draft.ts';
import { Folders, FolderSelect, useOverview } from './folders.tsx';
import KeyHelp, { useKeys } from './keys.tsx';
import { decidedMessage, KINDS, type Kind } from './kinds.ts';
import { ThreadList, useThreads } from './list.tsx';
import { EmptyPane } from './empty-pane.tsx';
import { receivedIds, ThreadPane, useMessages, type Panel } from './thread.tsx';
import { Drafts, ScheduledList, SentList } from './written.tsx';

const Compose = lazy(() => import('./compose.tsx'));

/**
 * Inbox of all mailboxes with folders, conversations and the open conversation. On a phone only one of these is shown.
 */
export default function InboxPage() {
  const t = useText();
  const address = useAddress();
  const { view, thread, show } = address;
  const mayWrite = useCan('send_campaigns');
  const [panel, setPanel] = useState<Panel>();
  const [dialog, setDialog] = useState<'help' | { draft: Draft | undefined }>();
  const search = useRef<HTMLInputElement>(null);
  const { data: counts } = useOverview();
  const isConversations = view !== 'drafts' && view !== 'scheduled' && view !== 'sent';
  const list = useThreads(address);
  const messages = useMessages(thread);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const at = rows.findIndex((row) => row.thread_id === thread);
  const open = (threadId: string | undefined, replace = false) => {
    setPanel(undefined);
    show({ thread: threadId }, replace);
  };
  /** Opens the next conversation, because the open one is about to leave the list. */
  const leave = () => open(window.matchMedia('(min-width: 62em)').matches ? rows[at + 1]?.thread_id : undefined, true);
  const file = (folder: 'archive' | 'trash') => {
    const ids = receivedIds(messages.data);
    const row = rows[at];
    if (!mayWrite || !row || ids.length === 0 || row.folder === folder) return;
    leave();
    void fileThread(thread, ids, folder, targetOf(row.folder));
  };
  const openPanel = (one: Panel) => {
    if (mayWrite && thread) setPanel(one);
  };
  /**
   * Applies a decision to the message of the open conversation that needs one. With `asked`, this must be a possible
   * opt-out.
   */
  const decide = (act: (message: Message) => Promise<unknown>, which?: 'asked') => {
    const decided = thread ? decidedMessage(messages.data) : undefined;
    if (mayWrite && decided && (which === undefined || decided.asks_to_stop)) void act(decided);
  };
  useKeys({
    next: () => rows[at + 1] && open(rows[at + 1]!.thread_id, at >= 0),
    previous: () => at > 0 && open(rows[at - 1]!.thread_id, true),
    reply: () => openPanel('reply'),
    replyAll: () => openPanel('replyAll'),
    archive: () => file('archive'),
    snooze: () => openPanel('snooze'),
    label: () => openPanel('labels'),
    unread: () => {
      const newest = receivedIds(messages.data).at(-1);
      if (mayWrite && newest) void markSeen(thread, [newest], { seen: false });
    },
    trash: () => file('trash'),
    undo: undoLast,
    compose: () => mayWrite && setDialog({ draft: undefined }),
    search: () => search.current?.focus(),
    ...(Object.fromEntries(
      KINDS.map((kind) => [`is.${kind}`, () => decide(({ id, answer }) => correctReading(id, kind, answer?.kind))]),
    ) as Record<`is.${Kind}`, () => void>),
    goOn: () => decide(({ id }) => declineOptOut(id), 'asked'),
    back: () => thread && open(undefined),
    help: () => setDialog('help'),
  });
  useDocumentTitle(`${counts?.unread ? `(${toNumber(counts.unread)}) ` : ''}${t('nav.inbox')} · Heron`);
  return (
    <div className="inbox" data-open={thread !== '' || undefined}>
      <VisuallyHidden component="h1">{t('nav.inbox')}</VisuallyHidden>
      <Folders />
      <section className="inbox-middle" aria-label={t(`inbox.view.${view}`)}>
        <Tools search={search} onHelp={() => setDialog('help')} onCompose={() => setDialog({ draft: undefined })} />
        {isConversations ? <ThreadList list={list} onOpen={(row) => open(row.thread_id)} /> : null}
        {view === 'sent' ? <SentList /> : null}
        {view === 'scheduled' ? <ScheduledList /> : null}
        {view === 'drafts' ? (
          <Drafts
            onOpen={(draft) => {
              if (!draft.thread_id) return setDialog({ draft });
              open(draft.thread_id);
              setPanel('reply');
              return undefined;
            }}
          />
        ) : null}
      </section>
      {thread ? (
        <ThreadPane
          key={thread}
          threadId={thread}
          row={rows[at]}
          panel={panel}
          onPanel={setPanel}
          onClose={() => open(undefined)}
          onLeave={leave}
        />
      ) : (
        <div className="inbox-thread inbox-none">
          {isConversations && rows.length > 0 ? (
            <EmptyPane icon={IconMail} title={t('inbox.none')}>
              {t('inbox.none.why')}
            </EmptyPane>
          ) : null}
        </div>
      )}
      <Suspense fallback={null}>
        {dialog === 'help' ? <KeyHelp onClose={() => setDialog(undefined)} /> : null}
        {typeof dialog === 'object' ? <Compose draft={dialog.draft} onClose={() => setDialog(undefined)} /> : null}
      </Suspense>
    </div>
  );
}

/** Toolbar above the list: folder, search, shortcuts, and a new email. */
function Tools({
  search,
  onHelp,
  onCompose,
}: {
  search: RefObject<HTMLInputElement | null>;
  onHelp: () => void;
  onCompose: () => void;
}) {
  const t = useText();
  const { view, q, show } = useAddress();
  const mayWrite = useCan('send_campaigns');
  return (
    <Group className="inbox-tools" gap={6} wrap="nowrap">
      <FolderSelect />
      {view === 'drafts' || view === 'scheduled' ? (
        <Text flex={1} fw={600} size="sm" pl={6} className="inbox-title">
          {t(`inbox.view.${view}`)}
        </Text>
      ) : (
        <SearchField
          label={t('inbox.search')}
          value={q}
          onChange={(words) => show({ q: words || undefined, thread: undefined }, true)}
          ref={search}
          w="auto"
          flex={1}
          miw={0}
          // Removes the focus from the field on Enter and Escape, so that the list shortcuts work on the search
          // results.
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === 'Escape') event.currentTarget.blur();
          }}
        />
      )}
      <Tooltip label={t('inbox.keys')}>
        <ActionIcon
          className="inbox-wide"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('inbox.keys')}
          onClick={onHelp}
        >
          <IconKeyboard size={17} />
        </ActionIcon>
      </Tooltip>
      {mayWrite ? (
        <Tooltip label={t('inbox.compose')}>
          <ActionIcon size="lg" aria-label={t('inbox.compose')} aria-haspopup="dialog" onClick={onCompose}>
            <IconPencil size={17} />
          </ActionIcon>
        </Tooltip>
      ) : null}
    </Group>
  );
}
