import { Button, Group, Paper, Table, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { dropsOf, type ColumnHead } from './columns.ts';

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

type PagedList = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'>;

/** The way to more of a list that is loaded page by page. */
export function More({ list }: { list: PagedList }) {
  const t = useText();
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
  const t = useText();
  const drops = dropsOf(columns);
  const isEmpty = list?.data?.pages[0]?.data.length === 0;
  return (
    <>
      <Paper withBorder radius="md">
        {isEmpty ? (
          <Text p="md" c="dimmed" size="sm">
            {empty ?? t('nothingFound')}
          </Text>
        ) : (
          <Table.ScrollContainer minWidth={minWidth} className={drops?.scroller}>
            <Table highlightOnHover className={drops?.table}>
              <Table.Thead>
                <Table.Tr>
                  {columns.map(({ label, isNumber }) => (
                    <Table.Th key={label} ta={isNumber ? 'right' : undefined}>
                      {label}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>{children}</Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Paper>
      {list ? <More list={list} /> : null}
    </>
  );
}
