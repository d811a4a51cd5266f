import { Badge, Stack, Text } from '@mantine/core';
import IconInbox from 'tabler:inbox';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { dataOf, heron } from '../../app/api.ts';
import { useCan } from '../../app/person.ts';
import { shownAddress } from '../../components/address.ts';
import { usePaged } from '../../components/paged.tsx';
import { Answered, ListSkeleton } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { PageLinkButton } from '../../components/page-link.tsx';
import { textOf, useText } from '../../text/index.ts';
import { threadFilters, useAddress, type Thread } from './address.ts';
import { useOverview } from './folders.tsx';
import { EmptyPane } from './empty-pane.tsx';

/** Height (px) of a conversation in the list: sender, subject and a snippet. */
const ROW = 82;

/** Loads the conversations that the URL selects. */
export function useThreads(address: ReturnType<typeof useAddress>) {
  const query = threadFilters(address);
  return usePaged(['inbox', 'threads', query], (cursor, signal) =>
    dataOf(heron.GET('/v1/unibox', { params: { query: { limit: 50, ...query, ...cursor } }, signal })),
  );
}

/** List of conversations that loads more near its end. */
export function ThreadList({ list, onOpen }: { list: ReturnType<typeof useThreads>; onOpen: (row: Thread) => void }) {
  const t = useText();
  const { view, q, mailbox, category, thread } = useAddress();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const at = rows.findIndex((row) => row.thread_id === thread);
  useEffect(() => {
    if (list.hasNextPage && !list.isFetchingNextPage && lastShown >= rows.length - 10) void list.fetchNextPage();
  }, [lastShown, rows.length, list.hasNextPage, list.isFetchingNextPage]);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
  }, [at]);
  return (
    <div className="inbox-scroll" ref={scroller}>
      <Answered query={list} skeleton={<ListSkeleton rows={7} height={ROW - 10} />}>
        {() =>
          rows.length === 0 ? (
            q || mailbox || category ? (
              <Text p="md" size="sm" c="dimmed">
                {t('nothingFound')}
              </Text>
            ) : (
              <EmptyPane icon={IconInbox} title={t(`inbox.empty.${view}`)}>
                {view === 'inbox' ? <EmptyInbox /> : null}
              </EmptyPane>
            )
          ) : (
            <ul className="inbox-rows" aria-label={t(`inbox.view.${view}`)} style={{ height: virtual.getTotalSize() }}>
              {shown.map(({ index, start }) => {
                const row = rows[index]!;
                return (
                  <li key={row.thread_id} style={{ transform: `translateY(${start}px)`, height: ROW }}>
                    <Row row={row} isOpen={row.thread_id === thread} onOpen={() => onOpen(row)} />
                  </li>
                );
              })}
            </ul>
          )
        }
      </Answered>
    </div>
  );
}

/** Empty state of the inbox, with a link to connect a mailbox if there is none. */
function EmptyInbox() {
  const t = useText();
  const mayConnect = useCan('manage_settings');
  const { data: counts } = useOverview();
  return (
    <Stack gap="sm" align="center">
      {t('inbox.empty.why')}
      {mayConnect && counts?.mailboxes.length === 0 ? (
        <PageLinkButton to="/mailboxes/new">{t('inbox.connect')}</PageLinkButton>
      ) : null}
    </Stack>
  );
}

function Row({ row, isOpen, onOpen }: { row: Thread; isOpen: boolean; onOpen: () => void }) {
  const t = useText();
  const intent = row.answer?.kind ?? (row.kind === 'reply' ? (row.intent ?? '') : row.kind);
  return (
    <button
      type="button"
      className="inbox-row"
      aria-current={isOpen || undefined}
      data-unread={row.has_unread || undefined}
      onClick={onOpen}
    >
      <span className="inbox-line">
        <span
          className="inbox-mark"
          aria-label={row.has_unread ? t('inbox.unread') : undefined}
          role="img"
          hidden={!row.has_unread}
        />
        <bdi className="clip inbox-who" title={row.from_addr[0]}>
          {shownAddress(row.from_addr[0] ?? t('inbox.nobody'))}
        </bdi>
        <Ago at={row.internal_date} size="xs" c="dimmed" className="inbox-when" />
      </span>
      <bdi className="clip inbox-subject">{row.subject || t('inbox.noSubject')}</bdi>
      <span className="inbox-line">
        <bdi className="clip inbox-snippet">{row.snippet}</bdi>
        {row.labels.slice(0, 3).map(({ id, title, color }) => (
          <span
            key={id}
            className="inbox-dot"
            style={{ background: color }}
            role="img"
            aria-label={title}
            title={title}
          />
        ))}
        {row.asks_to_stop ? (
          <Badge size="xs" variant="light" tt="none" color="yellow">
            {t('inbox.asks')}
          </Badge>
        ) : intent && intent !== 'other' && intent !== 'neutral' ? (
          <Badge size="xs" variant="light" tt="none" color={COLORS[intent] ?? 'gray'}>
            {textOf('inbox.kind', intent)}
          </Badge>
        ) : null}
      </span>
    </button>
  );
}

const COLORS: Record<string, string> = {
  positive: 'teal',
  question: 'blue',
  opt_out: 'red',
  bounce: 'red',
  complaint: 'red',
};
