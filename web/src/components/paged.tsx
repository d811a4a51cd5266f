import type { Key } from '../app/query-keys.ts';
import { Anchor, Button, Group } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import type { ColumnHead } from './columns.ts';
import { useFocusReturn } from './focus.ts';
import { TableFrame } from './table-frame.tsx';

interface PageOfRows {
  data: readonly unknown[];
  pagination: { next_cursor: string | null };
}

/**
 * Loads a list of the API page by page. After a change of the filter, the old rows stay until the new ones arrive.
 * @param everyMs interval (ms) at which the loaded pages are fetched again; false to fetch them only after events
 */
export function usePaged<Page extends PageOfRows>(
  queryKey: Key,
  ask: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<Page>,
  everyMs: number | false = false,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask(pageParam ? { cursor: pageParam } : {}, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.pagination.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
}

/** Returns true if the list is empty under the current filter; false while rows of an earlier filter are shown. */
export function isEmptyList(
  list: Pick<UseInfiniteQueryResult<{ pages: PageOfRows[] }>, 'data' | 'isPlaceholderData'>,
): boolean {
  return !list.isPlaceholderData && list.data?.pages[0]?.data.length === 0;
}

type PagedList = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'>;

/** Button that loads the next page of a list. */
export function More({ list }: { list: PagedList }) {
  const t = useText();
  useFocusReturn(list.isFetchingNextPage);
  return list.hasNextPage ? (
    <Group justify="center">
      <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
        {t('more')}
      </Button>
    </Group>
  ) : null;
}

/** Name of a row as a button that looks like a link. It opens the row in a dialog. */
export function RowDialogLink({ onOpen, children }: { onOpen: () => void; children: ReactNode }) {
  return (
    <Anchor component="button" type="button" size="sm" fw={600} ta="left" aria-haspopup="dialog" onClick={onOpen}>
      {children}
    </Anchor>
  );
}

/** Shows a paged list as a table. If the list is empty, shows a text; if there are more pages, a button. */
export function PagedTable({
  list,
  columns,
  minWidth,
  empty,
  children,
}: {
  /** List from which further pages are loaded. Omit if all rows are loaded. */
  list?: PagedList & Pick<UseInfiniteQueryResult<{ pages: PageOfRows[] }>, 'data'>;
  columns: readonly ColumnHead[];
  /** Width (px) below which the table scrolls sideways. */
  minWidth: number;
  /** Text for an empty list. By default it says that nothing matches. */
  empty?: string | undefined;
  children: ReactNode;
}) {
  return (
    <>
      <TableFrame columns={columns} minWidth={minWidth} isEmpty={list?.data?.pages[0]?.data.length === 0} empty={empty}>
        {children}
      </TableFrame>
      {list ? <More list={list} /> : null}
    </>
  );
}
