import { Button, Group } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import type { ColumnHead } from './columns.ts';
import { useFocusBack } from './focus.ts';
import { TableFrame } from './table-frame.tsx';

interface PageOfRows {
  data: readonly unknown[];
  pagination: { next_cursor: string | null };
}

/** A list of the API, page by page; a filter that changes leaves the old rows in place until the new ones come. */
export function usePaged<Page extends PageOfRows>(
  queryKey: readonly unknown[],
  ask: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<Page>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask(pageParam ? { cursor: pageParam } : {}, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.pagination.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** Whether a list has no row, as it is asked for now: while the rows of an earlier filter still stand there, nobody knows. */
export function hasNone(
  list: Pick<UseInfiniteQueryResult<{ pages: PageOfRows[] }>, 'data' | 'isPlaceholderData'>,
): boolean {
  return !list.isPlaceholderData && list.data?.pages[0]?.data.length === 0;
}

type PagedList = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'>;

/** The way to more of a list that is loaded page by page. */
export function More({ list }: { list: PagedList }) {
  const t = useText();
  useFocusBack(list.isFetchingNextPage);
  return list.hasNextPage ? (
    <Group justify="center">
      <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
        {t('more')}
      </Button>
    </Group>
  ) : null;
}

/** The rows of a list under their columns, a word where none matches, and the way to more. */
export function PagedTable({
  list,
  columns,
  minWidth,
  empty,
  children,
}: {
  /** None where all rows are here. */
  list?: PagedList & Pick<UseInfiniteQueryResult<{ pages: PageOfRows[] }>, 'data'>;
  columns: readonly ColumnHead[];
  /** Below this width (px) the table scrolls sideways. */
  minWidth: number;
  /** What is said where there is no row; by default that nothing matches. */
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
