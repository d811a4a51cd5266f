import { Box, Paper, Table, Text } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useText } from '../text/index.ts';
import { dropsOf, type ColumnHead } from './columns.ts';

/** Height of one row (px); every row has it, so that a row's place is known before it is drawn. */
const ROW = 45;
/** Rows drawn beyond what is seen, and how near the end the next page is asked for. */
const AHEAD = 20;

/**
 * A list of any length under its columns. Only the rows in sight are in the page, and the next ones are asked for as the end comes near. Cells are
 * one line high: what may be long has the class `clip`.
 */
export function VirtualTable<Row>({
  list,
  columns,
  minWidth,
  keyOf,
  empty,
  children,
}: {
  list: Pick<
    UseInfiniteQueryResult<{ pages: { data: readonly Row[]; pagination: { total: number | null } }[] }>,
    'data' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'
  >;
  columns: readonly (ColumnHead & { width?: number | string; isHidden?: boolean })[];
  /** Below this width (px) the table scrolls sideways. */
  minWidth: number;
  keyOf: (row: Row) => string;
  /** What is said where there is no row; by default that nothing matches. */
  empty?: string | undefined;
  /** The cells of a row. */
  children: (row: Row) => ReactNode;
}) {
  const t = useText();
  const box = useRef<HTMLDivElement>(null);
  const [scrollMargin, setMargin] = useState(0);
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  useLayoutEffect(() => {
    if (box.current) setMargin(Math.round(box.current.getBoundingClientRect().top + window.scrollY));
  }, [rows.length]);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => ROW, overscan: AHEAD, scrollMargin });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (last >= rows.length - AHEAD && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const before = shown.length > 0 ? shown[0]!.start - scrollMargin : 0;
  const after = Math.max(0, (rows.length - 1 - last) * ROW);
  const drops = dropsOf(columns);
  if (list.data && rows.length === 0)
    return (
      <Paper withBorder radius="md">
        <Text p="md" c="dimmed" size="sm">
          {empty ?? t('nothingFound')}
        </Text>
      </Paper>
    );
  return (
    <Paper withBorder radius="md" ref={box}>
      <Table.ScrollContainer minWidth={minWidth} className={drops?.scroller}>
        <Table
          highlightOnHover
          layout="fixed"
          className={drops?.table}
          aria-rowcount={(list.data?.pages[0]?.pagination.total ?? -2) + 1}
        >
          <Table.Thead>
            <Table.Tr aria-rowindex={1}>
              {columns.map(({ label, isNumber, width, isHidden }) => (
                <Table.Th key={label} ta={isNumber ? 'right' : undefined} w={width}>
                  {isHidden ? <span className="skip">{label}</span> : label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {before > 0 ? <Space height={before} /> : null}
            {shown.map(({ index }) => (
              <Drawn
                key={keyOf(rows[index]!)}
                row={rows[index]!}
                index={index}
                cells={children as (row: unknown) => ReactNode}
              />
            ))}
            {after > 0 ? <Space height={after} /> : null}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {isFetchingNextPage ? (
        <Box p="sm" ta="center" c="dimmed" fz="sm" role="status">
          {t('loading')}
        </Box>
      ) : null}
    </Paper>
  );
}

/** One row; scrolling draws only those that come into sight, because its cells change with the row and the page alone. */
const Drawn = memo(function Drawn({
  row,
  index,
  cells,
}: {
  row: unknown;
  index: number;
  cells: (row: unknown) => ReactNode;
}) {
  return (
    <Table.Tr h={ROW} aria-rowindex={index + 2}>
      {cells(row)}
    </Table.Tr>
  );
});

/** The place of rows that are not drawn: one cell, because columns that a phone leaves out would come back with a wider one. */
function Space({ height }: { height: number }) {
  return (
    <Table.Tr aria-hidden>
      <Table.Td h={height} p={0} />
    </Table.Tr>
  );
}
